import { Connection, PublicKey } from '@solana/web3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, hangUp } from '../test/support/localnet/test-client.ts';
import { until } from '../test/support/platform/eventually.ts';
import { type RunningLocalnet, startLocalnet } from './server.ts';

const VELOCITY = new PublicKey('vELoC1audYbSYVRXn1vPaV8Axoa9oU6BYmNGZZBDZ1P');
const OPTIONS = {
  seed: 3,
  speed: 0,
  accounts: 40,
  ordersPerMarket: 20,
  rpcPort: 0,
  wsPort: 0,
  genesisTime: 1_700_000_000,
};
const SLOTS = 60;

let localnet: RunningLocalnet;
let connection: Connection;
beforeAll(async () => {
  localnet = await startLocalnet({ ...OPTIONS, keepEvents: true });
  connection = new Connection(localnet.rpcUrl, { commitment: 'confirmed', wsEndpoint: localnet.wsUrl });
});
afterAll(async () => {
  await hangUp(connection);
  await localnet.stop();
});

describe('the seeded exchange on the cluster', () => {
  it('reaches the state of a second snapshot from a first one and notifications', async () => {
    const mirror = new Map<string, Buffer>();
    const slots: number[] = [];
    const signatures: string[] = [];
    connection.onProgramAccountChange(VELOCITY, ({ accountId, accountInfo }) => {
      mirror.set(accountId.toBase58(), accountInfo.data);
    });
    connection.onLogs(VELOCITY, (logs) => signatures.push(logs.signature));
    connection.onSlotChange(({ slot }) => slots.push(slot));
    await until(
      async () => (await ask<{ subscriptions: number }>(localnet.rpcUrl, 'localnet_status')).subscriptions === 3,
    );
    const snapshot = await connection.getProgramAccounts(VELOCITY);
    for (const { pubkey, account } of snapshot) mirror.set(pubkey.toBase58(), account.data);
    await localnet.step(SLOTS);
    await until(() => slots.length === SLOTS);
    const end = await connection.getProgramAccounts(VELOCITY);
    expect(end.length).toBeGreaterThan(40);
    for (const { pubkey, account } of end) {
      expect(mirror.get(pubkey.toBase58())?.equals(account.data), pubkey.toBase58()).toBe(true);
    }
    const paged: Awaited<ReturnType<typeof connection.getSignaturesForAddress>> = [];
    for (let more = true; more; ) {
      const before = paged.at(-1)?.signature;
      const page = await connection.getSignaturesForAddress(VELOCITY, { limit: 1000, ...(before ? { before } : {}) });
      paged.push(...page);
      more = page.length > 0;
    }
    const fromFirst = paged.filter(({ slot }) => slot >= (slots[0] ?? 0)).map(({ signature }) => signature);
    expect(signatures).toEqual(fromFirst.reverse());
  });

  it('emits events in transactions that calls return and parse', async () => {
    const events = await ask<{ signature: string; slot: number }[]>(localnet.rpcUrl, 'localnet_events', {
      limit: 100_000,
    });
    expect(events.length).toBeGreaterThan(100);
    const counts = await ask<Record<string, number>>(localnet.rpcUrl, 'localnet_eventCounts');
    expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBe(events.length);
    const wanted = [...new Map(events.map((event) => [event.signature, event.slot])).entries()].slice(0, 100);
    const found = await connection.getTransactions(
      wanted.map(([signature]) => signature),
      { maxSupportedTransactionVersion: 0 },
    );
    expect(found.map((transaction) => transaction?.slot)).toEqual(wanted.map(([, slot]) => slot));
    for (const transaction of found)
      expect(transaction?.transaction.message.compiledInstructions.length).toBeGreaterThan(0);
  });

  it('makes the same blocks from the same seed, and another chain from another seed', async () => {
    const hashAt = (running: RunningLocalnet): string => running.ledger.blockhashAt('processed');
    const same = await startLocalnet(OPTIONS);
    const other = await startLocalnet({ ...OPTIONS, seed: 4 });
    await Promise.all([same.step(SLOTS), other.step(SLOTS)]);
    expect(same.ledger.tipSlot).toBe(localnet.ledger.tipSlot);
    expect(hashAt(same)).toBe(hashAt(localnet));
    expect(hashAt(other)).not.toBe(hashAt(localnet));
    const dataOf = (running: RunningLocalnet): string[] =>
      running.ledger.accounts
        .ownedAt(VELOCITY.toBase58(), running.ledger.tipSlot)
        .map(({ data }) => data.toString('hex'));
    expect(dataOf(same)).toEqual(dataOf(localnet));
    await Promise.all([same.stop(), other.stop()]);
  });
});
