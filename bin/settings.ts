// Settings as the command line has them: one flag each, over the environment, checked by the one parser for both.

import { type Command, Option } from 'commander';
import { type Config, ConfigError, readConfig, SETTINGS, variableName } from '../platform/index.ts';

type Texts = Partial<Record<keyof Config, string>>;
type Environment = Readonly<Record<string, string | undefined>>;

/** What `dev` sets where nobody says otherwise: it shares a machine with everything else, for hours. */
const DEV_SETTINGS: Texts = { logMaxMb: '1000', logTrimMs: '10000' };
/** What `dev` has where nobody names a cluster. */
const SIMULATED: Texts = { rpcUrl: 'the simulated cluster' };

/** One flag per setting, so that everything in the environment can be said on the command line too. */
export function withSettings(command: Command, defaults: Texts = {}): Command {
  for (const { key, help, choices, fallback } of SETTINGS) {
    const flag = key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    const shown = defaults[key] ?? JSON.stringify(fallback);
    const option = new Option(`--${flag} <value>`, `${help} [${variableName(key)}, default ${shown}]`);
    command.addOption(choices ? option.choices(choices) : option);
  }
  return command;
}

/** The flags of `dev`, with the defaults that it has. */
export function withDevSettings(command: Command): Command {
  return withSettings(command, { ...DEV_SETTINGS, ...SIMULATED }).option('--rpc <url>', 'the same as --rpc-url');
}

/** Flags over variables over `defaults`. Throws ConfigError as `readConfig` does. */
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
  /** Whether `dev` starts the simulated cluster: nobody named a real one, or a capture. */
  readonly isSimulated: boolean;
}

/** Settings of `dev`. Throws ConfigError, also for a PubSub URL that belongs to no cluster. */
export function devConfigOf(
  { rpc, ...flags }: Readonly<Record<string, unknown>>,
  environment: Environment = process.env,
): DevConfig {
  if (rpc !== undefined && flags.rpcUrl !== undefined)
    throw new ConfigError('--rpc and --rpc-url are the same setting');
  const settings = rpc === undefined ? flags : { ...flags, rpcUrl: rpc };
  const config = configOf(settings, environment, DEV_SETTINGS);
  const isSaid = (key: keyof Config) => (settings[key] ?? environment[variableName(key)] ?? '') !== '';
  const isSimulated = config.source === 'rpc' && !isSaid('rpcUrl');
  if (isSimulated && isSaid('rpcWsUrl')) throw new ConfigError('rpcWsUrl needs the rpcUrl of its cluster');
  return { config, isSimulated };
}
