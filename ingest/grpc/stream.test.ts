import { Server, ServerCredentials, type ServerDuplexStream } from '@grpc/grpc-js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type GeyserRequest, type GeyserUpdate, geyserMessages, geyserService } from '../../schemas/index.ts';
import { selfSigned } from '../../test/support/ingest/certificate.ts';
import { until } from '../../test/support/platform/eventually.ts';
import { emptyRequest, GeyserStream } from './stream.ts';
import type { StreamUpdate } from './wire.ts';

const LARGE_BYTES = 10 * 1024 * 1024;

describe('gRPC stream', () => {
  let server: Server;
  let url: string;
  let call: ServerDuplexStream<GeyserRequest, GeyserUpdate> | undefined;
  let requests: GeyserRequest[];
  let updates: StreamUpdate[];
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
    await until(() => requests.length === 2 && updates.length === 2);
    expect(requests[1]?.ping).toEqual({ id: 1 });
    expect(updates.map(({ pong, slot: news }) => [pong, news?.slot])).toEqual([
      [1, undefined],
      [null, 7],
    ]);
  });

  it('takes the largest account', async () => {
    const data = new Uint8Array(LARGE_BYTES);
    call?.write(update({ account: { slot: '1', account: { data, writeVersion: '1' } } }));
    await until(() => updates.length === 1);
    expect(updates[0]?.account?.data.length).toBe(LARGE_BYTES);
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
    expect(updates.map((one) => one.slot?.slot)).toEqual([...Array(100).keys()]);
  });

  describe('over TLS', () => {
    const { key, cert } = selfSigned();
    const open = async (roots?: Buffer) => {
      const port = await new Promise<number>((resolve, reject) => {
        const bound = (error: Error | null, given: number) => (error ? reject(error) : resolve(given));
        const pair = { private_key: Buffer.from(key), cert_chain: Buffer.from(cert) };
        server.bindAsync('localhost:0', ServerCredentials.createSsl(null, [pair]), bound);
      });
      const ended: string[] = [];
      const received: StreamUpdate[] = [];
      const handlers = {
        update: (one: StreamUpdate) => received.push(one),
        ended: (reason: string) => ended.push(reason),
      };
      const secure = await GeyserStream.open(`https://localhost:${port}`, 'token', handlers, roots);
      secure.request(emptyRequest());
      return { secure, ended, received };
    };

    it('reads a server whose certificate a given authority signs', async () => {
      const { secure, received } = await open(Buffer.from(cert));
      await until(() => requests.length === 2);
      call?.write(slot(9));
      await until(() => received.length === 1);
      expect(received[0]?.slot?.slot).toBe(9);
      secure.close();
    });

    it('refuses a server whose certificate nobody known signs', async () => {
      const { ended } = await open();
      await until(() => ended.length === 1);
      expect(ended[0]).toMatch(/certificate/i);
      expect(requests.length).toBe(1);
    });

    it('refuses a certificate of another authority', async () => {
      const { ended } = await open(Buffer.from(selfSigned().cert));
      await until(() => ended.length === 1);
      expect(ended[0]).toMatch(/certificate|signature/i);
    });
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
