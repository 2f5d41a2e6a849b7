// Every call and subscription of a node that the pipeline relies on, with the wrong uses that have an error code of their own.

/** Data that a node must have for the calls: the same accounts on both nodes, and transactions of each kind. */
export interface Subjects {
  readonly program: string;
  /** Ten accounts of the program, with the same bytes on every node. */
  readonly accounts: readonly string[];
  /** An account that writes; it pays or is written by the transactions. */
  readonly wallet: string;
  readonly signature: string;
  /** A transaction that loads keys from a lookup table. */
  readonly lookupSignature: string;
  readonly failedSignature: string;
  /** A slot with a block, which has `signature`. */
  readonly slot: number;
  /** A confirmed slot. */
  readonly tip: number;
}

export interface NodeCall {
  readonly name: string;
  readonly method: string;
  readonly params: (subjects: Subjects) => unknown;
  /** The values agree as well, because both nodes have the same accounts. */
  readonly sameValues?: true;
}

const MISSING_KEY = 'SysvarC1ock11111111111111111111111111111112';
const MISSING_SIGNATURE = '1'.repeat(64);
const FAR = 1_000_000;
const CONFIRMED = { commitment: 'confirmed' };
const V0 = { ...CONFIRMED, maxSupportedTransactionVersion: 0 };

const accountCalls: readonly NodeCall[] = [
  ...['base64', 'base64+zstd', 'jsonParsed'].map(
    (encoding): NodeCall => ({
      name: `getAccountInfo ${encoding}`,
      method: 'getAccountInfo',
      params: ({ accounts }) => [accounts[0], { ...CONFIRMED, encoding }],
      ...(encoding === 'base64' ? { sameValues: true } : {}),
    }),
  ),
  {
    name: 'getAccountInfo slice',
    method: 'getAccountInfo',
    params: ({ accounts }) => [accounts[1], { ...CONFIRMED, encoding: 'base64', dataSlice: { offset: 8, length: 16 } }],
    sameValues: true,
  },
  {
    name: 'getAccountInfo base58',
    method: 'getAccountInfo',
    params: ({ accounts }) => [accounts[1], { ...CONFIRMED, encoding: 'base58', dataSlice: { offset: 8, length: 16 } }],
    sameValues: true,
  },
  {
    name: 'getAccountInfo without an encoding',
    method: 'getAccountInfo',
    params: ({ accounts }) => [accounts[1], { ...CONFIRMED, dataSlice: { offset: 8, length: 16 } }],
    sameValues: true,
  },
  {
    name: 'getAccountInfo base58 of too much',
    method: 'getAccountInfo',
    params: ({ accounts }) => [accounts[1], { ...CONFIRMED, encoding: 'base58' }],
  },
  {
    name: 'getAccountInfo of no account',
    method: 'getAccountInfo',
    params: () => [MISSING_KEY, { ...CONFIRMED, encoding: 'base64' }],
  },
  { name: 'getAccountInfo of no key', method: 'getAccountInfo', params: () => ['0'] },
  { name: 'getAccountInfo of a short key', method: 'getAccountInfo', params: () => ['abc'] },
  { name: 'getAccountInfo of a number', method: 'getAccountInfo', params: () => [7] },
  { name: 'getAccountInfo of nothing', method: 'getAccountInfo', params: () => [] },
  {
    name: 'getAccountInfo with an unknown commitment',
    method: 'getAccountInfo',
    params: ({ accounts }) => [accounts[0], { encoding: 'base64', commitment: 'sure' }],
  },
  {
    name: 'getAccountInfo in an unknown encoding',
    method: 'getAccountInfo',
    params: ({ accounts }) => [accounts[0], { encoding: 'hex' }],
  },
  {
    name: 'getAccountInfo ahead of the node',
    method: 'getAccountInfo',
    params: ({ accounts, tip }) => [accounts[0], { ...CONFIRMED, encoding: 'base64', minContextSlot: tip + FAR }],
  },
  {
    name: 'getMultipleAccounts',
    method: 'getMultipleAccounts',
    params: ({ accounts, tip }) => [
      [...accounts.slice(0, 3), MISSING_KEY],
      { ...CONFIRMED, encoding: 'base64', minContextSlot: tip },
    ],
    sameValues: true,
  },
  {
    name: 'getMultipleAccounts of too many',
    method: 'getMultipleAccounts',
    params: ({ accounts }) => [Array.from({ length: 101 }, () => accounts[0]), { encoding: 'base64' }],
  },
  {
    name: 'getProgramAccounts',
    method: 'getProgramAccounts',
    params: ({ program }) => [program, { ...CONFIRMED, encoding: 'base64', withContext: true }],
    sameValues: true,
  },
  {
    name: 'getProgramAccounts without context',
    method: 'getProgramAccounts',
    params: ({ program }) => [program, { ...CONFIRMED, encoding: 'base64' }],
    sameValues: true,
  },
  {
    name: 'getProgramAccounts filtered',
    method: 'getProgramAccounts',
    params: ({ program }) => [
      program,
      {
        ...CONFIRMED,
        encoding: 'base64',
        withContext: true,
        filters: [{ dataSize: 1000 }, { memcmp: { offset: 0, bytes: 'AQEBAQEBAQE=', encoding: 'base64' } }],
      },
    ],
    sameValues: true,
  },
  {
    name: 'getProgramAccounts by base58',
    method: 'getProgramAccounts',
    params: ({ program }) => [
      program,
      {
        ...CONFIRMED,
        encoding: 'base64',
        filters: [{ memcmp: { offset: 8, bytes: '2' } }],
        dataSlice: { offset: 0, length: 0 },
      },
    ],
    sameValues: true,
  },
  {
    name: 'getProgramAccounts with too many filters',
    method: 'getProgramAccounts',
    params: ({ program }) => [program, { filters: Array.from({ length: 5 }, () => ({ dataSize: 1 })) }],
  },
  {
    name: 'getProgramAccounts ahead of the node',
    method: 'getProgramAccounts',
    params: ({ program, tip }) => [program, { ...CONFIRMED, encoding: 'base64', minContextSlot: tip + FAR }],
  },
  { name: 'getBalance', method: 'getBalance', params: ({ accounts }) => [accounts[0], CONFIRMED], sameValues: true },
];

