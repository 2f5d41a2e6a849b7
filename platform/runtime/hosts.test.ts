import { createServer as createHttpServer } from 'node:http';
import { createServer, Server } from 'node:net';
import { Registry } from 'prom-client';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { boundPort, listenPlaces, reachable, urlHost } from './hosts.ts';
import { serveMetrics } from './metrics.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

/** Simulates a machine without IPv6. */
function withoutIpv6(): void {
  const listen = Server.prototype.listen;
  vi.spyOn(Server.prototype, 'listen').mockImplementation(function (this: Server, ...args: unknown[]) {
    if ((args[0] as { host?: string }).host?.includes(':')) {
      queueMicrotask(() => this.emit('error', Object.assign(new Error('no IPv6'), { code: 'EAFNOSUPPORT' })));
      return this;
    }
    return listen.apply(this, args as never);
  });
}

describe('where a server listens', () => {
  it('is at the loopback addresses of both families for localhost, at one port', async () => {
    const { first, others, port } = await listenPlaces('localhost', 0);
    expect([first, others, port > 0]).toEqual(['127.0.0.1', ['::1'], true]);
    expect(await listenPlaces('localhost', 6969)).toEqual({ first: '127.0.0.1', others: ['::1'], port: 6969 });
  });

  it('is at any other address alone', async () => {
    expect(await listenPlaces('127.0.0.1', 0)).toEqual({ first: '127.0.0.1', others: [], port: 0 });
    expect(await listenPlaces('::', 6969)).toEqual({ first: '::', others: [], port: 6969 });
  });

  it('is at the IPv4 part without IPv6', async () => {
    withoutIpv6();
    expect(await listenPlaces('localhost', 6969)).toEqual({ first: '127.0.0.1', others: [], port: 6969 });
    expect(await listenPlaces('::', 6969)).toEqual({ first: '0.0.0.0', others: [], port: 6969 });
    const server = await serveMetrics(new Registry(), 'localhost', 0);
    expect((await fetch(server.url)).status).toBe(200);
    await server.stop();
  });

  it('gives a URL that a client can open', () => {
    expect(['localhost', '0.0.0.0', '::', '::1', '10.0.0.1'].map(urlHost)).toEqual([
      '127.0.0.1',
      '127.0.0.1',
      '127.0.0.1',
      '[::1]',
      '10.0.0.1',
    ]);
    expect(reachable('::1')).toBe('::1');
  });
});

describe('metrics on localhost', () => {
  it.each(['127.0.0.1', '[::1]', 'localhost'])('answer at %s', async (host) => {
    const server = await serveMetrics(new Registry(), 'localhost', 0);
    const { port } = new URL(server.url);
    expect((await fetch(`http://${host}:${port}/metrics`)).status).toBe(200);
    await server.stop();
    await expect(fetch(`http://${host}:${port}/metrics`)).rejects.toThrow();
  });

  it('do not start when the port is taken on one of the addresses', async () => {
    const other = createHttpServer();
    await new Promise<void>((resolve) => other.listen(0, '::1', resolve));
    const port = boundPort(other.address());
    await expect(serveMetrics(new Registry(), 'localhost', port)).rejects.toMatchObject({ code: 'EADDRINUSE' });
    await new Promise((resolve) => other.close(resolve));
    const free = createServer();
    await new Promise<void>((resolve) => free.listen(port, '127.0.0.1', resolve));
    await new Promise((resolve) => free.close(resolve));
  });
});
