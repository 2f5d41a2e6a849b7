import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Connection } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, call, hangUp, type Notification, RawPubSub } from '../test/support/localnet/test-client.ts';
import { EXCHANGE_PROGRAM } from './exchange/keys.ts';
import type { PlacedEvent, TruthBlock } from './rpc/truth-controls.ts';
import { type LocalnetOptions, type RunningLocalnet, startLocalnet } from './server.ts';

const SLOTS = 220;
const OPTIONS: LocalnetOptions = {
  seed: 21,
  profile: 'mainnet',
  speed: 0,
  rpcPort: 0,
  wsPort: 0,
  accounts: 20,
  ordersPerMarket: 8,
  activity: 0.5,
  genesisTime: 1_700_000_000,
  keepEvents: true,
};

interface Slot {
  readonly slot: number;
  readonly parent: number;
  readonly root: number;
}
interface InContext<T> {
  readonly context: { readonly slot: number };
  readonly value: T;
}
type Logs = InContext<{ readonly signature: string; readonly logs: readonly string[] }>;
interface Fetched {
  readonly meta: {
    readonly logMessages: string[];
    readonly loadedAddresses: Record<'readonly' | 'writable', string[]>;
  };
  readonly transaction: { readonly message: { readonly accountKeys: string[] } };
}

const resultOf = <T>({ params }: Notification): T => params.result as T;

