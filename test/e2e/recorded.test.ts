// Real input: accounts and logs recorded on Solana mainnet go through the whole pipeline, as a capture and over a gRPC stream.
// Configuration chooses Drift's own definition. Runs where the recorded data is present.

import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { createClient } from '@clickhouse/client';
import bs58 from 'bs58';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { recordCapture, type Source, type SourceUpdate } from '../../ingest/index.ts';
import { driftIdlPath } from '../peers/drift-idl.ts';
import {
  type Cluster,
  eventually,
  type Running,
  type Settings,
  startCluster,
  startRoles,
  temporaryDirectory,
} from '../support/processes/processes.ts';
import {
  DRIFT,
  FIXTURES,
  type RecordedOrder,
  type RecordedUser,
  userAddress,
} from './harness/real-node/recorded-exchange.ts';

const SLOT = 300_000_000;
const present = existsSync(FIXTURES);
if (!present) process.stdout.write('recorded mainnet data is not present: the recorded-data test does not run\n');

interface RecordedEvents {
  readonly transactionLogs: readonly {
    readonly logs: readonly string[];
    readonly events: readonly { readonly name: string; readonly decoded: Record<string, unknown> }[];
  }[];
}

const read = <T>(file: string) => JSON.parse(readFileSync(new URL(file, FIXTURES), 'utf8')) as T;

function signature(index: number): string {
  return bs58.encode(Buffer.alloc(64, index + 1));
}

/** The recorded data as a source: a snapshot of all accounts, then each transaction, then a slot. */
function recordedSource(
  users: readonly RecordedUser[],
  others: readonly { data: string }[],
  events: RecordedEvents,
): Source {
  const account = (pubkey: Uint8Array, data: string): SourceUpdate => ({
    kind: 'account',
    slot: SLOT,
    writeVersion: null,
    pubkey,
    owner: bs58.decode(DRIFT),
    data: Buffer.from(data, 'base64'),
  });
  const updates: SourceUpdate[] = [
    { kind: 'snapshotBegin', slot: SLOT },
    ...others.map(({ data }, index) => account(Buffer.alloc(32, index + 100), data)),
    ...users.map(({ data, decoded }) => account(bs58.decode(userAddress(decoded)), data)),
    { kind: 'snapshotEnd', slot: SLOT },
    ...events.transactionLogs.map(
      ({ logs }, index): SourceUpdate => ({
        kind: 'transaction',
        slot: SLOT + 1,
        signature: signature(index),
        failed: false,
        logs,
        blockIndex: null,
        blockTime: null,
      }),
    ),
    { kind: 'slot', slot: SLOT + 2 },
  ];
  return {
    async *updates() {
      yield updates;
    },
    transaction: async () => null,
  };
}

type AccountUpdate = Extract<SourceUpdate, { kind: 'account' }>;

