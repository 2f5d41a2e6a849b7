import { zstdDecompressSync } from 'node:zlib';
import { Connection, PublicKey } from '@solana/web3.js';
import bs58 from 'bs58';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  ACCOUNT_COUNT,
  accountData,
  accountKey,
  FIRST_SLOT,
  key,
  OTHER_PROGRAM,
  PROGRAM,
  SHORT_LIVED,
  signature,
} from '../../test/support/localnet/fake-exchange.ts';
import { ask, hangUp, type Notification, RawPubSub, startFake } from '../../test/support/localnet/test-client.ts';
import { until } from '../../test/support/platform/eventually.ts';
import type { RunningLocalnet } from '../server.ts';

const SEED = 1;
const PROCESSED = { commitment: 'processed' };

let localnet: RunningLocalnet;
let raw: RawPubSub;
let connections: Connection[] = [];

beforeEach(async () => {
  localnet = await startFake();
  raw = await RawPubSub.open(localnet.wsUrl);
});
afterEach(async () => {
  raw.close();
  for (const connection of connections) await hangUp(connection);
  connections = [];
  await localnet.stop();
});

function connect(): Connection {
  const connection = new Connection(localnet.rpcUrl, { commitment: 'confirmed', wsEndpoint: localnet.wsUrl });
  connections.push(connection);
  return connection;
}

interface InContext<T> {
  context: { slot: number };
  value: T;
}

function results<T>(notifications: readonly Notification[], method: string): T[] {
  return notifications.filter((one) => one.method === method).map((one) => one.params.result as T);
}

describe('subscriptions over web3.js', () => {
  it('delivers program accounts, one account, logs and slots', async () => {
    const connection = connect();
    const programs: [string, number][] = [];
    const accounts: bigint[] = [];
    const logs: [string, number][] = [];
    const slots: [number, number, number][] = [];
    const roots: number[] = [];
    const next = FIRST_SLOT + 1;
    const watched = accountKey(next % ACCOUNT_COUNT);
    const ids = [
      connection.onProgramAccountChange(new PublicKey(PROGRAM), ({ accountId }, { slot }) => {
        programs.push([accountId.toBase58(), slot]);
      }),
      connection.onAccountChange(new PublicKey(watched), ({ data }) => accounts.push(data.readBigUInt64LE(16))),
      connection.onLogs(new PublicKey(OTHER_PROGRAM), (log, { slot }) => logs.push([log.signature, slot])),
      connection.onSlotChange(({ parent, slot, root }) => slots.push([parent, slot, root])),
      connection.onRootChange((root) => roots.push(root)),
    ];
    await until(() => statusOf(localnet).then((status) => status.subscriptions === ids.length));
    await localnet.step(40);
    await until(() => slots.length === 40);
    expect(programs.filter(([, slot]) => slot === next)).toEqual([[watched, next]]);
    expect(programs).toHaveLength(40);
    expect(accounts).toEqual([0, 10, 20, 30].map((later) => BigInt(next + later)));
    expect(logs).toHaveLength(40);
    expect(logs[0]).toEqual([signature(SEED, next, 1), next]);
    expect(slots[0]).toEqual([next - 1, next, FIRST_SLOT - 1]);
    expect(slots.at(-1)).toEqual([FIRST_SLOT + 39, FIRST_SLOT + 40, FIRST_SLOT + 8]);
    expect(roots.at(-1)).toBe(FIRST_SLOT + 8);

    const [program, account, log, slot, root] = ids as [number, number, number, number, number];
    await connection.removeProgramAccountChangeListener(program);
    await connection.removeAccountChangeListener(account);
    await connection.removeOnLogsListener(log);
    await connection.removeSlotChangeListener(slot);
    await connection.removeRootChangeListener(root);
    await until(() => statusOf(localnet).then((status) => status.subscriptions === 0));
  });

  it('notifies of a future and of a past signature, then ends the subscription', async () => {
    const connection = connect();
    const seen: unknown[] = [];
    connection.onSignature(signature(SEED, FIRST_SLOT + 2, 1), (result, context) =>
      seen.push([result.err, context.slot]),
    );
    connection.onSignature(signature(SEED, FIRST_SLOT, 0), (result) => seen.push(result.err));
    await until(() => seen.length === 1);
    expect(seen).toEqual([null]);
    await localnet.step(2);
    await until(() => seen.length === 2);
    expect(seen[1]).toEqual([{ InstructionError: [0, { Custom: 6000 }] }, FIRST_SLOT + 2]);
    expect((await statusOf(localnet)).subscriptions).toBe(0);
  });

  it('reconnects after dropped connections', async () => {
    const connection = connect();
    const slots: number[] = [];
    const id = connection.onSlotChange(({ slot }) => slots.push(slot));
    await until(() => statusOf(localnet).then((status) => status.subscriptions === 1));
    expect(await ask(localnet.rpcUrl, 'localnet_dropConnections')).toEqual({ dropped: 2 });
    await raw.closed;
    await until(() => statusOf(localnet).then((status) => status.subscriptions === 1));
    await localnet.step(1);
    await until(() => slots.length === 1);
    await connection.removeSlotChangeListener(id);
  });
});

