import { Server, ServerCredentials, type ServerDuplexStream } from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type GeyserRequest, type GeyserUpdate, geyserMessages, geyserService } from '../../schemas/index.ts';
import { until } from '../../test/support/platform/eventually.ts';
import { emptyRequest, GeyserStream } from './stream.ts';

const LARGE_BYTES = 10 * 1024 * 1024;

describe('gRPC stream', () => {
  let server: Server;
  let url: string;
  let call: ServerDuplexStream<GeyserRequest, GeyserUpdate> | undefined;
  let requests: GeyserRequest[];
  let updates: GeyserUpdate[];
  let ends: (readonly [string, boolean])[];
  let stream: GeyserStream;
  const update = (fields: object) => geyserMessages().SubscribeUpdate.fromPartial(fields);
  const slot = (number: number) => update({ slot: { slot: String(number), status: 0 } });

  beforeEach(async () => {
    [requests, updates, ends, call] = [[], [], [], undefined];
    server = new Server();
    server.addService(geyserService(), {
      subscribe: (opened: ServerDuplexStream<GeyserRequest, GeyserUpdate>) => {
        call = opened;
        opened.on('data', (request: GeyserRequest) => requests.push(request));
        opened.on('error', () => {});
      },
    });
    const port = await new Promise<number>((resolve, reject) => {
      const bound = (error: Error | null, given: number) => (error ? reject(error) : resolve(given));
      server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), bound);
    });
    url = `http://127.0.0.1:${port}`;
    stream = await GeyserStream.open(url, 'token', {
      update: (one) => updates.push(one),
      ended: (reason, isOutOfRange) => ends.push([reason, isOutOfRange]),
    });
    stream.request(emptyRequest());
    await until(() => requests.length === 1);
  });
  afterEach(() => {
    stream.close();
    server.forceShutdown();
  });

  it('answers a ping with a ping, gives the token, and hands on the rest', async () => {
    expect(call?.metadata.get('x-token')).toEqual(['token']);
    call?.write(update({ ping: {} }));
    call?.write(update({ pong: { id: 1 } }));
    call?.write(slot(7));
    await until(() => requests.length === 2 && updates.length === 1);
    expect(requests[1]?.ping).toEqual({ id: 1 });
    expect(updates[0]?.slot?.slot).toBe('7');
  });

  it('takes the largest account', async () => {
    const data = new Uint8Array(LARGE_BYTES);
    call?.write(update({ account: { slot: '1', account: { data, writeVersion: '1' } } }));
    await until(() => updates.length === 1);
    expect(updates[0]?.account?.account?.data.length).toBe(LARGE_BYTES);
  });

  it('reads nothing while it is paused, and everything afterwards', async () => {
    let resume: () => void = () => {};
    const resumed = new Promise<void>((resolve) => {
      resume = resolve;
    });
    stream.pauseUntil(resumed);
    expect(stream.isPaused).toBe(true);
    for (let number = 0; number < 100; number++) call?.write(slot(number));
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(updates).toEqual([]);
    resume();
    await until(() => updates.length === 100);
    expect(updates.map((one) => Number(one.slot?.slot))).toEqual([...Array(100).keys()]);
  });

  it('reports its end once, and whether the slot to replay from was too old', async () => {
    call?.emit('error', { code: 11, details: 'broadcast from 1 is not available, last available: 50' });
    await until(() => ends.length > 0);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(ends).toEqual([['broadcast from 1 is not available, last available: 50', true]]);
  });

  it('knows no first slot at a server that does not have the question', async () => {
    expect(await stream.firstAvailable()).toBeNull();
  });
});
