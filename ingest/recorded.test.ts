// Compares decoded mainnet bytes with the values recorded beside them. Runs only where the recorded data is present.

import { existsSync, readFileSync } from 'node:fs';
import bs58 from 'bs58';
import { beforeAll, describe, expect, it } from 'vitest';
import { type ChainDefinition, loadDefinition, snakeCase, variantName } from '../schemas/index.ts';
import { driftIdlPath } from '../test/peers/drift-idl.ts';
import { type CompiledAccount, compileAccount } from './decode/account.ts';
import { compileEvents, type EventDecoder } from './decode/events.ts';
import { parseLogs } from './decode/logs.ts';
import { UNKNOWN_EXCHANGE } from './decode/market.ts';
import { readOracle } from './decode/oracle.ts';
import { decodeTransaction } from './decode/transaction.ts';
import type { Output } from './diff/output.ts';
import { Differ } from './differ.ts';
import { compileReaders } from './readers.ts';
import { userAddress } from './role.ts';

const FIXTURES = new URL('../../shared/fixtures/', import.meta.url);
const DRIFT = 'dRiftyHA39MWEi3m9aunc5MzRF1JYuBsbn6VPcn33UH';
const present = existsSync(FIXTURES);
if (!present) process.stdout.write('recorded mainnet data is not present: its decoding is not checked\n');

interface Recorded {
  readonly account?: string;
  readonly data: string;
  readonly decoded: Record<string, unknown>;
}
interface RecordedEvent {
  readonly name: string;
  readonly data: string;
  readonly decoded: Record<string, unknown>;
  readonly fieldsNotInRecording?: readonly string[];
}
interface RecordedEvents {
  readonly events: readonly RecordedEvent[];
  readonly transactionLogs: readonly { readonly logs: readonly string[]; readonly events: readonly RecordedEvent[] }[];
}

const read = <T>(file: string) => JSON.parse(readFileSync(new URL(file, FIXTURES), 'utf8')) as T;

/** Members of a position that the released definition names differently, at the same bytes. */
const RENAMED: Readonly<Record<string, readonly [string, number]>> = {
  lastBaseAssetAmountPerLp: ['isolated_position_scaled_balance', 64],
  perLpBase: ['position_flag', 8],
};

/** Compares our value with its recorded form: keys base58, byte arrays hex or text, wide integers and enums as text. */
function agrees(ours: unknown, recorded: unknown, path: string): void {
  if (recorded === null) expect(ours, path).toBeNull();
  else if (Array.isArray(recorded)) {
    const list = ours as unknown[];
    expect(list.length, path).toBe(recorded.length);
    for (const [index, member] of recorded.entries()) agrees(list[index], member, `${path}.${index}`);
  } else if (typeof recorded === 'object') {
    for (const [name, member] of Object.entries(recorded as object)) {
      const members = ours as Record<string, unknown>;
      const renamed = RENAMED[name];
      if (renamed && renamed[0] in members) {
        const unsigned = BigInt.asUintN(renamed[1], BigInt(String(member)));
        expect(BigInt(String(members[renamed[0]])), `${path}.${name}`).toBe(unsigned);
        continue;
      }
      const key = snakeCase(name);
      expect(Object.keys(members), path).toContain(key);
      agrees(members[key], member, `${path}.${key}`);
    }
  } else if (ours instanceof Uint8Array) {
    const texts = [Buffer.from(ours).toString('hex'), Buffer.from(ours).toString('utf8'), bs58.encode(ours)];
    expect(texts, path).toContain(recorded);
  } else if (typeof ours === 'bigint') expect(String(ours), path).toBe(String(recorded));
  else if (typeof ours === 'string') expect(ours, path).toBe(variantName(String(recorded)));
  else expect(ours, path).toBe(recorded);
}

/** The recording drops empty entries; our decoder keeps them. */
function withoutEmptyEntries(user: Record<string, unknown>): Record<string, unknown> {
  const entries = (name: string) => user[name] as Record<string, unknown>[];
  const uses = (entry: Record<string, unknown>, names: readonly string[]) =>
    names.some((name) => BigInt(String(entry[name] ?? 0)) !== 0n);
  const spot = ['scaled_balance', 'open_orders'];
  const perp = ['base_asset_amount', 'quote_asset_amount', 'lp_shares', 'open_orders'];
  return {
    ...user,
    spot_positions: entries('spot_positions').filter((entry) => uses(entry, spot)),
    perp_positions: entries('perp_positions').filter((entry) => uses(entry, perp)),
    orders: entries('orders').filter(({ status }) => status !== 'init'),
  };
}

