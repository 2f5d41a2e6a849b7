import { status } from '@grpc/grpc-js';
import bs58 from 'bs58';
import { afterEach, describe, expect, it } from 'vitest';
import { geyserMessages } from '../../schemas/index.ts';
import { GeyserClient } from '../../test/support/localnet/geyser-client.ts';
import { until } from '../../test/support/platform/eventually.ts';
import { type LocalnetOptions, type RunningLocalnet, startLocalnet } from '../server.ts';

const { CommitmentLevel, SlotStatus } = geyserMessages();
const EVERYTHING = { blocksMeta: { blocks: {} }, slots: { slots: {} } };

describe('gRPC server of the simulated cluster', () => {
  let net: RunningLocalnet;
  const clients: GeyserClient[] = [];
  afterEach(async () => {
    for (const client of clients.splice(0)) client.close();
    await net.stop();
  });
  const open = async (options: LocalnetOptions = {}) => {
    net = await startLocalnet({
      rpcPort: 0,
      wsPort: 0,
      grpcPort: 0,
      speed: 0,
      accounts: 8,
      ordersPerMarket: 4,
      ...options,
    });
  };
  const connect = (token = '') => {
    const client = new GeyserClient(net.grpcUrl, token);
    clients.push(client);
    return client;
  };
  /** A call is served once its pong is there. */
  const subscribed = async (client: GeyserClient, id = 1) => {
    client.request({ ping: { id } });
    await until(() => client.of('pong').some((pong) => pong.id === id));
  };
  const program = () => net.ledger.owned(net.ledger.accounts.versions()[0]?.owner ?? '', 'processed')[0]?.owner ?? '';
  const includes = (key: string) => ({ accountInclude: [key], accountExclude: [], accountRequired: [] });

  it('sends the accounts of a program with write version and signature, and its transactions with their index', async () => {
    await open();
    const client = connect();
    const owner = program();
    client.request({
      accounts: { mine: { account: [], owner: [owner], filters: [] } },
      transactions: { calls: includes(owner) },
      commitment: CommitmentLevel.CONFIRMED,
    });
    await subscribed(client);
    await net.step(5);
    const blocks = [...Array(5)].flatMap((_, age) => net.ledger.history.fromTip(age) ?? []).reverse();
    const wanted = blocks.flatMap(({ transactions }) =>
      transactions.filter(({ accountKeys }) => accountKeys.includes(owner)),
    );
    await until(() => client.of('transaction').length === wanted.length);
    expect(wanted.length).toBeGreaterThan(5);
    const sent = client.of('transaction').map(({ transaction, filters }) => ({
      signature: bs58.encode(transaction?.signature ?? new Uint8Array()),
      index: Number(transaction?.index),
      logs: transaction?.meta?.logMessages,
      failed: transaction?.meta?.err !== undefined,
      filters,
    }));
    expect(sent).toEqual(
      wanted.map(({ signature, index, logMessages, err }) => ({
        signature,
        index,
        logs: logMessages,
        failed: err !== null,
        filters: ['calls'],
      })),
    );
    const writes = wanted.flatMap(({ writes: own, signature }) =>
      own
        .filter((account) => account.owner === owner)
        .map(({ pubkey, writeVersion }) => [pubkey, writeVersion, signature]),
    );
    const accounts = client
      .of('account')
      .map(({ account }) => [
        bs58.encode(account?.pubkey ?? new Uint8Array()),
        Number(account?.writeVersion),
        bs58.encode(account?.txnSignature ?? new Uint8Array()),
      ]);
    expect(accounts).toEqual(writes);
  });

  it('sends blocks that name their parents, at the commitment asked for', async () => {
    await open({ profile: 'mainnet' });
    const client = connect();
    client.request({ ...EVERYTHING, commitment: CommitmentLevel.CONFIRMED });
    await subscribed(client);
    await net.step(60);
    await until(() => Number(client.of('blockMeta').at(-1)?.slot) === net.ledger.slotAt('confirmed'));
    const blocks = client.of('blockMeta');
    expect(blocks.length).toBeGreaterThan(30);
    for (const [index, { parentSlot, parentBlockhash }] of blocks.entries()) {
      const before = blocks[index - 1];
      if (before) expect([parentSlot, parentBlockhash]).toEqual([before.slot, before.blockhash]);
    }
    const states = client.of('slot').map(({ slot, status: state }) => [Number(slot), state]);
    const tip = net.ledger.slotAt('confirmed');
    expect(states).toContainEqual([tip, SlotStatus.SLOT_CONFIRMED]);
    expect(states).toContainEqual([net.ledger.slotAt('processed'), SlotStatus.SLOT_PROCESSED]);
  });

  it('with a pace spreads the data of a slot between its beginning and its end', async () => {
    const left: string[] = [];
    await open({ grpcPace: { slotMs: 200, leaves: ({ kind, slot }) => left.push(`${slot} ${kind}`) } });
    const client = connect();
    const all = { mine: { account: [], owner: [program()], filters: [] } };
    const slots = { all: { interslotUpdates: true } };
    client.request({ slots, accounts: all, commitment: CommitmentLevel.PROCESSED });
    await subscribed(client);
    await net.step(1);
    const ends = () => client.of('slot').some(({ status }) => status === SlotStatus.SLOT_PROCESSED);
    await until(ends);
    const kinds = client.updates.flatMap(({ account, slot }) => (account ? [-1] : slot ? [slot.status] : []));
    expect(kinds[0]).toBe(SlotStatus.SLOT_CREATED_BANK);
    expect(kinds.slice(1, kinds.indexOf(SlotStatus.SLOT_PROCESSED))).toEqual(client.of('account').map(() => -1));
    expect(client.of('account').length).toBeGreaterThan(5);
    expect(left.length).toBeGreaterThanOrEqual(client.of('account').length);
  });

  it('replays from a slot in memory, and refuses an older one', async () => {
    await open({ grpcReplaySlots: 10 });
    await net.step(30);
    const tip = net.ledger.tipSlot;
    const client = connect();
    client.request({ ...EVERYTHING, fromSlot: String(tip - 4), commitment: CommitmentLevel.CONFIRMED });
    await subscribed(client);
    await net.step(2);
    await until(() => client.of('blockMeta').length >= 7);
    expect(client.of('blockMeta').map(({ slot }) => Number(slot))).toEqual(
      [...Array(7)].map((_, index) => tip - 4 + index),
    );
    const late = connect();
    late.request({ ...EVERYTHING, fromSlot: String(tip - 20), commitment: CommitmentLevel.CONFIRMED });
    await until(() => late.ended !== null);
    expect(late.ended?.code).toBe(status.OUT_OF_RANGE);
  });

  it('ends a call without the token, and one with filters that it does not have', async () => {
    await open({ grpcToken: 'right' });
    const [stranger, friend] = [connect('wrong'), connect('right')];
    friend.request({ entry: { entries: {} } });
    await until(() => stranger.ended !== null && friend.ended !== null);
    expect([stranger.ended?.code, friend.ended?.code]).toEqual([status.UNAUTHENTICATED, status.INVALID_ARGUMENT]);
  });

  it('loses, repeats and ends as its faults say, and reports it', async () => {
    await open();
    const client = connect();
    client.request({ ...EVERYTHING, commitment: CommitmentLevel.CONFIRMED });
    await subscribed(client);
    net.faults.add({ kind: 'loseNotification', methods: ['blockMetaUpdate'], count: 1 });
    await net.step(1);
    net.faults.clear();
    net.faults.add({ kind: 'duplicateNotification', methods: ['blockMetaUpdate'], count: 1 });
    await net.step(1);
    await until(() => client.of('blockMeta').length === 2);
    const tip = String(net.ledger.tipSlot);
    expect(client.of('blockMeta').map(({ slot }) => slot)).toEqual([tip, tip]);
    net.faults.add({ kind: 'endStream' });
    await net.step(1);
    await until(() => client.ended !== null);
    expect(client.ended?.code).toBe(status.UNAVAILABLE);
    expect(net.faults.counts()).toEqual({ loseNotification: 1, duplicateNotification: 1, endStream: 1 });
  });
});