describe('frames', () => {
  it('have the shape of a node, writes and logs of a transaction in order, the slot last', async () => {
    const program = await raw.subscribe('program', PROGRAM, { ...PROCESSED, encoding: 'base64' });
    const logs = await raw.subscribe('logs', 'all', PROCESSED);
    const slot = await raw.subscribe('slot');
    expect(new Set([program, logs, slot]).size).toBe(3);
    await localnet.step(1);
    const at = FIRST_SLOT + 1;
    const index = at % ACCOUNT_COUNT;
    const frames = await raw.settle();
    expect(frames.map(({ method }) => method)).toEqual([
      'programNotification',
      'logsNotification',
      'logsNotification',
      'slotNotification',
    ]);
    expect(frames[0]).toEqual({
      jsonrpc: '2.0',
      method: 'programNotification',
      params: {
        result: {
          context: { slot: at },
          value: {
            account: {
              data: [accountData(index, at).toString('base64'), 'base64'],
              executable: false,
              lamports: 1_000_000 + index,
              owner: PROGRAM,
              rentEpoch: 18446744073709552000,
              space: 1000,
            },
            pubkey: accountKey(index),
          },
        },
        subscription: program,
      },
    });
    expect(frames[1]?.params).toMatchObject({
      result: { context: { slot: at }, value: { signature: signature(SEED, at, 0), err: null } },
      subscription: logs,
    });
    expect(frames[3]?.params).toEqual({
      result: { parent: at - 1, root: FIRST_SLOT - 1, slot: at },
      subscription: slot,
    });
  });

  it('pass filters, slices and encodings', async () => {
    const kind = (byte: number): object => ({ memcmp: { offset: 0, bytes: bs58.encode(Buffer.alloc(8, byte)) } });
    const even = await raw.subscribe('program', PROGRAM, {
      ...PROCESSED,
      encoding: 'base64',
      filters: [kind(1)],
      dataSlice: { offset: 8, length: 1 },
    });
    const odd = await raw.subscribe('program', PROGRAM, { ...PROCESSED, encoding: 'base64+zstd', filters: [kind(2)] });
    await localnet.step(4);
    const frames = await raw.settle();
    interface Keyed {
      account: { data: [string, string] };
    }
    const dataOf = (id: number): string[] =>
      frames
        .filter(({ params }) => params.subscription === id)
        .map(({ params }) => (params.result as InContext<Keyed>).value.account.data[0]);
    const indexes = [1, 2, 3, 4].map((later) => (FIRST_SLOT + later) % ACCOUNT_COUNT);
    expect(dataOf(even).map((data) => Buffer.from(data, 'base64'))).toEqual(
      indexes.filter((index) => index % 2 === 0).map((index) => Buffer.from([index])),
    );
    expect(dataOf(odd).map((data) => zstdDecompressSync(Buffer.from(data, 'base64'))[8])).toEqual(
      indexes.filter((index) => index % 2 === 1),
    );
  });

  it('come later for later commitments, with the slot they are about', async () => {
    await raw.subscribe('logs', { mentions: [OTHER_PROGRAM] }, { commitment: 'finalized' });
    await raw.subscribe('program', PROGRAM, { encoding: 'base64' });
    await localnet.step(31);
    expect(await raw.settle()).toEqual([]);
    await localnet.step(2);
    const frames = await raw.settle();
    const logs = results<InContext<unknown>>(frames, 'logsNotification');
    expect(logs.map(({ context }) => context.slot)).toEqual([FIRST_SLOT, FIRST_SLOT + 1]);
    const accounts = results<InContext<{ pubkey: string }>>(frames, 'programNotification');
    expect(accounts.map(({ value }) => value.pubkey)).toEqual([
      accountKey(FIRST_SLOT % ACCOUNT_COUNT),
      SHORT_LIVED,
      accountKey((FIRST_SLOT + 1) % ACCOUNT_COUNT),
    ]);
  });

  it('report a closed account to account subscribers, not to program subscribers', async () => {
    await raw.subscribe('program', PROGRAM, PROCESSED);
    await raw.subscribe('account', SHORT_LIVED, { ...PROCESSED, encoding: 'base64' });
    await localnet.step(2);
    const frames = await raw.settle();
    expect(
      results<InContext<{ pubkey: string }>>(frames, 'programNotification').map(({ value }) => value.pubkey),
    ).toEqual([1, 2].map((later) => accountKey((FIRST_SLOT + later) % ACCOUNT_COUNT)));
    expect(results<InContext<object>>(frames, 'accountNotification')[0]?.value).toMatchObject({
      data: ['', 'base64'],
      lamports: 0,
      owner: '11111111111111111111111111111111',
      space: 0,
    });
  });

  it('report a signature as received before its commitment', async () => {
    const wanted = signature(SEED, FIRST_SLOT + 1, 0);
    await raw.subscribe('signature', wanted, { commitment: 'finalized', enableReceivedNotification: true });
    await localnet.step(33);
    const notified = results<InContext<unknown>>(await raw.settle(), 'signatureNotification');
    expect(notified).toEqual([
      { context: { slot: FIRST_SLOT + 1 }, value: 'receivedSignature' },
      { context: { slot: FIRST_SLOT + 1 }, value: { err: null } },
    ]);
  });
});