describe.runIf(present)('recorded mainnet data', () => {
  let definition: ChainDefinition;
  let accounts: ReadonlyMap<string, CompiledAccount>;
  let events: EventDecoder;
  beforeAll(async () => {
    definition = loadDefinition(await driftIdlPath());
    const defined = definition.programs.flatMap((program) => [...program.accounts.values()]);
    accounts = new Map(defined.map((account) => [account.name, compileAccount(account)]));
    events = compileEvents(definition);
  });

  it('decodes every account to the recorded values', () => {
    const users = read<{ accounts: Recorded[] }>('drift-user-accounts.json').accounts;
    const others = read<{ accounts: Recorded[] }>('drift-accounts.json').accounts;
    let compared = 0;
    for (const { account = 'User', data, decoded } of [...users, ...others]) {
      if (account === 'PriceUpdateV2') continue;
      const ours = accounts.get(account)?.decode(Buffer.from(data, 'base64')) ?? {};
      agrees(account === 'User' ? withoutEmptyEntries(ours) : ours, decoded, account);
      compared += 1;
    }
    expect(compared).toBe(28);
  });

  it('prices the recorded oracle accounts', () => {
    const others = read<{ accounts: Recorded[] }>('drift-accounts.json').accounts;
    const priced = (name: string, source: string) =>
      others
        .filter(({ account }) => account === name)
        .map(({ data, decoded }) => ({ decoded, ours: readOracle(Buffer.from(data, 'base64'), source) }));
    const pulls = priced('PriceUpdateV2', 'pythPull');
    expect(pulls.length).toBe(2);
    for (const { decoded, ours } of pulls) {
      // The recording has eight digits, our price six.
      expect(ours.price).toBe(BigInt(String(decoded.price)) / 100n);
      expect(ours.confidence).toBe(BigInt(String(decoded.conf)) / 100n);
      expect(ours.twap).toBe(BigInt(String(decoded.emaPrice)) / 100n);
      expect(ours.twapConfidence).toBe(BigInt(String(decoded.emaConf)) / 100n);
      expect(ours.oracleSlot).toBe(BigInt(String(decoded.postedSlot)));
      expect(ours.publishTs).toBe(BigInt(String(decoded.publishTime)));
    }
    const [lazer] = priced('PythLazerOracle', 'pythLazer');
    expect(lazer?.ours).toMatchObject({ price: 999_999n, oracleSlot: 348_900_640n });
    expect(lazer?.ours.publishTs).toBe(BigInt(String(lazer?.decoded.publishTime)) / 1_000_000n);
    // Only the price is rounded to 1; the TWAPs keep their converted values.
    const stable = { price: 1_000_000n, twap: 999_999n, twapConfidence: 999_999n };
    expect(priced('PythLazerOracle', 'pythLazerStableCoin')[0]?.ours).toMatchObject(stable);
    expect(priced('PrelaunchOracle', 'prelaunch')[0]?.ours).toMatchObject({ price: 2n, maxPrice: 2n });
  });

  it('reads the spread inputs of recorded markets', () => {
    const others = read<{ accounts: Recorded[] }>('drift-accounts.json').accounts;
    const reader = [...compileReaders(definition).markets.values()].find(({ marketType }) => marketType === 'perp');
    const markets = others.filter(({ account }) => account === 'PerpMarket');
    const predictions = markets.map(({ data, decoded }) => {
      const inputs = reader?.market(
        reader.account.open(Buffer.from(data, 'base64')),
        new Uint8Array(32),
        1,
        UNKNOWN_EXCHANGE,
      );
      const recorded = decoded.amm as Record<string, unknown>;
      const history = recorded.historicalOracleData as Record<string, unknown>;
      const text = (value: unknown) => (value === undefined ? undefined : String(value));
      const { isPrediction, fundingBiasSensitivity, marketConfig, ...rest } = inputs?.spreadInputs ?? {};
      expect(Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, text(value)]))).toEqual({
        markStd: text(recorded.markStd),
        oracleStd: text(recorded.oracleStd),
        lastOracleConfPct: text(recorded.lastOracleConfPct),
        longIntensityVolume: text(recorded.longIntensityVolume),
        shortIntensityVolume: text(recorded.shortIntensityVolume),
        volume24H: text(recorded.volume24h),
        lastMarkPriceTwap: text(recorded.lastMarkPriceTwap),
        lastOraclePriceTwapTs: text(history.lastOraclePriceTwapTs),
        fundingPeriod: text(recorded.fundingPeriod),
        lastFundingOracleTwap: text(recorded.lastFundingOracleTwap),
        lastReferencePriceOffset: text(recorded.referencePriceOffset),
        referencePriceOffsetDeadbandPct: text(recorded.referencePriceOffsetDeadbandPct ?? 0),
        baseAssetAmountWithUnsettledLp: text(recorded.baseAssetAmountWithUnsettledLp),
      });
      expect([fundingBiasSensitivity, marketConfig]).toEqual([null, null]);
      return isPrediction;
    });
    expect(predictions).toEqual([true, false, true, true, true, false]);
  });

  it('decodes every event to the recorded values, and later fields to null', () => {
    for (const { name, data, decoded, fieldsNotInRecording = [] } of read<RecordedEvents>('drift-events.json').events) {
      const record = events.decode({ program: DRIFT, bytes: Buffer.from(data, 'base64'), damaged: false });
      expect(record.name).toBe(name);
      agrees(record.data, decoded, name);
      for (const field of fieldsNotInRecording) expect(record.data[snakeCase(field)], field).toBeNull();
    }
  });

  it('finds the recorded events in the transaction logs, in order', () => {
    for (const { logs, events: recorded } of read<RecordedEvents>('drift-events.json').transactionLogs) {
      const { payloads, incomplete } = parseLogs(logs, events.known);
      expect(incomplete).toBe(false);
      const ours = payloads.map((payload) => events.decode(payload));
      expect(ours.map(({ name }) => name)).toEqual(recorded.map(({ name }) => name));
      for (const [index, { decoded }] of recorded.entries()) {
        const flat = Object.entries(decoded).flatMap(([name, member]) =>
          member !== null && typeof member === 'object' && !Array.isArray(member)
            ? Object.entries(member as object)
                .filter(([inner]) => inner !== 'padding')
                .map(([inner, value]) => [`${name}_${snakeCase(inner)}`, value])
            : [[name, member]],
        );
        agrees(ours[index]?.data, Object.fromEntries(flat), String(index));
      }
    }
  });

  it('emits every recorded open order, market and position', () => {
    const users = read<{ accounts: Recorded[] }>('drift-user-accounts.json').accounts;
    const others = read<{ accounts: Recorded[] }>('drift-accounts.json').accounts;
    const differ = new Differ(compileReaders(definition), userAddress(definition));
    const outputs: Output[] = [];
    differ.snapshotBegin();
    for (const [index, { data }] of [...others, ...users].entries()) {
      const pubkey = Uint8Array.from({ length: 32 }, () => index + 1);
      const owner = bs58.decode(DRIFT);
      const bytes = Buffer.from(data, 'base64');
      differ.account({ kind: 'account', slot: 5, writeVersion: null, pubkey, owner, data: bytes }, (output) =>
        outputs.push(output),
      );
    }
    differ.snapshotEnd(5, (output) => outputs.push(output));
    expect(outputs.filter(({ name }) => name === 'DeadLetter')).toEqual([]);
    const emitted = outputs.flatMap((output) =>
      output.name === 'BookOrders'
        ? output.value.upserts.map((order) => ({
            ...order,
            market: `${output.value.marketType}${output.value.marketIndex}`,
          }))
        : [],
    );
    const recorded = [...users, ...others.filter(({ account }) => account === 'User')].flatMap(
      ({ decoded }) => decoded.orders as Record<string, unknown>[],
    );
    const line = (order: Record<string, unknown>, market: string) =>
      [
        market.toLowerCase(),
        order.orderId,
        String(order.orderType).toLowerCase(),
        String(order.direction).toLowerCase(),
        order.price,
        order.baseAssetAmount,
        order.baseAssetAmountFilled,
        order.oraclePriceOffset,
        order.auctionStartPrice,
        order.auctionEndPrice,
        order.triggerPrice,
        order.maxTs,
        order.reduceOnly,
        order.postOnly,
        order.placedSlot ?? order.slot,
        order.auctionDurationSlots ?? order.auctionDuration,
      ].join(' ');
    expect(emitted.map((order) => line({ ...order }, order.market)).sort()).toEqual(
      recorded.map((order) => line(order, `${order.marketType}${order.marketIndex}`)).sort(),
    );
    expect(emitted.length).toBeGreaterThanOrEqual(8);
    const symbols = outputs.flatMap((output) => (output.name === 'BookMarket' ? [output.value.symbol] : []));
    expect(symbols).toContain('WIF-PERP');
  });

  it('encodes every recorded event in its own schema', () => {
    for (const { logs, events: recorded } of read<RecordedEvents>('drift-events.json').transactionLogs) {
      const signature = bs58.encode(Buffer.alloc(64, 9));
      const decoded = decodeTransaction(
        { kind: 'transaction', slot: 5, signature, failed: false, logs, blockIndex: null, blockTime: null },
        events,
      );
      expect(decoded.parked).toEqual([]);
      expect(decoded.events.map(({ name }) => name)).toEqual(recorded.map(({ name }) => name));
    }
  });
});