interface Played {
  readonly settings: Settings;
  /** Delivers what comes live, once ingest is live. */
  readonly play: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

/** A file with everything. */
async function asCapture(source: Source, dir: string): Promise<Played> {
  const capture = path.join(dir, 'recorded.ndjson');
  await recordCapture(source, capture, new AbortController().signal);
  const nothing = async () => {};
  return { settings: { SOURCE: 'capture', CAPTURE_PATH: capture }, play: nothing, stop: nothing };
}

/** A cluster that has the accounts, and sends the transactions over gRPC. */
async function asStream(source: Source): Promise<Played> {
  const cluster = await startCluster({ seed: 3, accounts: 10, speed: 2, 'grpc-port': 0 });
  const updates: SourceUpdate[] = [];
  for await (const batch of source.updates(null, new AbortController().signal)) updates.push(...batch);
  for (const update of updates) if (update.kind === 'account') await injectAccount(cluster, update);
  const play = async () => {
    for (const update of updates) {
      if (update.kind !== 'transaction') continue;
      const { signature, logs } = update;
      const given = { signature, logMessages: logs, accountKeys: [DRIFT], err: null };
      await cluster.rpc('localnet_injectTransaction', [given]);
    }
  };
  const settings = { SOURCE: 'grpc', GRPC_URL: cluster.grpcUrl, RPC_URL: cluster.rpcUrl, RPC_WS_URL: cluster.wsUrl };
  return { settings, play, stop: async () => void (await cluster.stop()) };
}

async function injectAccount(cluster: Cluster, { pubkey, owner, data }: AccountUpdate): Promise<void> {
  const account = {
    pubkey: bs58.encode(pubkey),
    owner: bs58.encode(owner),
    data: Buffer.from(data).toString('base64'),
  };
  await cluster.rpc('localnet_injectAccount', [account]);
}

describe.runIf(present).each([
  ['a capture', asCapture],
  ['a gRPC stream', asStream],
] as const)('recorded mainnet data over %s', (_, played) => {
  const { dir, remove } = temporaryDirectory();
  let running: Running;
  let source: Played;
  const users = present ? read<{ accounts: RecordedUser[] }>('drift-user-accounts.json').accounts : [];
  const events = present ? read<RecordedEvents>('drift-events.json') : { transactionLogs: [] };
  beforeAll(async () => {
    const others = read<{ accounts: { data: string }[] }>('drift-accounts.json').accounts;
    source = await played(recordedSource(users, others, events), dir);
    running = await startRoles(['ingest', 'book', 'trades', 'sink', 'orderbook', 'history'], {
      DATA_DIR: path.join(dir, 'data'),
      DEFINITION: await driftIdlPath(),
      ...source.settings,
    });
    await source.play();
  });
  afterAll(async () => {
    await running?.stop();
    await source?.stop();
    remove();
  });

  const visible = ({ status, orderType }: RecordedOrder) => status === 'Open' && orderType === 'Limit';

  it('shows every open resting order in /l3 with its price, size and owner', async () => {
    let checked = 0;
    for (const { decoded } of users) {
      for (const order of decoded.orders.filter(visible)) {
        const side = order.direction === 'Long' ? 'bids' : 'asks';
        const query = `marketType=${order.marketType.toLowerCase()}&marketIndex=${order.marketIndex}`;
        const found = await eventually(`order ${order.orderId} of ${decoded.authority}`, async () => {
          const response = await fetch(`${running.endpoints.orderbook}/l3?${query}`);
          if (!response.ok) return undefined;
          const book = (await response.json()) as Record<string, { maker: string; orderId: number }[]>;
          return book[side]?.find(({ maker, orderId }) => maker === userAddress(decoded) && orderId === order.orderId);
        });
        expect(found).toEqual({
          price: order.price,
          size: String(BigInt(order.baseAssetAmount) - BigInt(order.baseAssetAmountFilled)),
          maker: userAddress(decoded),
          orderId: order.orderId,
        });
        checked += 1;
      }
    }
    expect(checked).toBe(3);
  });

  it('holds every recorded event in ClickHouse with the recorded values', async () => {
    const client = createClient({ url: running.endpoints.clickhouse ?? '', database: 'slotbook' });
    const rows = async (table: string) => {
      const result = await client.query({
        query: `SELECT * REPLACE (lower(hex(signature)) AS signature) FROM \`${table}\` FINAL ORDER BY signature, event_index`,
        format: 'JSONEachRow',
        clickhouse_settings: { output_format_json_quote_64bit_integers: 1, output_format_json_quote_decimals: 1 },
      });
      return result.json<Record<string, unknown>>();
    };
    try {
      for (const [index, { events: recorded }] of events.transactionLogs.entries()) {
        const wanted = recorded.map((event, eventIndex) => ({ ...event, eventIndex }));
        const ofTransaction = (row: Record<string, unknown>) =>
          row.signature === Buffer.from(bs58.decode(signature(index))).toString('hex');
        await eventually('rows stored', async () => {
          const actions = (await rows('order_action')).filter(ofTransaction).length;
          const orders = (await rows('order')).filter(ofTransaction).length;
          return actions + orders === wanted.length;
        });
        const stored = [...(await rows('order_action')), ...(await rows('order'))].filter(ofTransaction);
        for (const { name, decoded, eventIndex } of wanted) {
          const row = stored.find(({ event_index }) => Number(event_index) === eventIndex);
          expect(row, `${name} ${eventIndex}`).toBeDefined();
          for (const [field, value] of scalars(decoded)) {
            expect(String(row?.[field] ?? null).toLowerCase(), `${name} ${eventIndex} ${field}`).toBe(
              String(value ?? null).toLowerCase(),
            );
          }
        }
      }
    } finally {
      await client.close();
    }
  });
});

/** Recorded numbers, booleans and enum variants by column name; keys are compared by the decoder's own test. */
function scalars(value: Record<string, unknown>, prefix = ''): [string, unknown][] {
  return Object.entries(value).flatMap(([name, member]): [string, unknown][] => {
    const column = prefix + name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
    if (member !== null && typeof member === 'object' && !Array.isArray(member)) {
      return scalars(member as Record<string, unknown>, `${column}_`);
    }
    const isKey = typeof member === 'string' && member.length >= 32;
    return Array.isArray(member) || isKey || /padding/.test(column) ? [] : [[column, member]];
  });
}