const transactionCalls: readonly NodeCall[] = [
  ...(['json', 'jsonParsed', 'base64', 'base58'] as const).map(
    (encoding): NodeCall => ({
      name: `getTransaction ${encoding}`,
      method: 'getTransaction',
      params: ({ lookupSignature }) => [lookupSignature, { ...V0, encoding }],
    }),
  ),
  {
    name: 'getTransaction that failed',
    method: 'getTransaction',
    params: ({ failedSignature }) => [failedSignature, { ...V0, encoding: 'json' }],
  },
  {
    name: 'getTransaction of version 0 for an old client',
    method: 'getTransaction',
    params: ({ lookupSignature }) => [lookupSignature, CONFIRMED],
  },
  { name: 'getTransaction of none', method: 'getTransaction', params: () => [MISSING_SIGNATURE, V0] },
  {
    name: 'getTransaction at processed',
    method: 'getTransaction',
    params: ({ signature }) => [signature, { ...V0, commitment: 'processed' }],
  },
  { name: 'getTransaction of no signature', method: 'getTransaction', params: () => ['abc', V0] },
  {
    name: 'getSignaturesForAddress',
    method: 'getSignaturesForAddress',
    params: ({ wallet }) => [wallet, { ...CONFIRMED, limit: 50 }],
  },
  {
    name: 'getSignaturesForAddress before one',
    method: 'getSignaturesForAddress',
    params: ({ wallet, failedSignature, tip }) => [
      wallet,
      { ...CONFIRMED, limit: 1, before: failedSignature, minContextSlot: tip },
    ],
  },
  {
    name: 'getSignaturesForAddress of too many',
    method: 'getSignaturesForAddress',
    params: ({ wallet }) => [wallet, { limit: 1001 }],
  },
  {
    name: 'getSignaturesForAddress at processed',
    method: 'getSignaturesForAddress',
    params: ({ wallet }) => [wallet, { commitment: 'processed' }],
  },
  {
    name: 'getSignaturesForAddress ahead of the node',
    method: 'getSignaturesForAddress',
    params: ({ wallet, tip }) => [wallet, { ...CONFIRMED, minContextSlot: tip + FAR }],
  },
  {
    name: 'getSignatureStatuses',
    method: 'getSignatureStatuses',
    params: ({ signature, failedSignature }) => [[signature, failedSignature, MISSING_SIGNATURE]],
  },
];

