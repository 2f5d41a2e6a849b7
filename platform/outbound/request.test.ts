import { execFile } from 'node:child_process';
import type { LookupAddress } from 'node:dns';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterEach, describe, expect, it } from 'vitest';
import { isPublicAddress, parseNetworks } from './addresses.ts';
import {
  checkOutboundUrl,
  OutboundError,
  type OutboundFailure,
  type OutboundOptions,
  sendOutbound,
} from './request.ts';

const PUBLIC = ['1.1.1.1', '8.8.8.8', '172.15.255.255', '2606:4700:4700::1111', '2a00:1450:4001::1'];
const INSIDE = [
  ...[
    '0.0.0.0',
    '127.0.0.1',
    '127.9.9.9',
    '10.0.0.1',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '169.254.169.254',
  ],
  ...['100.64.0.1', '192.0.0.8', '192.0.2.1', '198.18.0.1', '203.0.113.7', '224.0.0.1', '239.1.1.1', '240.0.0.1'],
  ...['255.255.255.255', '::', '::1', '::127.0.0.1', '::ffff:127.0.0.1', '::ffff:8.8.8.8', '::ffff:0:127.0.0.1'],
  ...['64:ff9b::7f00:1', '64:ff9b:1::1', '2002:7f00:1::', '2001:0:1::', '2001:db8::1', '3fff::1', 'fe80::1', 'fec0::1'],
  ...['fc00::1', 'fd12::1', 'ff02::1', '100::1', '5f00::1', '4000::1', 'fe80::1%eth0', 'localhost', ''],
];
const LOOPBACK = parseNetworks('test', '127.0.0.0/8');

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

/** Starts a server and returns its port. */
async function serve(listener: RequestListener, { host = '127.0.0.1', port = 0, server = createServer() } = {}) {
  server.on('request', listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(port, host, resolve));
  return (server.address() as AddressInfo).port;
}

/** Status of the answer, or the failure. */
function outcome(url: string, options: OutboundOptions = {}): Promise<number | OutboundFailure> {
  return sendOutbound({ url, method: 'POST', body: Buffer.from('{}') }, options).then(
    ({ status }) => status,
    (error: unknown) => {
      if (error instanceof OutboundError) return error.failure;
      throw error;
    },
  );
}

const resolvedTo =
  (...addresses: readonly string[]) =>
  async (): Promise<LookupAddress[]> =>
    addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));

