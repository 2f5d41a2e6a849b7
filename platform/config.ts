// Typed configuration: one table of settings, read in one place. Nothing else reads the environment.

export interface Config {
  readonly dataDir: string;
  /** Chain definition: `velocity`, or paths of Anchor IDL files separated by commas. */
  readonly definition: string;
  /** Id of the deployment's vault program; empty: vaults are not read. */
  readonly vaultProgram: string;
  readonly source: 'rpc' | 'capture';
  readonly rpcUrl: string;
  readonly rpcWsUrl: string;
  readonly capturePath: string;
  readonly log: 'embedded' | 'kafka';
  /** Size of the embedded log's records from which on the oldest of some topics go; 0: none. */
  readonly logMaxMb: number;
  /** How often mapped pages of the embedded log are given back; 0: never. */
  readonly logTrimMs: number;
  readonly kafkaBrokers: string;
  readonly kafkaTopicPrefix: string;
  readonly schemaRegistryUrl: string;
  /** Empty: a managed child process. */
  readonly clickhouseUrl: string;
  readonly clickhouseUser: string;
  readonly clickhousePassword: string;
  readonly clickhouseDatabase: string;
  readonly clickhouseCluster: string;
  /** Replicas of the cluster that must have a block before it counts as stored; 0: the majority. */
  readonly clickhouseQuorum: number;
  /** Read-only SQL user of the managed child, and of a server after `slotbook sql-user`; empty: none. */
  readonly analystUser: string;
  readonly analystPassword: string;
  readonly host: string;
  readonly orderbookPort: number;
  readonly gatewayPort: number;
  readonly historyPort: number;
  readonly metricsPort: number;
  readonly localnetRpcPort: number;
  readonly localnetWsPort: number;
  readonly bookTickMs: number;
  /** Whether the gateway deflates messages to clients that take it: `off`, `shared` or `dedicated`. */
  readonly gatewayDeflate: string;
  /** Market indexes that the order-book server and its gateway serve, separated by commas; both empty: all. */
  readonly perpMarketsToLoad: string;
  readonly spotMarketsToLoad: string;
  /** User accounts whose orders stand in no book, separated by commas. */
  readonly ignoreList: string;
  /** The most slots that a book and its oracle may be apart. */
  readonly killswitchSlotDiffThreshold: number;
  /** Indexes of markets to which that does not apply, separated by commas. */
  readonly perpMarketsToSkipSlotCheck: string;
  readonly spotMarketsToSkipSlotCheck: string;
  /** Keys that may send indicative quotes, separated by commas; empty: any key that proves itself. */
  readonly quoteMakers: string;
  /** JSON file with the array that /vaults answers; empty: no vaults. */
  readonly vaultsPath: string;
  /** JSON file with the venues of /stats/fundingRates/external; empty: none. */
  readonly fundingVenuesPath: string;
  readonly sinkMaxDelayMs: number;
  readonly sinkMaxRows: number;
  /** Slots between two samples of every market, and between two block times asked for. */
  readonly sampleSlots: number;
  /** Fills of less quote, in whole units, that are far from the oracle make no candle; 0: all do. */
  readonly candleNoiseQuote: number;
  /** Perp market indexes to which that does not apply, separated by commas. */
  readonly candleNoiseExempt: string;
  /** Makers whose fills make no candle: keys of user accounts, separated by commas. */
  readonly candleBlockedMakers: string;
  readonly slotStallMs: number;
  readonly shadowCheckMs: number;
  /** JSON-RPC that answers getPriorityFeeEstimate; empty: rpcUrl. */
  readonly feeProviderUrl: string;
  readonly feePollingMs: number;
  /** `latest_price` operation of the oracle feed; empty: the path at which the localnet answers it under rpcUrl. */
  readonly oracleFeedUrl: string;
  readonly oracleFeedToken: string;
  /** Value of `Authorization` that opens /oracleLazer; empty: none does. */
  readonly internalSecret: string;
  /** Domain on whose subdomains browsers may read /oracleLazer; empty: none may. */
  readonly operatorDomain: string;
  /** Perp market indexes of the first and second slippage tier, separated by commas. */
  readonly majorMarkets: string;
  readonly midMajorMarkets: string;
  /** Dynamic slippage, percent; multipliers are plain factors. */
  readonly dynamicBaseSlippageMajor: number;
  readonly dynamicBaseSlippageMidMajor: number;
  readonly dynamicBaseSlippageNonMajor: number;
  readonly dynamicSlippageMultiplierMajor: number;
  readonly dynamicSlippageMultiplierMidMajor: number;
  readonly dynamicSlippageMultiplierNonMajor: number;
  readonly dynamicSlippageMin: number;
  readonly dynamicSlippageMax: number;
  readonly dynamicCrossSpreadCap: number;
  readonly logLevel: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent';
}

type Value = Config[keyof Config];

interface Setting {
  readonly key: keyof Config;
  readonly fallback: Value;
  readonly help: string;
  readonly choices?: readonly string[];
  readonly min?: number;
  readonly max?: number;
  /** The value may have decimals. */
  readonly decimals?: true;
  readonly secret?: boolean;
}

