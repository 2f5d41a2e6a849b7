// Every call of a node that the pipeline relies on, with the wrong uses that have an error code of their own.

import { CONFIRMED, FAKE_KIND, FAR, FINALIZED, MISSING_KEY, type NodeCall } from './call.ts';
import { blockCalls, transactionCalls } from './history-calls.ts';

/** As ingest reads the accounts of a kind: two filters in base58, and data packed by zstd. */
const PACKED = {
  ...CONFIRMED,
  encoding: 'base64+zstd',
  withContext: true,
  filters: [{ memcmp: { offset: 0, bytes: FAKE_KIND } }, { memcmp: { offset: 24, bytes: '1' } }],
};

const accountCalls: readonly NodeCall[] = [
  ...['base64', 'base64+zstd', 'jsonParsed'].map(
    (encoding): NodeCall => ({
      name: `getAccountInfo ${encoding}`,
      method: 'getAccountInfo',
      params: ({ accounts }) => [accounts[0], { ...CONFIRMED, encoding }],
      ...(encoding === 'jsonParsed' ? {} : { sameValues: true }),
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
    name: 'getMultipleAccounts ahead of the node',
    method: 'getMultipleAccounts',
    params: ({ accounts, tip }) => [
      accounts.slice(0, 3),
      { ...CONFIRMED, encoding: 'base64', minContextSlot: tip + FAR },
    ],
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
    name: 'getProgramAccounts of a kind, packed',
    method: 'getProgramAccounts',
    params: ({ program, tip }) => [program, { ...PACKED, minContextSlot: tip }],
    sameValues: true,
  },
  {
    name: 'getProgramAccounts of a kind, packed, at finalized',
    method: 'getProgramAccounts',
    params: ({ program }) => [program, { ...PACKED, ...FINALIZED }],
  },
  {
    name: 'getProgramAccounts with a filter of too much',
    method: 'getProgramAccounts',
    params: ({ program }) => [program, { filters: [{ memcmp: { offset: 0, bytes: '1'.repeat(129) } }] }],
  },
  {
    name: 'getProgramAccounts with a filter of no bytes',
    method: 'getProgramAccounts',
    params: ({ program }) => [program, { filters: [{ memcmp: { offset: 0, bytes: '10' } }] }],
  },
  {
    name: 'getProgramAccounts with a filter of no base64',
    method: 'getProgramAccounts',
    params: ({ program }) => [program, { filters: [{ memcmp: { offset: 0, bytes: '!!', encoding: 'base64' } }] }],
  },
  {
    name: 'getProgramAccountsV2',
    method: 'getProgramAccountsV2',
    params: ({ program }) => [program, { ...PACKED, limit: 10_000 }],
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