describe('addresses', () => {
  it.each(PUBLIC)('%s is public', (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });

  it.each(INSIDE)('"%s" is not public', (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it('of allowed networks are parsed from text, which fails with its name', () => {
    expect(parseNetworks('x', '')).toEqual([]);
    expect(parseNetworks('x', ' 10.0.0.0/8, fd00::/8 ')).toHaveLength(2);
    expect(() => parseNetworks('webhookNetworks', '10.0.0.0')).toThrow('webhookNetworks must be networks');
  });
});

describe('a request to an address inside', () => {
  it.each([
    'http://127.0.0.1/',
    'https://127.0.0.1/',
    'https://127.1/',
    'https://2130706433/',
    'https://0x7f.0.0.1/',
    'https://0177.0.0.1/',
    'https://[::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://169.254.169.254/latest/meta-data/',
    'https://１２７.0.0.1/',
  ])('is refused: %s', async (url) => {
    expect(await outcome(url, { allowed: parseNetworks('x', '10.0.0.0/8') })).toBe('address');
    expect(() => checkOutboundUrl(url, { allowed: parseNetworks('x', '10.0.0.0/8') })).toThrow(OutboundError);
  });

  it('is refused when one of the addresses of its host is inside, and by the real resolver', async () => {
    for (const address of INSIDE.filter((each) => each !== '' && each !== 'localhost')) {
      expect(await outcome('https://example.test/', { resolve: resolvedTo('1.1.1.1', address) })).toBe('address');
    }
    expect(await outcome('https://localhost/')).toBe('address');
  });

  it('is possible to an allowed network, and there only without TLS', async () => {
    const port = await serve((_, response) => response.writeHead(204).end());
    expect(await outcome(`http://127.0.0.1:${port}/`, { allowed: LOOPBACK })).toBe(204);
    expect(await outcome(`http://localhost:${port}/`, { allowed: LOOPBACK, resolve: resolvedTo('127.0.0.1') })).toBe(
      204,
    );
    expect(await outcome(`http://127.0.0.1:${port}/`)).toBe('protocol');
    expect(await outcome('http://example.test/', { allowed: LOOPBACK, resolve: resolvedTo('1.1.1.1') })).toBe(
      'protocol',
    );
  });
});

describe('DNS rebinding', () => {
  it('fails: the host is resolved once, and only the checked address is reached', async () => {
    const reached: string[] = [];
    const port = await serve((_, response) => {
      reached.push('checked');
      response.end();
    });
    await serve((_, response) => response.end(reached.push('inside')), { host: '127.0.0.2', port });
    const answers = ['127.0.0.1', '127.0.0.2', '127.0.0.2'];
    let lookups = 0;
    const resolve = async () => [{ address: answers[lookups++] ?? '', family: 4 }];
    const options = { allowed: parseNetworks('x', '127.0.0.1/32'), resolve };
    expect(await outcome(`http://rebind.test:${port}/`, options)).toBe(200);
    expect([lookups, reached]).toEqual([1, ['checked']]);
    expect(await outcome(`http://rebind.test:${port}/`, options)).toBe('address');
    expect(reached).toEqual(['checked']);
  });
});

describe('other refusals', () => {
  it.each([
    ['no URL', 'url'],
    ['https://user@example.test/', 'url'],
    ['https://:secret@example.test/', 'url'],
    ['file:///etc/passwd', 'protocol'],
    ['ftp://example.test/', 'protocol'],
    ['gopher://example.test/', 'protocol'],
    ['http://example.test/', 'protocol'],
  ])('of the URL %s', async (url, failure) => {
    expect(await outcome(url)).toBe(failure);
    expect(() => checkOutboundUrl(url)).toThrow(failure);
  });

  it('of a URL that is too long', async () => {
    expect(await outcome(`https://example.test/${'x'.repeat(3_000)}`)).toBe('url');
  });

  it('of a host without addresses, and of a port without a server', async () => {
    const none = async () => Promise.reject(new Error('ENOTFOUND'));
    expect(await outcome('https://nobody.test/', { resolve: none })).toBe('unresolved');
    expect(await outcome('https://nobody.test/', { resolve: resolvedTo() })).toBe('unresolved');
    expect(await outcome('http://127.0.0.1:1/', { allowed: LOOPBACK })).toBe('connection');
  });

  it.each([301, 302, 303, 307, 308])('of a redirect with %d, which is not followed', async (status) => {
    let requests = 0;
    const port = await serve((_, response) => {
      requests += 1;
      response.writeHead(status, { location: `http://127.0.0.1:${port}/other` }).end();
    });
    expect(await outcome(`http://127.0.0.1:${port}/`, { allowed: LOOPBACK })).toBe('redirect');
    expect(requests).toBe(1);
  });

  it('name no part of the URL', async () => {
    const url = 'http://127.0.0.1:1/secret-path?token=secret';
    const error = await sendOutbound({ url, method: 'GET' }, { allowed: LOOPBACK }).catch((each: unknown) => each);
    expect(error).toBeInstanceOf(OutboundError);
    expect(JSON.stringify([String(error), (error as Error).cause])).not.toContain('secret');
  });

  it('are permanent unless the network or the receiver may heal them', () => {
    const isPermanent = (failure: OutboundFailure) => new OutboundError(failure).isPermanent;
    expect((['url', 'protocol', 'address', 'redirect'] as const).every(isPermanent)).toBe(true);
    expect((['unresolved', 'timeout', 'connection'] as const).some(isPermanent)).toBe(false);
  });
});

describe('an answer', () => {
  const options = { allowed: LOOPBACK, answerBytesMax: 1_000 };

  it('has status, headers and body, after a request with its body and headers', async () => {
    const received: unknown[] = [];
    const port = await serve((request, response) => {
      const { method, url, headers } = request;
      request.setEncoding('utf8').on('data', (text) => received.push(method, url, headers['x-a'], headers.host, text));
      response.writeHead(400, { 'x-b': '2' }).end('no');
    });
    const url = `http://127.0.0.1:${port}/hook?a=1`;
    const request = { url, method: 'POST', headers: { 'x-a': '1' }, body: Buffer.from('hello') } as const;
    const { status, headers, body } = await sendOutbound(request, options);
    expect([status, headers['x-b'], body.toString()]).toEqual([400, '2', 'no']);
    expect(received).toEqual(['POST', '/hook?a=1', '1', `127.0.0.1:${port}`, 'hello']);
  });

  it('is cut at its size limit, even when it never ends', async () => {
    const port = await serve((_, response) => {
      const timer = setInterval(() => response.write('x'.repeat(600)), 1);
      response.on('close', () => clearInterval(timer));
    });
    const { status, body } = await sendOutbound({ url: `http://127.0.0.1:${port}/`, method: 'GET' }, options);
    expect([status, body.length]).toEqual([200, 1_000]);
  });

  it('ends at the time limit, in the lookup, in the headers and in the body', async () => {
    const silent = await serve(() => {});
    const dripping = await serve((_, response) => response.write('x'));
    const limited = { ...options, timeoutMs: 100 };
    expect(await outcome(`http://127.0.0.1:${silent}/`, limited)).toBe('timeout');
    expect(await outcome(`http://127.0.0.1:${dripping}/`, limited)).toBe('timeout');
    const never = () => new Promise<never>(() => {});
    expect(await outcome('https://slow.test/', { ...limited, resolve: never })).toBe('timeout');
  });

  it('ends with the signal of the caller', async () => {
    const silent = await serve(() => {});
    const leaving = new AbortController();
    setTimeout(() => leaving.abort(new Error('left')), 50);
    const request = { url: `http://127.0.0.1:${silent}/`, method: 'GET' } as const;
    await expect(sendOutbound(request, { ...options, signal: leaving.signal })).rejects.toThrow('left');
  });

  it('over TLS needs a certificate of the host by name, although the connection goes to a checked address', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'slotbook-outbound-'));
    const file = (name: string) => path.join(folder, name);
    const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=hook.test'];
    const names = 'subjectAltName=DNS:hook.test';
    await promisify(execFile)('openssl', [...made, '-addext', names, '-keyout', file('key'), '-out', file('cert')]);
    const [key, cert] = [readFileSync(file('key'), 'utf8'), readFileSync(file('cert'), 'utf8')];
    rmSync(folder, { recursive: true });
    const port = await serve((_, response) => response.end(), { server: createTlsServer({ key, cert }) });
    const tls = { ...options, resolve: resolvedTo('127.0.0.1') };
    expect(await outcome(`https://hook.test:${port}/`, { ...tls, ca: cert })).toBe(200);
    expect(await outcome(`https://other.test:${port}/`, { ...tls, ca: cert })).toBe('connection');
    expect(await outcome(`https://hook.test:${port}/`, tls)).toBe('connection');
  });
});
