import { describe, expect, it } from 'vitest';
import { ConfigError, describeConfig, pubSubUrl, readConfig, SETTINGS, variableName } from './config.ts';

describe('configuration', () => {
  it('reads every setting from its own variable', () => {
    for (const setting of SETTINGS) {
      const text =
        setting.choices?.at(-1) ?? (typeof setting.fallback === 'number' ? String(setting.max) : 'http://host:1234/');
      const config = readConfig({ [variableName(setting.key)]: text });
      expect(String(config[setting.key]), variableName(setting.key)).toBe(text);
    }
  });

  it('names variables in upper snake case with a prefix', () => {
    expect(variableName('rpcWsUrl')).toBe('SLOTBOOK_RPC_WS_URL');
  });

  it('refuses unknown variables by name and ignores those of other programs', () => {
    expect(() => readConfig({ SLOTBOOK_RPC_URI: 'x', SLOTBOOK_PROT: '1', HOME: '/' })).toThrow(
      new ConfigError('unknown settings: SLOTBOOK_PROT, SLOTBOOK_RPC_URI'),
    );
    expect(readConfig({ HOME: '/' }).orderbookPort).toBe(6969);
  });

  it.each([
    ['SLOTBOOK_ORDERBOOK_PORT', '65536'],
    ['SLOTBOOK_ORDERBOOK_PORT', '-1'],
    ['SLOTBOOK_ORDERBOOK_PORT', '80.5'],
    ['SLOTBOOK_ORDERBOOK_PORT', ''],
    ['SLOTBOOK_LOG', 'redis'],
    ['SLOTBOOK_RPC_URL', 'not a url'],
  ])('refuses %s=%s', (name, text) => {
    expect(() => readConfig({ [name]: text })).toThrow(ConfigError);
  });

  it('lets flags win over the environment', () => {
    expect(readConfig({ SLOTBOOK_HISTORY_PORT: '1' }, { historyPort: 2 }).historyPort).toBe(2);
  });

  it('derives the PubSub URL as Solana does', () => {
    expect(pubSubUrl('http://127.0.0.1:8899')).toBe('ws://127.0.0.1:8900/');
    expect(pubSubUrl('https://rpc.example/?key=1')).toBe('wss://rpc.example/?key=1');
  });

  it('hides secrets and credentials inside URLs when it is printed', () => {
    const described = describeConfig(
      readConfig({
        SLOTBOOK_CLICKHOUSE_PASSWORD: 'hunter2',
        SLOTBOOK_RPC_URL: 'https://u:hunter2@rpc.example/hunter2?k=hunter2',
      }),
    );
    expect(JSON.stringify(described)).not.toContain('hunter2');
    expect(described.rpcUrl).toBe('https://rpc.example');
  });
});
