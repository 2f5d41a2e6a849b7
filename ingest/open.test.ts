import { describe, expect, it } from 'vitest';
import { readConfig, silentLogger } from '../platform/index.ts';
import { loadDefinition } from '../schemas/index.ts';
import { openSource } from './open.ts';

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