describe('requests', () => {
  it('share equal subscriptions across connections', async () => {
    const other = await RawPubSub.open(localnet.wsUrl);
    const mine = await raw.subscribe('logs', 'all', PROCESSED);
    expect(await other.subscribe('logs', 'all', PROCESSED)).toBe(mine);
    expect(await other.subscribe('logs', 'all', { commitment: 'confirmed' })).not.toBe(mine);
    expect((await raw.call('logsUnsubscribe', [mine])).result).toBe(true);
    await localnet.step(1);
    expect(await raw.settle()).toEqual([]);
    expect(await other.settle()).toHaveLength(4);
    other.close();
  });

  it('are rejected with the codes of a node', async () => {
    const errorOf = async (method: string, params?: unknown): Promise<unknown> =>
      (await raw.call(method, params)).error;
    const one = { code: -32602, message: 'Invalid Request: Only 1 address supported' };
    expect(await errorOf('logsSubscribe', [{ mentions: [] }])).toEqual(one);
    expect(await errorOf('logsSubscribe', [{ mentions: [PROGRAM, OTHER_PROGRAM] }])).toEqual(one);
    expect(await errorOf('logsSubscribe', ['some'])).toMatchObject({ code: -32602 });
    expect(await errorOf('programSubscribe', ['short'])).toMatchObject({ code: -32602 });
    expect(await errorOf('programUnsubscribe', [12345])).toEqual({ code: -32602, message: 'Invalid subscription id.' });
    expect(await errorOf('getSlot')).toEqual({ code: -32601, message: 'Method not found' });
    const slot = await raw.subscribe('slot');
    expect(await errorOf('rootUnsubscribe', [slot])).toMatchObject({ code: -32602 });
    raw.socket.send('garbage');
    raw.socket.send('{"jsonrpc":"2.0","method":"ping"}');
    expect((await raw.call('slotUnsubscribe', [slot])).result).toBe(true);
  });

  it('end with their connection', async () => {
    await raw.subscribe('slot');
    await raw.subscribe('program', PROGRAM);
    raw.close();
    await raw.closed;
    await until(() => statusOf(localnet).then((status) => status.subscriptions === 0));
  });
});

