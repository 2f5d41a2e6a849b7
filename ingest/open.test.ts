import { describe, expect, it } from 'vitest';
import { readConfig, silentLogger } from '../platform/index.ts';
import { loadDefinition } from '../schemas/index.ts';
import { openForks, openSource } from './open.ts';

const definition = loadDefinition('velocity');

describe('live sources', () => {
  const open = (liveSources: string) =>
    openSource(readConfig({}, { liveSources, rpcUrl: 'https://node.example:1/secret' }), definition, silentLogger());

  it('have the names of their hosts, and never a token', () => {
    const source = open(
      'grpc:https://one.example:2/token?key=x, grpc:http://one.example:2, pubsub:wss://two.example/token,pubsub',
    );
    expect(source.reports?.().map(({ kind, name, role }) => [kind, name, role])).toEqual([
      ['grpc', 'one.example:2', 'down'],
      ['grpc', 'one.example:2#2', 'down'],
      ['pubsub', 'two.example', 'down'],
      ['pubsub', 'node.example:2', 'down'],
    ]);
  });

  it('are one source by default, which reports nothing of others', () => {
    expect(open('').reports).toBeUndefined();
  });

  it.each(['rpc', 'grpc', 'grpc:one.example:2', 'grpc:wss://one.example', 'pubsub:https://one.example', 'capture'])(
    'are refused when an entry is "%s"',
    (entry) => {
      expect(() => open(entry)).toThrow('liveSources takes grpc:https://host:port and pubsub[:wss://host]');
    },
  );
});

describe('authorities of gRPC servers', () => {
  it('must stand in a file that can be read', () => {
    const config = readConfig({}, { source: 'grpc', grpcUrl: 'https://one.example:2', grpcCaFile: '/absent/ca.pem' });
    expect(() => openSource(config, definition, silentLogger())).toThrow('grpcCaFile cannot be read');
  });
});

describe('the stream at processed', () => {
  /** Servers that the first connections go to: nobody listens there, so each one names its server. */
  const triedBy = (settings: Record<string, string>) => {
    const config = readConfig({}, { rpcUrl: 'http://127.0.0.1:1', rpcWsUrl: 'ws://127.0.0.1:2', ...settings });
    const open = openForks(config, definition);
    const parts = {
      books: { news: () => {}, account: () => {} },
      trades: { take: () => {} },
      silenceMs: 60_000,
      signal: new AbortController().signal,
    };
    const tries = [0, 1, 2].map((attempt) => open(parts, attempt).run().catch(String));
    return Promise.all(tries).then((reasons) =>
      reasons.map((reason) => Number(/127\.0\.0\.1:(\d+)/.exec(reason)?.[1])),
    );
  };

  it.each([
    ['rpcWsUrl', {}, [2, 2, 2]],
    ['grpcUrl, with a gRPC source', { source: 'grpc', grpcUrl: 'http://127.0.0.1:3' }, [3, 3, 3]],
    [
      'the gRPC servers of several live sources',
      { liveSources: 'pubsub,grpc:http://127.0.0.1:4,grpc:http://127.0.0.1:5' },
      [4, 5, 4],
    ],
    [
      'the PubSub servers of several live sources',
      { source: 'grpc', liveSources: 'pubsub:ws://127.0.0.1:6,pubsub' },
      [6, 2, 6],
    ],
  ])('comes from %s', async (_, settings, ports) => {
    expect(await triedBy(settings)).toEqual(ports);
  });
});