const blockCalls: readonly NodeCall[] = [
  {
    name: 'getBlock full',
    method: 'getBlock',
    params: ({ slot }) => [slot, { ...V0, encoding: 'json', transactionDetails: 'full', rewards: false }],
  },
  {
    name: 'getBlock signatures',
    method: 'getBlock',
    params: ({ slot }) => [slot, { ...V0, transactionDetails: 'signatures', rewards: false }],
  },
  {
    name: 'getBlock none',
    method: 'getBlock',
    params: ({ slot }) => [slot, { ...V0, transactionDetails: 'none', rewards: false }],
  },
  { name: 'getBlock of the future', method: 'getBlock', params: ({ tip }) => [tip + FAR, V0] },
  {
    name: 'getBlock at processed',
    method: 'getBlock',
    params: ({ slot }) => [slot, { ...V0, commitment: 'processed' }],
  },
  { name: 'getBlock of no slot', method: 'getBlock', params: () => ['one'] },
  { name: 'getBlocks', method: 'getBlocks', params: ({ slot, tip }) => [slot, tip, CONFIRMED] },
  { name: 'getBlocks of too many', method: 'getBlocks', params: ({ slot }) => [slot, slot + FAR, CONFIRMED] },
  { name: 'getBlocksWithLimit', method: 'getBlocksWithLimit', params: ({ slot }) => [slot, 3, CONFIRMED] },
  { name: 'getBlockTime', method: 'getBlockTime', params: ({ slot }) => [slot] },
  { name: 'getBlockTime of the future', method: 'getBlockTime', params: ({ tip }) => [tip + FAR] },
];

const chainCalls: readonly NodeCall[] = [
  ...['processed', 'confirmed', 'finalized'].map(
    (commitment): NodeCall => ({ name: `getSlot ${commitment}`, method: 'getSlot', params: () => [{ commitment }] }),
  ),
  { name: 'getSlot ahead of the node', method: 'getSlot', params: ({ tip }) => [{ minContextSlot: tip + FAR }] },
  { name: 'getBlockHeight', method: 'getBlockHeight', params: () => [CONFIRMED] },
  { name: 'getLatestBlockhash', method: 'getLatestBlockhash', params: () => [CONFIRMED] },
  { name: 'isBlockhashValid', method: 'isBlockhashValid', params: () => [MISSING_KEY, CONFIRMED] },
  { name: 'getEpochInfo', method: 'getEpochInfo', params: () => [CONFIRMED] },
  { name: 'getEpochSchedule', method: 'getEpochSchedule', params: () => [] },
  { name: 'getFirstAvailableBlock', method: 'getFirstAvailableBlock', params: () => [] },
  { name: 'minimumLedgerSlot', method: 'minimumLedgerSlot', params: () => [] },
  { name: 'getGenesisHash', method: 'getGenesisHash', params: () => [] },
  { name: 'getHealth', method: 'getHealth', params: () => [] },
  { name: 'getIdentity', method: 'getIdentity', params: () => [] },
  { name: 'getVersion', method: 'getVersion', params: () => [] },
  { name: 'getTransactionCount', method: 'getTransactionCount', params: () => [CONFIRMED] },
  { name: 'getRecentPrioritizationFees', method: 'getRecentPrioritizationFees', params: ({ wallet }) => [[wallet]] },
  {
    name: 'getMinimumBalanceForRentExemption',
    method: 'getMinimumBalanceForRentExemption',
    params: () => [1000],
    sameValues: true,
  },
  { name: 'an unknown method', method: 'getWeather', params: () => [] },
  { name: 'parameters by name', method: 'getSlot', params: () => ({ commitment: 'confirmed' }) },
];

export const CALLS: readonly NodeCall[] = [...accountCalls, ...transactionCalls, ...blockCalls, ...chainCalls];

export interface NodeSubscription {
  readonly name: string;
  readonly kind: string;
  /** `program` and `wallet` change while the notifications are collected. */
  readonly params: (changing: { readonly program: string; readonly wallet: string }) => unknown[];
}

const LEVELS = ['processed', 'confirmed'] as const;

export const SUBSCRIPTIONS: readonly NodeSubscription[] = [
  ...LEVELS.flatMap((commitment): NodeSubscription[] => [
    {
      name: `program at ${commitment}`,
      kind: 'program',
      params: ({ program }) => [program, { commitment, encoding: 'base64' }],
    },
    {
      name: `account at ${commitment}`,
      kind: 'account',
      params: ({ wallet }) => [wallet, { commitment, encoding: 'base64+zstd' }],
    },
    { name: `logs at ${commitment}`, kind: 'logs', params: ({ wallet }) => [{ mentions: [wallet] }, { commitment }] },
  ]),
  { name: 'all logs', kind: 'logs', params: () => ['all', { commitment: 'confirmed' }] },
  { name: 'slot', kind: 'slot', params: () => [] },
  { name: 'root', kind: 'root', params: () => [] },
  { name: 'slotsUpdates', kind: 'slotsUpdates', params: () => [] },
];
