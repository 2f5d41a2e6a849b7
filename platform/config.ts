// Reads the configuration. No other file reads the environment.

import type { Config } from './config-type.ts';
import { SETTINGS, type Setting, type Value } from './settings.ts';

export type { Config } from './config-type.ts';
export { SETTINGS } from './settings.ts';

const PREFIX = 'SLOTBOOK_';

export function variableName(key: keyof Config): string {
  return PREFIX + key.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}

export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/**
 * Reads `SLOTBOOK_*` variables over the defaults; `overrides` (flags) win. Throws ConfigError for an unknown variable, or a
 * value that does not parse or is out of range.
 */
export function readConfig(
  environment: Readonly<Record<string, string | undefined>>,
  overrides: Partial<Config> = {},
): Config {
  const known = new Map(SETTINGS.map((setting) => [variableName(setting.key), setting]));
  const unknown = Object.keys(environment).filter((name) => name.startsWith(PREFIX) && !known.has(name));
  if (unknown.length > 0) throw new ConfigError(`unknown settings: ${unknown.sort().join(', ')}`);
  const values: Record<string, Value> = {};
  for (const [name, setting] of known) {
    const text = environment[name];
    values[setting.key] =
      overrides[setting.key] ?? (text === undefined ? setting.fallback : parse(name, setting, text));
  }
  const nodes = listOf(String(values.rpcUrl));
  values.rpcUrls = nodes.join(',');
  values.rpcUrl = nodes[0] ?? '';
  if (values.rpcWsUrl === '') values.rpcWsUrl = nodes.map(pubSubUrl).join(',');
  return Object.freeze(values) as unknown as Config;
}

function parse(name: string, setting: Setting, text: string): Value {
  if (typeof setting.fallback === 'number') {
    const value = Number(text);
    const { min = 0, max = Number.MAX_SAFE_INTEGER, decimals } = setting;
    const isNumber = decimals ? Number.isFinite(value) : Number.isSafeInteger(value);
    if (text.trim() === '' || !isNumber || value < min || value > max) {
      throw new ConfigError(`${name} must be a ${decimals ? '' : 'whole '}number from ${min} to ${max}, not "${text}"`);
    }
    return value;
  }
  if (setting.choices && !setting.choices.includes(text)) {
    throw new ConfigError(`${name} must be one of ${setting.choices.join(', ')}, not "${text}"`);
  }
  return text;
}

/** Whether books and trades at commitment processed run beside those at confirmed. A recording has confirmed data alone. */
export function hasProcessedBooks({ processedBooks, source }: Pick<Config, 'processedBooks' | 'source'>): boolean {
  return processedBooks === 'on' && source !== 'capture';
}

/** Entries of a setting that is a list. */
export function listOf(text: string): readonly string[] {
  return text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');
}

/** Solana's convention: PubSub listens one port above JSON-RPC; for a URL without a port, at the same host. */
export function pubSubUrl(rpcUrl: string): string {
  let url: URL;
  try {
    url = new URL(rpcUrl);
  } catch {
    throw new ConfigError('rpcUrl is not a URL');
  }
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  if (url.port !== '') url.port = String(Number(url.port) + 1);
  return url.toString();
}

/** Settings for the log: secrets appear only as set or not set, URLs lose user, password and query. */
export function describeConfig(config: Config): Record<string, Value> {
  const described: Record<string, Value> = {};
  for (const { key, secret } of SETTINGS) described[key] = secret ? redact(String(config[key])) : config[key];
  return described;
}

/** Reduces URLs in foreign text, such as an error's message, to their origins. */
export function redactUrls(text: string): string {
  return text.replace(/[a-z][a-z0-9+.-]*:\/\/\S+/gi, redact);
}

function redact(text: string): string {
  if (text === '') return '';
  if (text.includes(',')) return listOf(text).map(redact).join(',');
  try {
    return new URL(text).origin;
  } catch {
    return '(set)';
  }
}
