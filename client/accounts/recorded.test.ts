// Compares decoded mainnet accounts and events with the values recorded beside them. Runs only where the recorded data is
// present.

import { existsSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { variantName } from '../../schemas/index.ts';
import { driftIdlPath } from '../../test/peers/drift-idl.ts';
import { createDecoder, type Decoder, fromBase64, nameText, toBase58 } from '../index.ts';

type Values = Record<string, unknown>;

interface Recorded {
  readonly account?: string;
  readonly data: string;
  readonly decoded: Values;
}

interface RecordedEvent {
  readonly name: string;
  readonly data: string;
  readonly decoded: Values;
  readonly fieldsNotInRecording?: readonly string[];
}

const FIXTURES = new URL('../../../shared/fixtures/', import.meta.url);
const present = existsSync(FIXTURES);
const read = <T>(file: string): T => JSON.parse(readFileSync(new URL(file, FIXTURES), 'utf8')) as T;

/** Members that the released definition names differently, with their width in bits. */
const RENAMED: Readonly<Record<string, readonly [string, number]>> = {
  lastBaseAssetAmountPerLp: ['isolatedPositionScaledBalance', 64],
  perLpBase: ['positionFlag', 8],
};

/** Compares a decoded value with its recorded form: keys base58, bytes hex or text, integers and enums as text. */
function agrees(ours: unknown, recorded: unknown, path: string): void {
  if (recorded === null) expect(ours, path).toBeNull();
  else if (ours instanceof Uint8Array)
    expect([toBase58(ours), Buffer.from(ours).toString('hex')], path).toContain(recorded);
  else if (Array.isArray(ours) && typeof recorded === 'string') {
    const bytes = Buffer.from(ours as number[]);
    expect([bytes.toString('hex'), bytes.toString('utf8'), nameText(bytes), toBase58(bytes)], path).toContain(recorded);
  } else if (Array.isArray(recorded)) {
    expect(ours, path).toHaveLength(recorded.length);
    for (const [index, member] of recorded.entries()) agrees((ours as unknown[])[index], member, `${path}.${index}`);
  } else if (typeof recorded === 'object') {
    for (const [name, member] of Object.entries(recorded as Values)) {
      const members = ours as Values;
      const [other = '', bits = 0] = RENAMED[name] ?? [];
      if (other in members) {
        expect(BigInt(String(members[other])), `${path}.${name}`).toBe(BigInt.asUintN(bits, BigInt(String(member))));
      } else {
        expect(Object.keys(members), path).toContain(name);
        agrees(members[name], member, `${path}.${name}`);
      }
    }
  } else if (typeof ours === 'bigint') expect(String(ours), path).toBe(String(recorded));
  else if (typeof ours === 'string') expect(ours, path).toBe(variantName(String(recorded)));
  else expect(ours, path).toBe(recorded);
}

/** The recording drops empty entries; the decoder keeps them. */
function withoutEmptyEntries(user: Values): Values {
  const used = (list: unknown, names: readonly string[]): unknown[] =>
    (list as Values[]).filter((entry) => names.some((name) => BigInt(String(entry[name] ?? 0)) !== 0n));
  return {
    ...user,
    spotPositions: used(user.spotPositions, ['scaledBalance', 'openOrders']),
    perpPositions: used(user.perpPositions, ['baseAssetAmount', 'quoteAssetAmount', 'lpShares', 'openOrders']),
    orders: (user.orders as Values[]).filter(({ status }) => status !== 'init'),
  };
}

describe.runIf(present)('recorded mainnet data', () => {
  let decoder: Decoder<object>;
  beforeAll(async () => {
    decoder = createDecoder<object>(JSON.parse(readFileSync(await driftIdlPath(), 'utf8')) as object);
  });

  it('decodes every account to the recorded values', () => {
    const files = ['drift-user-accounts.json', 'drift-accounts.json'];
    const recorded = files.flatMap((file) => read<{ accounts: Recorded[] }>(file).accounts);
    const known = recorded.filter(({ account = 'User' }) => decoder.names.includes(account));
    expect(known).toHaveLength(28);
    for (const { account = 'User', data, decoded } of known) {
      const ours = decoder.decode(account, fromBase64(data));
      agrees(account === 'User' ? withoutEmptyEntries(ours) : ours, decoded, account);
    }
  });

  it('decodes every event to the recorded values, and later fields to null', () => {
    for (const { name, data, decoded, fieldsNotInRecording = [] } of read<{ events: RecordedEvent[] }>(
      'drift-events.json',
    ).events) {
      const event = decoder.event(fromBase64(data));
      expect(event?.name).toBe(name);
      agrees(event?.data, decoded, name);
      for (const field of fieldsNotInRecording) expect(event?.data[field], field).toBeNull();
    }
  });

  it('finds the recorded events in the transaction logs, in order', () => {
    const { transactionLogs } = read<{ transactionLogs: { logs: string[]; events: RecordedEvent[] }[] }>(
      'drift-events.json',
    );
    for (const { logs, events } of transactionLogs) {
      const { events: ours, incomplete, undecoded } = decoder.events(logs);
      expect([incomplete, undecoded]).toEqual([false, []]);
      expect(ours.map(({ name }) => name)).toEqual(events.map(({ name }) => name));
      for (const [index, { decoded }] of events.entries()) agrees(ours[index]?.data, decoded, String(index));
    }
  });
});