describe('faults', () => {
  it('pause without closing', async () => {
    await raw.subscribe('slot');
    await ask(localnet.rpcUrl, 'localnet_silence', { ms: 60_000 });
    await localnet.step(2);
    expect(await raw.settle()).toEqual([]);
    await ask(localnet.rpcUrl, 'localnet_silence', { ms: 0 });
    await localnet.step(1);
    expect(await raw.settle()).toHaveLength(1);
  });

  it('truncate logs in notifications while calls return them whole', async () => {
    await raw.subscribe('logs', { mentions: [key('payer')] }, PROCESSED);
    await raw.subscribe('logs', 'all', { commitment: 'confirmed' });
    await ask(localnet.rpcUrl, 'localnet_truncateLogs', [{ transactions: 1 }]);
    await localnet.step(2);
    interface Logs {
      signature: string;
      logs: string[];
    }
    const notified = results<InContext<Logs>>(await raw.settle(), 'logsNotification').map(({ value }) => value);
    const cut = notified.filter(({ logs }) => logs.includes('Log truncated'));
    const wanted = signature(SEED, FIRST_SLOT + 1, 0);
    expect(cut.map((one) => one.signature)).toEqual([wanted, wanted]);
    expect(cut[0]?.logs.some((line) => line.startsWith('Program data: '))).toBe(false);
    const connection = new Connection(localnet.rpcUrl, 'confirmed');
    const whole = await connection.getTransaction(wanted, { maxSupportedTransactionVersion: 0 });
    expect(whole?.meta?.logMessages).toHaveLength(5);
  });

  it('put garbage on the chain', async () => {
    await raw.subscribe('program', PROGRAM, { ...PROCESSED, encoding: 'base64' });
    await raw.subscribe('logs', 'all', PROCESSED);
    const account = { pubkey: accountKey(0), owner: PROGRAM, data: Buffer.from('garbage').toString('base64') };
    const { signature: written } = await ask<{ signature: string }>(localnet.rpcUrl, 'localnet_injectAccount', account);
    const logMessages = [`Program ${PROGRAM} invoke [1]`, 'Program data: !!!', 'Program log: '];
    const injected = { logMessages, accountKeys: [PROGRAM], err: { Custom: 1 } };
    await ask(localnet.rpcUrl, 'localnet_injectTransaction', injected);
    await localnet.step(1);
    const frames = await raw.settle();
    expect(frames.at(-1)?.params.result).toMatchObject({ value: { err: { Custom: 1 }, logs: logMessages } });
    const info = await new Connection(localnet.rpcUrl, 'processed').getAccountInfo(new PublicKey(accountKey(0)));
    expect(info?.data.toString()).toBe('garbage');
    const found = await new Connection(localnet.rpcUrl, 'confirmed').getTransaction(written, {
      maxSupportedTransactionVersion: 0,
    });
    expect(found?.slot).toBe(FIRST_SLOT + 1);
  });

  it('drop only the connection that does not read', async () => {
    const running = await startFake({ backlogBytesMax: 100_000 });
    const slow = await RawPubSub.open(running.wsUrl);
    const quick = await RawPubSub.open(running.wsUrl);
    await slow.subscribe('program', PROGRAM, { ...PROCESSED, encoding: 'base64' });
    await quick.subscribe('program', PROGRAM, { ...PROCESSED, encoding: 'base64' });
    slow.socket.pause();
    let steps = 0;
    while ((await statusOf(running)).slowConsumersDropped === 0 && steps < 20_000) {
      await running.step(500);
      steps += 500;
    }
    const status = await statusOf(running);
    expect(status.slowConsumersDropped).toBe(1);
    expect(status.connections).toBe(1);
    expect(await quick.settle()).toHaveLength(steps);
    slow.close();
    quick.close();
    await running.stop();
  });
});

async function statusOf(running: RunningLocalnet): Promise<Record<string, number>> {
  return ask(running.rpcUrl, 'localnet_status');
}
