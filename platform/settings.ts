// The table of settings, long because it is one table. docs/reference/configuration.md is generated from it.

import type { Config } from './config-type.ts';

export type Value = Config[keyof Config];

export interface Setting {
  readonly key: Exclude<keyof Config, 'rpcUrls'>;
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
const slippage = (key: Setting['key'], fallback: number, help: string): Setting => ({
  key,
  fallback,
  help: `${help} of /auctionParams`,
  min: 0,
  max: SLIPPAGE_MAX,
  decimals: true,
});

const PER_MINUTE_MAX = 1_000_000;
const perMinute = (key: Setting['key'], fallback: number, help: string): Setting => ({
  key,
  fallback,
  help: `${help}, a minute; 0 = no limit`,
  min: 0,
  max: PER_MINUTE_MAX,
});

/** Below the 60 s in which the ClickHouse client gives a request up, so that the server's answer comes first. */
const QUERY_TIMEOUT_MAX_MS = 55_000;

const PORT_MAX = 65535;
const port = (key: Setting['key'], fallback: number, help: string): Setting => ({
  key,
  fallback,
  help: `${help}; 0 = any free port`,
  min: 0,
  max: PORT_MAX,
});

/** Every setting with its default. The environment variable is `SLOTBOOK_` and the key in upper snake case. */
export const SETTINGS: readonly Setting[] = [
  { key: 'dataDir', fallback: 'data', help: 'folder of the embedded stores and endpoints.json' },
  { key: 'definition', fallback: 'velocity', help: 'chain definition: velocity, or IDL files separated by commas' },
  { key: 'vaultProgram', fallback: '', help: "id of the deployment's vault program; empty = no vaults" },
  { key: 'source', fallback: 'rpc', choices: ['rpc', 'grpc', 'capture'], help: 'source of chain data' },
  {
    key: 'rpcUrl',
    fallback: 'http://127.0.0.1:8899',
    help: 'Solana JSON-RPC; several nodes separated by commas, the preferred one first',
    secret: true,
  },
  {
    key: 'rpcWsUrl',
    fallback: '',
    help: 'Solana PubSub of the same nodes, in the same order; empty = derived from rpcUrl',
    secret: true,
  },
  {
    key: 'grpcUrl',
    fallback: '',
    help: 'Yellowstone gRPC, for source=grpc; http: or https:, several servers separated by commas; rpcUrl stays needed',
    secret: true,
  },
  { key: 'grpcToken', fallback: '', help: 'token for grpcUrl, sent as x-token; empty = none', secret: true },
  {
    key: 'grpcCaFile',
    fallback: '',
    help: 'PEM file with the authorities of gRPC servers, for a private one; empty = those that Node.js knows',
  },
  {
    key: 'liveSources',
    fallback: '',
    help: 'live sources at once, as grpc:https://host:port,grpc:https://other:port,pubsub:wss://host; pubsub alone takes rpcWsUrl; empty = the one of source',
    secret: true,
  },
  {
    key: 'rpcRequestsPerSecond',
    fallback: 0,
    min: 0,
    max: 100_000,
    help: 'requests a second to each RPC node, each item of a batch counted; 0 = no limit',
  },
  {
    key: 'rpcBackfillBlocksPerSecond',
    fallback: 20,
    min: 1,
    max: 10_000,
    help: 'blocks a second that a backfill reads at most',
  },
  {
    key: 'readBackSignatures',
    fallback: 20_000,
    min: 0,
    max: 100_000_000,
    help: 'signatures of each program that a first start reads back; 0 = none, it begins after the newest',
  },
  { key: 'capturePath', fallback: '', help: 'capture file or folder, for source=capture' },
  { key: 'log', fallback: 'embedded', choices: ['embedded', 'kafka'], help: 'kind of event log' },
  {
    key: 'logMaxMb',
    fallback: 0,
    min: 0,
    max: 10_000_000,
    help: 'megabytes above which the embedded log removes its oldest views, then book input; 0 = no limit',
  },
  {
    key: 'logTrimMs',
    fallback: 0,
    min: 0,
    max: 3_600_000,
    help: 'how often the embedded log returns read pages to the kernel, milliseconds; 0 = never',
  },
  { key: 'kafkaBrokers', fallback: '127.0.0.1:9092', help: 'host:port list, for log=kafka' },
  { key: 'kafkaTopicPrefix', fallback: '', help: 'prefix of every topic name' },
  { key: 'kafkaSsl', fallback: 'off', choices: ['off', 'on'], help: 'TLS to the Kafka brokers' },
  {
    key: 'kafkaSslCaFile',
    fallback: '',
    help: "PEM file, authority of the brokers' certificates; empty = the system's authorities",
  },
  { key: 'kafkaSslCertFile', fallback: '', help: 'PEM file, client certificate for the Kafka brokers; empty = none' },
  { key: 'kafkaSslKeyFile', fallback: '', help: 'PEM file, private key of kafkaSslCertFile' },
  {
    key: 'kafkaSaslMechanism',
    fallback: 'none',
    choices: ['none', 'plain', 'scram-sha-256', 'scram-sha-512'],
    help: 'login method at the Kafka brokers',
  },
  { key: 'kafkaSaslUser', fallback: '', help: 'user for the Kafka login' },
  { key: 'kafkaSaslPasswordFile', fallback: '', help: 'file with the password for the Kafka login' },
  {
    key: 'kafkaPatienceMs',
    fallback: 60_000,
    min: 1_000,
    max: 3_600_000,
    help: 'how long a Kafka request is retried before its role waits for the brokers and restarts, milliseconds',
  },
  {
    key: 'schemaRegistryUrl',
    fallback: '',
    help: 'Confluent schema registry, the same for all processes; records then carry its ids',
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
    help: 'replicas of the cluster that must store a block before the sink commits it; 0 = the majority',
  },
  {
    key: 'queryTimeoutMs',
    fallback: 20_000,
    min: 1000,
    max: QUERY_TIMEOUT_MAX_MS,
    help: 'a query of the history service that takes longer is answered with 503, milliseconds',
  },
  { key: 'analystUser', fallback: 'analyst', help: 'read-only SQL user; empty = none' },
  {
    key: 'analystPassword',
    fallback: '',
    help: 'password of analystUser; empty = none on the managed child; required on a server',
    secret: true,
  },
  {
    key: 'host',
    fallback: 'localhost',
    help: 'address to listen on; localhost = the loopback addresses of both families, :: = every address of both',
  },
  port('orderbookPort', 6969, 'order-book REST and /ws'),
  port('gatewayPort', 6970, 'WebSocket gateway'),
  port('historyPort', 6971, 'history REST'),
  port('metricsPort', 9464, '/metrics'),
  port('pagePort', 6972, 'the page'),
  {
    key: 'pageOrderbookUrl',
    fallback: '',
    help: 'order-book REST address for browsers, for example https://books.example.com; empty = orderbookPort at the host of the page',
  },
  {
    key: 'pageGatewayUrl',
    fallback: '',
    help: 'gateway socket for browsers, for example wss://books.example.com/ws; empty = gatewayPort at the host of the page',
  },
  {
    key: 'pageHistoryUrl',
    fallback: '',
    help: 'history REST address for browsers; empty = historyPort at the host of the page',
  },
  {
    key: 'pageMetricsUrls',
    fallback: '',
    help: 'metrics addresses that the status view shows to every reader of the page, separated by commas; own = this process; empty = none',
  },
  port('localnetRpcPort', 8899, 'simulated cluster, JSON-RPC'),
  port('localnetWsPort', 8900, 'simulated cluster, PubSub'),
  port('localnetGrpcPort', 10000, 'simulated cluster, Yellowstone gRPC, for source=grpc'),
  {
    key: 'bookCommitment',
    fallback: 'confirmed',
    choices: ['confirmed', 'processed'],
    help: 'commitment of the compatible book channels; processed needs processedBooks=on',
  },
  {
    key: 'processedBooks',
    fallback: 'off',
    choices: ['off', 'on'],
    help: 'books and trades at commitment processed beside those at confirmed, with reverts and withdrawals; a capture has none',
  },
  { key: 'bookTickMs', fallback: 50, min: 0, max: 1000, help: 'conflation of the book channels, milliseconds' },
  {
    key: 'gatewayDeflate',
    fallback: 'off',
    choices: ['off', 'shared', 'dedicated'],
    help: 'deflate gateway messages, fewer bytes for more CPU; shared = each message alone, dedicated = history per client',
  },
  {
    key: 'quoteMakers',
    fallback: '',
    help: 'maker keys that may quote, separated by commas; * admits all others after the named ones; empty = any',
  },
  { key: 'perpMarketsToLoad', fallback: '', help: 'perp markets to serve, by index; both lists empty = all' },
  {
    key: 'spotMarketsToLoad',
    fallback: '',
    help: 'spot markets to serve, by index; one list alone leaves out the other type',
  },
  { key: 'ignoreList', fallback: '', help: 'user accounts whose orders no book contains, separated by commas' },
  {
    key: 'killswitchSlotDiffThreshold',
    fallback: 200,
    min: 1,
    max: 1_000_000_000,
    help: 'slots between a book and its oracle above which health_status is 4',
  },
  { key: 'perpMarketsToSkipSlotCheck', fallback: '', help: 'perp markets without that check, by index' },
  { key: 'spotMarketsToSkipSlotCheck', fallback: '', help: 'spot markets without that check, by index' },
  { key: 'vaultsPath', fallback: '', help: 'JSON file with the array for /vaults; empty = none' },
  { key: 'fundingVenuesPath', fallback: '', help: 'JSON file with the venues of external funding rates; empty = none' },
  perMinute('readsPerMinute', 0, 'history requests of an address that neither write nor are signed'),
  perMinute('writesPerMinute', 120, 'history requests of an address that write or are signed'),
  perMinute('walletRequestsPerMinute', 60, 'signed history requests of a wallet'),
  {
    key: 'trustedProxies',
    fallback: '',
    help: 'proxies (addresses, networks) whose X-Forwarded-For names the client of the history service; empty = none',
  },
  {
    key: 'exportKeepHours',
    fallback: 168,
    min: 1,
    max: 2000,
    help: 'how long statement exports and their files are kept, hours',
  },
  {
    key: 'exportUrlMinutes',
    fallback: 480,
    min: 1,
    max: 10_080,
    help: 'how long the download URL of a statement is valid, minutes; each list of exports has new ones',
  },
  {
    key: 'exportLeaseMs',
    fallback: 30_000,
    min: 500,
    max: 600_000,
    help: 'time after which another worker takes the job of a killed one, milliseconds',
  },
  { key: 'exportJobsAtOnce', fallback: 2, min: 1, max: 16, help: 'statements that one exports role builds at once' },
  {
    key: 'exportSignatures',
    fallback: 'optional',
    choices: ['optional', 'required'],
    help: 'whether export requests need wallet signatures; optional = those that are sent are checked',
  },
  {
    key: 'exportDownloadOrigin',
    fallback: '',
    help: 'origin of the history service in download URLs, as https://host; empty = protocol and host of the request',
  },
  { key: 'exportS3Bucket', fallback: '', help: 'S3 bucket of statement files; empty = the data directory' },
  { key: 'exportS3Endpoint', fallback: '', help: 'S3-compatible server; empty = AWS', secret: true },
  {
    key: 'exportS3PublicEndpoint',
    fallback: '',
    help: 'address of that server in download URLs; empty = exportS3Endpoint',
  },
  { key: 'exportS3Region', fallback: 'us-east-1', help: 'S3 region' },
  { key: 'exportS3Prefix', fallback: 'exports/', help: 'beginning of the names of statement files in the bucket' },
  {
    key: 'exportS3PathStyle',
    fallback: 'off',
    choices: ['off', 'on'],
    help: 'bucket in the path of S3 URLs instead of the host name; most servers other than AWS need it',
  },
  {
    key: 'exportS3AccessKeyId',
    fallback: '',
    help: 'S3 access key; empty = the credentials of the machine, as the AWS SDK finds them',
    secret: true,
  },
  { key: 'exportS3SecretAccessKey', fallback: '', help: 'secret of exportS3AccessKeyId', secret: true },
  {
    key: 'sinkMaxDelayMs',
    fallback: 250,
    min: 10,
    max: 60_000,
    help: 'longest wait of a row for its block, milliseconds',
  },
  { key: 'sinkMaxRows', fallback: 100_000, min: 1, max: 1_000_000, help: 'most records in one block' },
  { key: 'sampleSlots', fallback: 50, min: 1, max: 100_000, help: 'slots between two samples of every market' },
  {
    key: 'candleNoiseQuote',
    fallback: 0,
    min: 0,
    max: 1_000_000_000,
    help: 'smaller fills (quote, whole units) over 3 percent from the oracle are filtered from candles; 0 = none',
  },
  { key: 'candleNoiseExempt', fallback: '', help: 'perp markets without the candleNoiseQuote filter, by index' },
  { key: 'candleBlockedMakers', fallback: '', help: 'user accounts whose fills as maker are filtered from candles' },
  {
    key: 'auditMs',
    fallback: 5_000,
    min: 200,
    max: 600_000,
    help: 'how often ingest lists the signatures of its programs and reads oracles of other programs, milliseconds',
  },
  {
    key: 'shadowCheckMs',
    fallback: 10_000,
    min: 0,
    max: 3_600_000,
    help: 'how often books are compared with a fresh read of the chain, milliseconds; 0 = never',
  },
  { key: 'webhookSecret', fallback: '', help: 'key of webhook signatures; empty = no webhooks', secret: true },
  {
    key: 'webhookNetworks',
    fallback: '',
    help: 'networks beside the public ones that webhooks and Web Push may reach, such as 10.1.0.0/16; empty = none',
  },
  {
    key: 'pushDelivery',
    fallback: 'log',
    choices: ['log', 'send'],
    help: 'send pushes to devices, or write them to the process log',
  },
  {
    key: 'pushGatewayUrl',
    fallback: '',
    help: 'gateway that gets the pushes to phones as signed webhooks; empty = none',
    secret: true,
  },
  { key: 'vapidSubject', fallback: '', help: 'contact in Web Push requests, a mailto or https URL' },
  { key: 'vapidPublicKey', fallback: '', help: 'VAPID public key of Web Push; empty = browsers get no pushes' },
  { key: 'vapidPrivateKey', fallback: '', help: 'VAPID private key of Web Push', secret: true },
  {
    key: 'notifyFundingMin',
    fallback: 10,
    min: 0,
    max: 1_000_000_000,
    help: 'least funding payment that is notified, quote in whole units',
  },
  { key: 'slotStallMs', fallback: 5000, min: 500, max: 600_000, help: '/health is NOK after this long without a slot' },
  {
    key: 'bookSlotsBehindMax',
    fallback: 25,
    min: 1,
    max: 1_000_000_000,
    help: '/health is NOK when the served books are more slots behind the chain head',
  },
  { key: 'feeProviderUrl', fallback: '', help: 'priority-fee provider (JSON-RPC); empty = rpcUrl', secret: true },
  { key: 'feePollingMs', fallback: 5000, min: 100, max: 3_600_000, help: 'how often to request priority fees' },
  {
    key: 'lookupTables',
    fallback: 'Fpys8GRa5RBWfyeN7AaDUwFGD1zkDCA4z3t4CJLV8dfL,EiWSskK5HXnBTptiS5DH6gpAJRVNQ3cAhTKBGaiaysAb',
    help: 'address lookup tables for /tx, separated by commas; empty = none',
  },
  {
    key: 'txFeeLevel',
    fallback: 'medium',
    choices: ['min', 'low', 'medium', 'high', 'veryHigh'],
    help: 'priority-fee level of transactions that /tx builds',
  },
  {
    key: 'txFeeMax',
    fallback: 1_000_000,
    min: 0,
    max: 1_000_000_000,
    help: 'highest price of a compute unit in transactions that /tx builds, micro-lamports',
  },
  {
    key: 'oracleFeedUrl',
    fallback: '',
    help: 'latest_price URL of the oracle feed; empty = localnet path at rpcUrl',
    secret: true,
  },
  { key: 'oracleFeedToken', fallback: '', help: 'bearer token of the oracle feed', secret: true },
  { key: 'internalSecret', fallback: '', help: 'Authorization that opens /oracleLazer; empty = none', secret: true },
  { key: 'operatorDomain', fallback: '', help: 'browsers on its https subdomains may read /oracleLazer; empty = none' },
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
    help: 'least severe log level printed',
  },
];
