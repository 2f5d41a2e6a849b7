// Settings on the command line: one flag per setting, which overrides the environment. One parser checks both.

import { type Command, Option } from 'commander';
import { type Config, ConfigError, readConfig, SETTINGS, variableName } from '../platform/index.ts';

type Texts = Partial<Record<keyof Config, string>>;
type Environment = Readonly<Record<string, string | undefined>>;

/** Defaults of `dev`, which shares a machine with other programs for hours. */
export const DEV_SETTINGS: Texts = {
  logMaxMb: '1000',
  logTrimMs: '10000',
  pageMetricsUrls: 'own',
  processedBooks: 'on',
};
/** Displayed default of `dev` without a named cluster. */
const SIMULATED: Texts = { rpcUrl: 'the simulated cluster' };

/** `orderbookPort` is `orderbook-port` on the command line. */
export function flagName(key: keyof Config): string {
  return key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** Adds one flag per setting, so that the command line covers the whole environment. */
export function withSettings(command: Command, defaults: Texts = {}): Command {
  for (const { key, help, choices, fallback } of SETTINGS) {
    const displayed = defaults[key] ?? JSON.stringify(fallback);
    const option = new Option(`--${flagName(key)} <value>`, `${help} [${variableName(key)}, default ${displayed}]`);
    command.addOption(choices ? option.choices(choices) : option);
  }
  return command;
}

/** Adds the flags of `dev`, with its defaults. */
export function withDevSettings(command: Command): Command {
  return withSettings(command, { ...DEV_SETTINGS, ...SIMULATED }).option('--rpc <url>', 'the same as --rpc-url');
}

/** Flags override variables, which override `defaults`. Throws ConfigError like `readConfig`. */
export function configOf(
  flags: Readonly<Record<string, unknown>>,
  environment: Environment = process.env,
  defaults: Texts = {},
): Config {
  const said: Record<string, string | undefined> = { ...environment };
  for (const { key } of SETTINGS) {
    if (defaults[key] !== undefined) said[variableName(key)] ??= defaults[key];
    if (flags[key] !== undefined) said[variableName(key)] = String(flags[key]);
  }
  return readConfig(said);
}

export interface DevConfig {
  readonly config: Config;
  /** Whether `dev` starts the simulated cluster: no flag or variable names a real one or a capture. */
  readonly isSimulated: boolean;
}

/** Settings of `dev`. Throws ConfigError, also for a PubSub URL without a cluster. */
export function devConfigOf(
  { rpc, ...flags }: Readonly<Record<string, unknown>>,
  environment: Environment = process.env,
): DevConfig {
  if (rpc !== undefined && flags.rpcUrl !== undefined)
    throw new ConfigError('--rpc and --rpc-url are the same setting');
  const settings = rpc === undefined ? flags : { ...flags, rpcUrl: rpc };
  const config = configOf(settings, environment, DEV_SETTINGS);
  const isSaid = (key: keyof Config) => (settings[key] ?? environment[variableName(key)] ?? '') !== '';
  const isSimulated = config.source !== 'capture' && !isSaid('rpcUrl');
  if (isSimulated && isSaid('rpcWsUrl')) throw new ConfigError('rpcWsUrl needs the rpcUrl of its cluster');
  if (isSimulated && isSaid('grpcUrl')) throw new ConfigError('grpcUrl needs the rpcUrl of its cluster');
  if (isSimulated && isSaid('liveSources')) throw new ConfigError('liveSources needs the rpcUrl of its cluster');
  return { config, isSimulated };
}
