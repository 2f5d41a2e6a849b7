import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { ConfigError } from '../platform/index.ts';
import { configOf, devConfigOf, withDevSettings, withSettings } from './settings.ts';

const RPC = 'https://rpc.example/';
const PUBSUB = 'wss://pubsub.example/';

describe('settings of dev', () => {
  it.each<[string, Record<string, string>, Record<string, string>]>([
    ['--rpc', { rpc: RPC }, {}],
    ['--rpc-url', { rpcUrl: RPC }, {}],
    ['SLOTBOOK_RPC_URL', {}, { SLOTBOOK_RPC_URL: RPC }],
    ['--rpc over SLOTBOOK_RPC_URL', { rpc: RPC }, { SLOTBOOK_RPC_URL: 'http://other.example' }],
  ])('%s means that cluster and its PubSub', (_, flags, environment) => {
    const { config, isSimulated } = devConfigOf(flags, environment);
    expect(isSimulated).toBe(false);
    expect(config.rpcUrl).toBe(RPC);
    expect(config.rpcWsUrl).toBe('wss://rpc.example/');
  });

  it.each<[string, Record<string, string>, Record<string, string>]>([
    ['--rpc-ws-url beside --rpc', { rpc: RPC, rpcWsUrl: PUBSUB }, {}],
    ['--rpc-ws-url beside --rpc-url', { rpcUrl: RPC, rpcWsUrl: PUBSUB }, {}],
    ['SLOTBOOK_RPC_WS_URL', { rpc: RPC }, { SLOTBOOK_RPC_WS_URL: PUBSUB }],
  ])('keeps %s', (_, flags, environment) => {
    expect(devConfigOf(flags, environment).config.rpcWsUrl).toBe(PUBSUB);
  });

  it('starts the simulated cluster without a named one, and not for a capture', () => {
    expect(devConfigOf({}, {}).isSimulated).toBe(true);
    expect(devConfigOf({ source: 'capture' }, {}).isSimulated).toBe(false);
  });

  it('rejects a PubSub URL without a cluster, and a cluster named twice', () => {
    expect(() => devConfigOf({ rpcWsUrl: PUBSUB }, {})).toThrow(ConfigError);
    expect(() => devConfigOf({ rpc: RPC, rpcUrl: RPC }, {})).toThrow(ConfigError);
  });

  it('has its own defaults and shows them in its help', () => {
    const { config } = devConfigOf({}, {});
    const help = withDevSettings(new Command().configureHelp({ helpWidth: 1000 })).helpInformation();
    for (const [name, value] of [
      ['LOG_MAX_MB', config.logMaxMb],
      ['LOG_TRIM_MS', config.logTrimMs],
    ]) {
      expect(help).toContain(`[SLOTBOOK_${name}, default ${value}]`);
    }
    expect(help).toContain('[SLOTBOOK_RPC_URL, default the simulated cluster]');
    expect(devConfigOf({}, { SLOTBOOK_LOG_MAX_MB: '7' }).config.logMaxMb).toBe(7);
  });
});

describe('settings of other commands', () => {
  it('take flags before variables before the defaults in the help', () => {
    const help = withSettings(new Command().configureHelp({ helpWidth: 1000 })).helpInformation();
    expect(help).toContain('[SLOTBOOK_LOG_MAX_MB, default 0]');
    expect(configOf({}, {}).logMaxMb).toBe(0);
    const environment = { SLOTBOOK_HISTORY_PORT: '1', SLOTBOOK_METRICS_PORT: '2' };
    expect(configOf({ historyPort: '3' }, environment)).toMatchObject({ historyPort: 3, metricsPort: 2 });
  });
});