describe('a cluster like mainnet', () => {
  let net: RunningLocalnet;
  let chain: TruthBlock[];
  let genesisSlot = 0;
  const seen = new Map<string, Notification[]>();
  const of = (kind: string): Notification[] => seen.get(kind) ?? [];
  const winning = (): TruthBlock[] => chain.filter(({ fork }) => fork === 'winning');
  const transaction = (signature: string): Promise<Fetched> =>
    ask(net.rpcUrl, 'getTransaction', [signature, { commitment: 'confirmed', maxSupportedTransactionVersion: 0 }]);

  beforeAll(async () => {
    net = await startLocalnet(OPTIONS);
    genesisSlot = net.ledger.genesisSlot + 1;
    const subscribed: [string, string, unknown[]][] = [
      ['processed logs', 'logs', ['all', { commitment: 'processed' }]],
      ['confirmed logs', 'logs', ['all', { commitment: 'confirmed' }]],
      ['finalized logs', 'logs', ['all', { commitment: 'finalized' }]],
      ['accounts', 'program', [EXCHANGE_PROGRAM, { commitment: 'confirmed', encoding: 'base64' }]],
      ['slots', 'slot', []],
      ['updates', 'slotsUpdates', []],
    ];
    const clients: [string, RawPubSub][] = [];
    for (const [name, kind, params] of subscribed) {
      const client = await RawPubSub.open(net.wsUrl);
      await client.subscribe(kind, ...params);
      clients.push([name, client]);
    }
    await net.step(SLOTS);
    for (const [name, client] of clients) {
      seen.set(name, await client.settle());
      client.close();
    }
    chain = await ask<TruthBlock[]>(net.rpcUrl, 'localnet_chain');
  });
  afterAll(() => net.stop());

  it('has three tips, skipped slots and forks that lose', async () => {
    const slots = await Promise.all(
      ['processed', 'confirmed', 'finalized'].map((commitment) => ask<number>(net.rpcUrl, 'getSlot', [{ commitment }])),
    );
    const heights = winning().map(({ slot }) => slot);
    const tip = heights.length - 1;
    expect(slots).toEqual([heights[tip], heights[tip - 2], heights[tip - 32]]);
    const lost = chain.filter(({ fork }) => fork === 'abandoned');
    expect(lost.length).toBeGreaterThan(0);
    expect(SLOTS - winning().length - lost.length).toBeGreaterThan(2);
    for (const [index, block] of winning().entries()) {
      if (index > 0) expect(block.parentSlot).toBe(heights[index - 1]);
    }
  });

  it('notifies each level of exactly the blocks that it reaches, in order', () => {
    const signatures = (name: string): string[] => of(name).map((one) => resultOf<Logs>(one).value.signature);
    const upTo = (level: (block: TruthBlock) => boolean): string[] =>
      winning()
        .filter(level)
        .flatMap(({ transactions }) => transactions.map(({ signature }) => signature));
    expect(signatures('confirmed logs')).toEqual(upTo(({ commitment }) => commitment !== 'processed'));
    expect(signatures('finalized logs')).toEqual(upTo(({ commitment }) => commitment === 'finalized'));
    const everything = chain.filter(({ slot }) => slot > genesisSlot);
    expect(signatures('processed logs').sort()).toEqual(
      everything.flatMap(({ transactions }) => transactions.map(({ signature }) => signature)).sort(),
    );
  });

  it('lands some transactions on both forks, with other results', () => {
    const slotsOf = new Map<string, Set<number>>();
    for (const { slot, transactions } of chain) {
      for (const { signature } of transactions) slotsOf.set(signature, (slotsOf.get(signature) ?? new Set()).add(slot));
    }
    expect([...slotsOf.values()].filter((slots) => slots.size > 1).length).toBeGreaterThan(3);
  });

  it('announces every slot of every fork before its data, and how its bank went on', () => {
    const announced = of('slots').map((one) => resultOf<Slot>(one));
    const banks = new Map(announced.map((one) => [one.slot, one]));
    for (const block of chain) {
      if (block.slot > genesisSlot) expect(banks.get(block.slot)?.parent).toBe(block.parentSlot);
    }
    const updates = of('updates').map((one) => resultOf<{ slot: number; type: string }>(one));
    const rooted = updates.filter(({ type }) => type === 'root').map(({ slot }) => slot);
    const finalized = winning().filter(({ commitment }) => commitment === 'finalized');
    expect(rooted).toEqual(finalized.map(({ slot }) => slot));
    const frozen = new Set(updates.filter(({ type }) => type === 'frozen').map(({ slot }) => slot));
    expect([...frozen].sort()).toEqual(
      chain
        .map(({ slot }) => slot)
        .filter((slot) => slot > genesisSlot)
        .sort(),
    );
  });

  it('sends one state per account and slot', () => {
    const states = of('accounts').map((one) => {
      const { context, value } = resultOf<InContext<{ pubkey: string }>>(one);
      return `${context.slot} ${value.pubkey}`;
    });
    expect(states.length).toBeGreaterThan(500);
    expect(new Set(states).size).toBe(states.length);
  });

  it('cuts logs at execution, so that nobody has the rest, and says which records are lost', async () => {
    const cut = winning().flatMap(({ transactions }) =>
      transactions.filter(({ lostRecords }) => lostRecords.length > 0),
    );
    expect(cut.length).toBeGreaterThan(0);
    for (const { signature } of cut.slice(-2)) {
      const { logMessages } = (await transaction(signature))?.meta ?? { logMessages: [] };
      if (logMessages.length === 0) continue;
      expect(logMessages).toContain('Log truncated');
      const bytes = logMessages.filter((line) => line !== 'Log truncated').join('').length;
      expect(bytes).toBeLessThan(10_000);
    }
    const events = await ask<PlacedEvent[]>(net.rpcUrl, 'localnet_events', [
      { commitment: 'processed', limit: 100_000 },
    ]);
    const lost = events.filter((event) => event.lost).map(({ signature, index }) => `${signature} ${index}`);
    expect(lost.sort()).toEqual(
      cut.flatMap(({ signature, lostRecords }) => lostRecords.map((index) => `${signature} ${index}`)).sort(),
    );
  });

  it('loads keys from lookup tables as a client library expects', async () => {
    const connection = new Connection(net.rpcUrl, { commitment: 'confirmed', wsEndpoint: net.wsUrl });
    let loaded = 0;
    let programs = 0;
    for (const { transactions } of winning().slice(-20, -4)) {
      for (const { signature, err } of transactions.slice(0, 6)) {
        const fetched = await connection.getTransaction(signature, { maxSupportedTransactionVersion: 0 });
        if (!fetched?.meta?.loadedAddresses) throw new Error(`${signature} is missing`);
        const { loadedAddresses } = fetched.meta;
        const keys = fetched.transaction.message.getAccountKeys({ accountKeysFromLookups: loadedAddresses });
        const all = keys.keySegments().flat();
        expect(new Set(all.map(String)).size).toBe(all.length);
        loaded += loadedAddresses.writable.length;
        programs += loadedAddresses.readonly.filter((key) => key.toBase58() === EXCHANGE_PROGRAM).length;
        for (const { addressTableLookups } of [fetched.transaction.message]) {
          for (const { accountKey, writableIndexes } of addressTableLookups) {
            const table = await connection.getAddressLookupTable(accountKey);
            const named = writableIndexes.map((index) => table.value?.state.addresses[index]?.toBase58());
            expect(loadedAddresses.writable.map(String)).toEqual(expect.arrayContaining(named));
          }
        }
        expect(fetched.meta.err).toEqual(err);
      }
    }
    expect(loaded).toBeGreaterThan(20);
    expect(programs).toBeGreaterThanOrEqual(0);
    await hangUp(connection);
  });

  it('answers skipped slots as a node does, above the root and below', async () => {
    const known = new Set(chain.map(({ slot }) => slot));
    const root = await ask<number>(net.rpcUrl, 'getSlot', [{ commitment: 'finalized' }]);
    const tip = await ask<number>(net.rpcUrl, 'getSlot', [{ commitment: 'processed' }]);
    const codes = async (slot: number): Promise<unknown[]> => [
      (await call(net.rpcUrl, 'getBlock', [slot, { maxSupportedTransactionVersion: 0 }])).error?.code,
      (await call(net.rpcUrl, 'getBlockTime', [slot])).error?.code,
    ];
    const below = Array.from({ length: root - genesisSlot }, (_, n) => root - n).find((slot) => !known.has(slot));
    expect(await codes(below ?? -1)).toEqual([-32007, -32007]);
    expect(await codes(tip + 10)).toEqual([-32004, -32004]);
    const lost = chain.find(({ fork, slot }) => fork === 'abandoned' && slot < root);
    expect(await codes(lost?.slot ?? -1)).toEqual([-32007, -32007]);
    const blocks = await ask<number[]>(net.rpcUrl, 'getBlocks', [genesisSlot, root]);
    expect(blocks).toEqual(winning().flatMap(({ slot }) => (slot <= root ? [slot] : [])));
  });

  it('settles: empty blocks bring every level to the state of the exchange', async () => {
    const newest = (await ask<TruthBlock[]>(net.rpcUrl, 'localnet_chain'))
      .filter(({ fork }) => fork === 'winning')
      .at(-1);
    await ask(net.rpcUrl, 'localnet_settle', [{ commitment: 'confirmed' }]);
    expect(await ask<number>(net.rpcUrl, 'getSlot', [{ commitment: 'confirmed' }])).toBe(newest?.slot);
  });
});

describe('a cluster like mainnet with a state file', () => {
  it('goes on after a restart on the same winning chain', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'localnet-profile-'));
    const options = { ...OPTIONS, activity: 0.2, keepEvents: false };
    const heads = async (net: RunningLocalnet): Promise<string[]> => {
      const blocks = await ask<TruthBlock[]>(net.rpcUrl, 'localnet_chain');
      return blocks.filter(({ fork }) => fork === 'winning').map(({ blockhash }) => blockhash);
    };
    try {
      const stateFile = join(folder, 'state');
      const whole = await startLocalnet(options);
      await whole.step(90);
      const first = await startLocalnet({ ...options, stateFile });
      await first.step(45);
      await first.stop();
      const second = await startLocalnet({ ...options, stateFile });
      await second.step(45);
      const [expected, found] = [await heads(whole), await heads(second)];
      expect(found.length).toBeGreaterThan(60);
      expect(expected.slice(0, found.length)).toEqual(found);
      await Promise.all([whole.stop(), second.stop()]);
      await expect(startLocalnet({ ...options, profile: 'calm', stateFile })).rejects.toThrow('remove it');
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
