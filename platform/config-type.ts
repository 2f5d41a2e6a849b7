// The type of the configuration: one member for each setting of settings.ts, and what readConfig derives.

export interface Config {
  readonly dataDir: string;
  /** Chain definition: `velocity`, or paths of Anchor IDL files separated by commas. */
  readonly definition: string;
  /** Id of the deployment's vault program; empty: no vaults. */
  readonly vaultProgram: string;
  readonly source: 'rpc' | 'grpc' | 'capture';
  /** First node of rpcUrls. */
  readonly rpcUrl: string;
  /** All nodes of the setting rpcUrl, in the order of preference, separated by commas. */
  readonly rpcUrls: string;
  /** PubSub of the same nodes, separated by commas. */
  readonly rpcWsUrl: string;
  /** Yellowstone gRPC servers, in turn, separated by commas. */
  readonly grpcUrl: string;
  readonly grpcToken: string;
  readonly grpcCaFile: string;
  /** Live sources that run at once, separated by commas; empty: the one of `source`. */
  readonly liveSources: string;
  /** Requests a second to each node; 0: no limit. */
  readonly rpcRequestsPerSecond: number;
  /** Blocks a second that a backfill reads at most. */
  readonly rpcBackfillBlocksPerSecond: number;
  /** Signatures per program that a first start reads back. */
  readonly readBackSignatures: number;
  readonly capturePath: string;
  readonly log: 'embedded' | 'kafka';
  /** Size of the embedded log's records above which it removes the oldest of some topics; 0: no limit. */
  readonly logMaxMb: number;
  /** How often the embedded log returns mapped pages to the kernel; 0: never. */
  readonly logTrimMs: number;
  readonly kafkaBrokers: string;
  readonly kafkaTopicPrefix: string;
  readonly kafkaSsl: 'off' | 'on';
  /** PEM files: authority of the brokers' certificates (empty: the system's), and this client's certificate (empty: none). */
  readonly kafkaSslCaFile: string;
  readonly kafkaSslCertFile: string;
  readonly kafkaSslKeyFile: string;
  readonly kafkaSaslMechanism: 'none' | 'plain' | 'scram-sha-256' | 'scram-sha-512';
  readonly kafkaSaslUser: string;
  readonly kafkaSaslPasswordFile: string;
  readonly kafkaPatienceMs: number;
  readonly schemaRegistryUrl: string;
  /** Empty: a managed child process. */
  readonly clickhouseUrl: string;
  readonly clickhouseUser: string;
  readonly clickhousePassword: string;
  readonly clickhouseDatabase: string;
  readonly clickhouseCluster: string;
  /** Replicas of the cluster that must store a block before the sink commits it; 0: the majority. */
  readonly clickhouseQuorum: number;
  /** A query of the history service that takes longer is answered with 503. */
  readonly queryTimeoutMs: number;
  /** Read-only SQL user of the managed child, and of a server after `slotbook sql-user`; empty: none. */
  readonly analystUser: string;
  readonly analystPassword: string;
  readonly host: string;
  readonly orderbookPort: number;
  readonly gatewayPort: number;
  readonly historyPort: number;
  readonly metricsPort: number;
  readonly pagePort: number;
  /** Public addresses that browsers use, for a deployment behind a proxy; empty: the ports at the host of the page. */
  readonly pageOrderbookUrl: string;
  readonly pageGatewayUrl: string;
  readonly pageHistoryUrl: string;
  /** Metrics addresses of the status view, separated by commas; `own`: this process; empty: none. */
  readonly pageMetricsUrls: string;
  readonly localnetRpcPort: number;
  readonly localnetWsPort: number;
  readonly localnetGrpcPort: number;
  readonly bookTickMs: number;
  readonly bookCommitment: string;
  readonly processedBooks: string;
  /** Compression of gateway messages for clients that support it: `off`, `shared` or `dedicated`. */
  readonly gatewayDeflate: string;
  /** Market indexes that the order-book server and its gateway serve, separated by commas; both empty: all. */
  readonly perpMarketsToLoad: string;
  readonly spotMarketsToLoad: string;
  /** User accounts whose orders no book contains, separated by commas. */
  readonly ignoreList: string;
  /** Most slots between a book and its oracle. */
  readonly killswitchSlotDiffThreshold: number;
  /** Indexes of markets without that check, separated by commas. */
  readonly perpMarketsToSkipSlotCheck: string;
  readonly spotMarketsToSkipSlotCheck: string;
  /** Keys that may send indicative quotes, separated by commas; empty: any key with a valid signature. */
  readonly quoteMakers: string;
  /** JSON file with the array for /vaults; empty: no vaults. */
  readonly vaultsPath: string;
  /** JSON file with the venues of /stats/fundingRates/external; empty: none. */
  readonly fundingVenuesPath: string;
  /** Requests a minute of one client address to the history service; 0: no limit. */
  readonly readsPerMinute: number;
  /** The same for requests that write or are signed. */
  readonly writesPerMinute: number;
  /** Signed requests a minute of one wallet; 0: no limit. */
  readonly walletRequestsPerMinute: number;
  /** Addresses and networks of proxies, separated by commas, whose `X-Forwarded-For` names the client. */
  readonly trustedProxies: string;
  /** How long statement exports and their files are kept, and how long a download URL is valid. */
  readonly exportKeepHours: number;
  readonly exportUrlMinutes: number;
  /** How long a worker has an export job without a renewal. */
  readonly exportLeaseMs: number;
  readonly exportJobsAtOnce: number;
  /** Whether export requests must have wallet signatures. */
  readonly exportSignatures: 'optional' | 'required';
  /** Origin of the history service in download URLs; empty: that of the request. */
  readonly exportDownloadOrigin: string;
  /** S3-compatible storage of export files; an empty bucket: the data directory. */
  readonly exportS3Bucket: string;
  readonly exportS3Endpoint: string;
  readonly exportS3PublicEndpoint: string;
  readonly exportS3Region: string;
  readonly exportS3Prefix: string;
  readonly exportS3PathStyle: 'off' | 'on';
  readonly exportS3AccessKeyId: string;
  readonly exportS3SecretAccessKey: string;
  readonly sinkMaxDelayMs: number;
  readonly sinkMaxRows: number;
  /** Slots between two samples of every market, and between two requests for a block time. */
  readonly sampleSlots: number;
  /** Fills below this quote amount, in whole units, that are far from the oracle are filtered from candles; 0: none. */
  readonly candleNoiseQuote: number;
  /** Perp market indexes without that filter, separated by commas. */
  readonly candleNoiseExempt: string;
  /** Makers whose fills are filtered from candles: keys of user accounts, separated by commas. */
  readonly candleBlockedMakers: string;
  /** Address lookup tables of the exchange, separated by commas; empty: transactions name every key. */
  readonly lookupTables: string;
  /** Fee level of built transactions, and the highest price of a compute unit, micro-lamports. */
  readonly txFeeLevel: 'min' | 'low' | 'medium' | 'high' | 'veryHigh';
  readonly txFeeMax: number;
  /** Key of webhook signatures; empty: no webhooks. */
  readonly webhookSecret: string;
  /** Networks beside the public ones that pushes may reach, separated by commas. */
  readonly webhookNetworks: string;
  /** `log` writes pushes to the process log instead of sending them. */
  readonly pushDelivery: 'log' | 'send';
  /** The operator's own gateway for pushes to phones; empty: phones get none. */
  readonly pushGatewayUrl: string;
  /** Keys of Web Push; empty: browsers get no pushes. */
  readonly vapidSubject: string;
  readonly vapidPublicKey: string;
  readonly vapidPrivateKey: string;
  /** Least funding payment that is notified, quote in whole units. */
  readonly notifyFundingMin: number;
  readonly slotStallMs: number;
  /** Slots that the served books may be behind the chain head before `/health` answers NOK. */
  readonly bookSlotsBehindMax: number;
  readonly auditMs: number;
  readonly shadowCheckMs: number;
  /** JSON-RPC server with getPriorityFeeEstimate; empty: rpcUrl. */
  readonly feeProviderUrl: string;
  readonly feePollingMs: number;
  /** `latest_price` operation of the oracle feed; empty: the localnet's path under rpcUrl. */
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
