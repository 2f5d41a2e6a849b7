import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { createServer, type Http2Server, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { until } from '../../test/support/platform/eventually.ts';
import { GrpcConnection } from './connection.ts';
import { frameOf } from './frames.ts';

/** Longer than the interval of keepalives. */
const KEEPALIVE_MS = 10_001;

/** Servers that the library of the other tests does not play. */
describe('gRPC connection', () => {
  let server: Http2Server;
  let connection: GrpcConnection;
  let answer: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void;
  let messages: string[];
  let ends: (readonly [number, string])[];

  beforeEach(async () => {
    [messages, ends] = [[], []];
    server = createServer();
    server.on('stream', (stream, headers) => {
      stream.on('error', () => {});
      answer(stream, headers);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    connection = new GrpcConnection(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, { token: 'secret' });
  });
  afterEach(() => {
    connection.close();
    server.close();
  });
  const call = () =>
    connection.call('/a.B/C', {
      message: (bytes) => messages.push(bytes.toString()),
      ended: (status, details) => ends.push([status, details]),
    });

  it('may be closed just before it reports that it is connected', async () => {
    const { port } = server.address() as AddressInfo;
    let socket: Socket | undefined;
    const opened = (message: unknown): void => {
      ({ socket } = message as { socket: Socket });
      // Ahead of the session's own listener, whose event follows a tick later.
      socket.prependOnceListener('connect', () => process.nextTick(() => closing.close()));
    };
    subscribe('net.client.socket', opened);
    const closing = new GrpcConnection(`http://127.0.0.1:${port}`, { token: '' });
    unsubscribe('net.client.socket', opened);
    // An error of the session's event is no one's to catch: it would end the process, and this run.
    await until(() => socket?.destroyed === true);
    expect(() => closing.call('/a.B/C', { message: () => {}, ended: () => {} })).toThrow('lost');
  });

  it('names itself as gRPC and gives its token', async () => {
    let seen: IncomingHttpHeaders = {};
    answer = (stream, headers) => {
      seen = headers;
      stream.respond({ ':status': 200, 'grpc-status': '0' }, { endStream: true });
    };
    call();
    await until(() => ends.length === 1);
    expect(seen).toMatchObject({
      ':path': '/a.B/C',
      'content-type': 'application/grpc',
      te: 'trailers',
      'x-token': 'secret',
    });
    expect(ends).toEqual([[0, '']]);
  });

  it('reads the status behind the messages, with its text', async () => {
    answer = (stream) => {
      stream.respond({ ':status': 200 }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '11', 'grpc-message': 'slot 5 %C3%A4' }));
      stream.end(Buffer.concat([frameOf(Buffer.from('a')), frameOf(Buffer.from('b'))]));
    };
    call();
    await until(() => ends.length === 1);
    expect(messages).toEqual(['a', 'b']);
    expect(ends).toEqual([[11, 'slot 5 ä']]);
  });

  it('reads compressed messages', async () => {
    answer = (stream) => {
      stream.respond({ ':status': 200, 'grpc-encoding': 'gzip' });
      const frame = frameOf(gzipSync('packed'));
      frame[0] = 1;
      stream.write(Buffer.concat([frame, frameOf(Buffer.from('plain'))]));
    };
    call();
    await until(() => messages.length === 2);
    expect(messages).toEqual(['packed', 'plain']);
  });

  it('ends when a message is compressed in a way that it did not ask for', async () => {
    answer = (stream) => {
      stream.respond({ ':status': 200, 'grpc-encoding': 'snappy' });
      const frame = frameOf(Buffer.from('x'));
      frame[0] = 1;
      stream.write(frame);
    };
    call();
    await until(() => ends.length === 1);
    expect(ends).toEqual([[13, expect.stringContaining('compressed')]]);
  });

  it('ends when a compressed message cannot be unpacked', async () => {
    answer = (stream) => {
      stream.respond({ ':status': 200, 'grpc-encoding': 'gzip' });
      const frame = frameOf(Buffer.from('no gzip'));
      frame[0] = 1;
      stream.write(frame);
    };
    call();
    await until(() => ends.length === 1);
    expect([messages, ends]).toEqual([[], [[13, expect.stringContaining('unpacked')]]]);
  });

  it('ends when the server speaks no gRPC, breaks the connection, or is not there', async () => {
    answer = (stream) => stream.respond({ ':status': 502 }, { endStream: true });
    call();
    await until(() => ends.length === 1);
    expect(ends[0]).toEqual([2, 'HTTP status 502']);
    answer = (stream) => stream.session?.destroy();
    call();
    await until(() => ends.length === 2);
    expect(ends[1]?.[0]).toBe(14);
    const nowhere = new GrpcConnection('http://127.0.0.1:1', { token: '' });
    nowhere.call('/a.B/C', { message: () => {}, ended: (status, details) => ends.push([status, details]) });
    await until(() => ends.length === 3);
    expect(ends[2]).toEqual([14, expect.stringContaining('ECONNREFUSED')]);
  });

  it('calls no handler after it was closed here', async () => {
    let isClosed = false;
    answer = (stream) => {
      stream.on('close', () => {
        isClosed = true;
      });
      stream.respond({ ':status': 200 });
      stream.write(Buffer.concat([frameOf(Buffer.from('a')), frameOf(Buffer.from('b'))]));
    };
    connection.call('/a.B/C', {
      message: (bytes) => {
        messages.push(bytes.toString());
        connection.close();
      },
      ended: (status, details) => ends.push([status, details]),
    });
    await until(() => isClosed);
    expect([messages, ends]).toEqual([['a'], []]);
  });

  it('asks one question, and has null for a server that does not answer in time', async () => {
    answer = (stream) => {
      stream.respond({ ':status': 200 }, { waitForTrailers: true });
      stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      stream.on('data', (bytes: Buffer) => stream.end(bytes));
    };
    expect((await connection.ask('/a.B/D', Buffer.from('echo'), 5_000))?.toString()).toBe('echo');
    answer = () => {};
    expect(await connection.ask('/a.B/D', Buffer.from('echo'), 50)).toBeNull();
    answer = (stream) => stream.respond({ ':status': 200, 'grpc-status': '12' }, { endStream: true });
    expect(await connection.ask('/a.B/D', Buffer.from('echo'), 5_000)).toBeNull();
    answer = () => connection.close();
    expect(await connection.ask('/a.B/D', Buffer.from('echo'), 5_000)).toBeNull();
  });

  it('gives up a server that never ends the TLS handshake, and says so', async () => {
    const sockets: Socket[] = [];
    const mute = createTcpServer((socket) => sockets.push(socket.on('error', () => {})));
    await new Promise<void>((resolve) => mute.listen(0, '127.0.0.1', resolve));
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
    try {
      const hung = new GrpcConnection(`https://127.0.0.1:${(mute.address() as AddressInfo).port}`, { token: '' });
      const handlers = { message: () => {}, ended: (status: number, details: string) => ends.push([status, details]) };
      hung.call('/a.B/C', handlers);
      const answered = hung.ask('/a.B/D', Buffer.from('echo'), 5_000);
      await until(() => sockets.length === 1);
      vi.advanceTimersByTime(KEEPALIVE_MS);
      expect(await answered).toBeNull();
      await until(() => ends.length === 1);
      expect(ends).toEqual([[14, 'no connection in time']]);
      expect(() => hung.call('/a.B/C', handlers)).toThrow('no connection in time');
    } finally {
      vi.useRealTimers();
      for (const socket of sockets) socket.destroy();
      mute.close();
    }
  });
});