const SLIPPAGE_MAX = 99;
const slippage = (key: keyof Config, fallback: number, help: string): Setting => ({
  key,
  fallback,
  help: `${help} of /auctionParams`,
  min: 0,
  max: SLIPPAGE_MAX,
  decimals: true,
});

const PORT_MAX = 65535;
const port = (key: keyof Config, fallback: number, help: string): Setting => ({
  key,
  fallback,
  help: `${help}; 0 = any free port`,
  min: 0,
  max: PORT_MAX,
});

/** Every setting with its default. The environment variable is `SLOTBOOK_` and the key in upper snake case. */
export const SETTINGS: readonly Setting[] = [
  { key: 'dataDir', fallback: 'data', help: 'where the embedded stores and endpoints.json live' },
  { key: 'definition', fallback: 'velocity', help: 'chain definition: velocity, or IDL files separated by commas' },
  { key: 'vaultProgram', fallback: '', help: "id of the deployment's vault program; empty = vaults are not read" },
  { key: 'source', fallback: 'rpc', choices: ['rpc', 'capture'], help: 'what to ingest from' },
  { key: 'rpcUrl', fallback: 'http://127.0.0.1:8899', help: 'Solana JSON-RPC', secret: true },
  { key: 'rpcWsUrl', fallback: '', help: 'Solana PubSub; empty = derived from rpcUrl', secret: true },
  { key: 'capturePath', fallback: '', help: 'capture file or folder, for source=capture' },
  { key: 'log', fallback: 'embedded', choices: ['embedded', 'kafka'], help: 'which event log' },
  {
    key: 'logMaxMb',
    fallback: 0,
    min: 0,
    max: 10_000_000,
    help: 'megabytes of the embedded log from which on its oldest views, then book input, go; 0 = no cap',
  },
  {
    key: 'logTrimMs',
    fallback: 0,
    min: 0,
    max: 3_600_000,
    help: 'how often read pages of the embedded log leave resident memory, milliseconds; 0 = never',
  },
  { key: 'kafkaBrokers', fallback: '127.0.0.1:9092', help: 'host:port list, for log=kafka' },
  { key: 'kafkaTopicPrefix', fallback: '', help: 'put before every topic name' },
  {
    key: 'schemaRegistryUrl',
    fallback: '',
    help: 'Confluent schema registry; records then carry its ids; the same for all processes',
    secret: true,
  },
  { key: 'clickhouseUrl', fallback: '', help: 'ClickHouse HTTP URL; empty = managed child process', secret: true },
  { key: 'clickhouseUser', fallback: 'default', help: 'ClickHouse user' },
  { key: 'clickhousePassword', fallback: '', help: 'ClickHouse password', secret: true },
  { key: 'clickhouseDatabase', fallback: 'slotbook', help: 'ClickHouse database' },
  { key: 'clickhouseCluster', fallback: '', help: 'cluster name for replicated tables; empty = one server' },
  {
    key: 'clickhouseQuorum',
    fallback: 0,
    min: 0,
    max: 100,
    help: 'replicas of the cluster that must have a block before the sink goes on; 0 = the majority',
  },
  { key: 'analystUser', fallback: 'analyst', help: 'read-only SQL user; empty = none' },
  {
    key: 'analystPassword',
    fallback: '',
    help: 'its password; empty = none on the managed child, a user of a server needs one',
    secret: true,
  },
  { key: 'host', fallback: '127.0.0.1', help: 'address to listen on' },
  port('orderbookPort', 6969, 'order-book REST and /ws'),
  port('gatewayPort', 6970, 'WebSocket gateway'),
  port('historyPort', 6971, 'history REST'),
  port('metricsPort', 9464, '/metrics'),
  port('localnetRpcPort', 8899, 'simulated cluster, JSON-RPC'),
  port('localnetWsPort', 8900, 'simulated cluster, PubSub'),
  { key: 'bookTickMs', fallback: 50, min: 0, max: 1000, help: 'conflation of the book channels, milliseconds' },
  {
    key: 'gatewayDeflate',
    fallback: 'off',
    choices: ['off', 'shared', 'dedicated'],
    help: 'deflate messages of the gateway: fewer bytes, more processor; shared = each by itself, dedicated = a history a client',
  },
  {
    key: 'quoteMakers',
    fallback: '',
    help: 'maker keys that may quote, separated by commas; with * anybody else too, the named ones first; empty = any',
  },
  { key: 'perpMarketsToLoad', fallback: '', help: 'perp markets that are served, by index; both lists empty = all' },
  {
    key: 'spotMarketsToLoad',
    fallback: '',
    help: 'spot markets that are served; one list alone leaves out the other type',
  },
  { key: 'ignoreList', fallback: '', help: 'user accounts whose orders stand in no book, separated by commas' },
  {
    key: 'killswitchSlotDiffThreshold',
    fallback: 200,
    min: 1,
    max: 1_000_000_000,
    help: 'slots between a book and its oracle beyond which health_status is 4',
  },
  { key: 'perpMarketsToSkipSlotCheck', fallback: '', help: 'perp markets whose oracle may be further off, by index' },
  { key: 'spotMarketsToSkipSlotCheck', fallback: '', help: 'spot markets whose oracle may be further off, by index' },
  { key: 'vaultsPath', fallback: '', help: 'JSON file with the array of /vaults; empty = none' },
  { key: 'fundingVenuesPath', fallback: '', help: 'JSON file with the venues of external funding rates; empty = none' },
  { key: 'sinkMaxDelayMs', fallback: 250, min: 10, max: 60_000, help: 'longest a row waits before its block is sent' },
  { key: 'sinkMaxRows', fallback: 100_000, min: 1, max: 1_000_000, help: 'most records in one block' },
  { key: 'sampleSlots', fallback: 50, min: 1, max: 100_000, help: 'slots between two samples of every market' },
  {
    key: 'candleNoiseQuote',
    fallback: 0,
    min: 0,
    max: 1_000_000_000,
    help: 'fills of less quote that are over 3 percent from the oracle make no candle; 0 = all do',
  },
  { key: 'candleNoiseExempt', fallback: '', help: 'perp markets to which candleNoiseQuote does not apply, by index' },
  { key: 'candleBlockedMakers', fallback: '', help: 'user accounts whose fills as maker make no candle' },
  {
    key: 'shadowCheckMs',
    fallback: 10_000,
    min: 0,
    max: 3_600_000,
    help: 'how often the books are compared with a fresh read of the chain, milliseconds; 0 = never',
  },
  { key: 'slotStallMs', fallback: 5000, min: 500, max: 600_000, help: 'no slot for this long means NOK' },
  { key: 'feeProviderUrl', fallback: '', help: 'priority-fee provider (JSON-RPC); empty = rpcUrl', secret: true },
  { key: 'feePollingMs', fallback: 5000, min: 100, max: 3_600_000, help: 'how often priority fees are asked for' },
  {
    key: 'oracleFeedUrl',
    fallback: '',
    help: 'oracle feed latest_price; empty = localnet path at rpcUrl',
    secret: true,
  },
  { key: 'oracleFeedToken', fallback: '', help: 'bearer token of the oracle feed', secret: true },
  { key: 'internalSecret', fallback: '', help: 'Authorization that opens /oracleLazer; empty = none', secret: true },
  { key: 'operatorDomain', fallback: '', help: 'https subdomains of it may read /oracleLazer; empty = none' },
  { key: 'majorMarkets', fallback: '0,1,2', help: 'perp markets with the narrowest auctions, separated by commas' },
  { key: 'midMajorMarkets', fallback: '4,9,13,23,59,76', help: 'perp markets of the middle slippage tier' },
  slippage('dynamicBaseSlippageMajor', 0, 'base slippage of major markets, percent,'),
  slippage('dynamicBaseSlippageMidMajor', 0.25, 'base slippage of mid-major markets, percent,'),
  slippage('dynamicBaseSlippageNonMajor', 0.5, 'base slippage of other markets, percent,'),
  slippage('dynamicSlippageMultiplierMajor', 1.1, 'slippage factor of major markets'),
  slippage('dynamicSlippageMultiplierMidMajor', 1.25, 'slippage factor of mid-major markets'),
  slippage('dynamicSlippageMultiplierNonMajor', 1.5, 'slippage factor of other markets'),
  slippage('dynamicSlippageMin', 0.035, 'least dynamic slippage, percent,'),
  slippage('dynamicSlippageMax', 5, 'greatest dynamic slippage, percent,'),
  slippage('dynamicCrossSpreadCap', 0.1, 'greatest spread part of a crossed book, percent,'),
  {
    key: 'logLevel',
    fallback: 'info',
    choices: ['trace', 'debug', 'info', 'warn', 'error', 'silent'],
    help: 'least severe line printed',
  },
];

const PREFIX = 'SLOTBOOK_';

export function variableName(key: keyof Config): string {
  return PREFIX + key.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase();
}

export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/**
 * Reads `SLOTBOOK_*` variables over the defaults; `overrides` (flags) win.
 * Throws ConfigError for an unknown variable, a value that does not parse, or one out of range.
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
  if (values.rpcWsUrl === '') values.rpcWsUrl = pubSubUrl(String(values.rpcUrl));
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

/** Solana's convention: PubSub listens one port above JSON-RPC when a port is named, else on the same host. */
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

/** Settings as printed at start: secrets are shown only as set or not set; URLs lose user, password and query. */
export function describeConfig(config: Config): Record<string, Value> {
  const shown: Record<string, Value> = {};
  for (const { key, secret } of SETTINGS) shown[key] = secret ? redact(String(config[key])) : config[key];
  return shown;
}

/** What others wrote about a request (an error's message), with no more of its URLs than their origins. */
export function redactUrls(text: string): string {
  return text.replace(/[a-z][a-z0-9+.-]*:\/\/\S+/gi, redact);
}

function redact(text: string): string {
  if (text === '') return '';
  try {
    return new URL(text).origin;
  } catch {
    return '(set)';
  }
}
