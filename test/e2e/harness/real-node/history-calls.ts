// Calls for transactions and blocks, those of a node that lost its older blocks among them.

import { CONFIRMED, FAR, FINALIZED, MISSING_SIGNATURE, type NodeCall, V0, V1 } from './call.ts';

export const transactionCalls: readonly NodeCall[] = [
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
  ...[CONFIRMED, FINALIZED].map(
    ({ commitment }): NodeCall => ({
      name: `getTransaction as ingest reads at ${commitment}`,
      method: 'getTransaction',
      params: ({ lookupSignature }) => [lookupSignature, { ...V1, commitment, encoding: 'base64' }],
    }),
  ),
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
    name: 'getSignaturesForAddress at finalized',
    method: 'getSignaturesForAddress',
    params: ({ wallet }) => [wallet, { ...FINALIZED, limit: 1000 }],
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

export const blockCalls: readonly NodeCall[] = [
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
  ...[CONFIRMED, FINALIZED].flatMap(({ commitment }): NodeCall[] => [
    {
      name: `getBlock full as ingest reads at ${commitment}`,
      method: 'getBlock',
      params: ({ slot }) => [slot, { ...V1, commitment, encoding: 'json', transactionDetails: 'full', rewards: false }],
    },
    {
      name: `getBlock none for an old client at ${commitment}`,
      method: 'getBlock',
      params: ({ slot }) => [slot, { commitment, transactionDetails: 'none', rewards: false }],
    },
    {
      name: `getBlock signatures at ${commitment}`,
      method: 'getBlock',
      params: ({ slot }) => [slot, { ...V1, commitment, transactionDetails: 'signatures', rewards: false }],
    },
    {
      name: `getBlock of a skipped slot at ${commitment}`,
      method: 'getBlock',
      params: ({ skippedSlot }) => [skippedSlot, { ...V1, commitment }],
    },
    {
      name: `getBlocks at ${commitment}`,
      method: 'getBlocks',
      params: ({ slot, tip }) => [slot, tip, { commitment }],
    },
  ]),
  {
    name: 'getBlock above the root',
    method: 'getBlock',
    params: ({ tip }) => [tip, { ...V1, ...FINALIZED }],
    isAtTip: true,
  },
  { name: 'getBlock of the future', method: 'getBlock', params: ({ tip }) => [tip + FAR, V0] },
  {
    name: 'getBlock at processed',
    method: 'getBlock',
    params: ({ slot }) => [slot, { ...V0, commitment: 'processed' }],
  },
  { name: 'getBlock of no slot', method: 'getBlock', params: () => ['one'] },
  { name: 'getBlocks backwards', method: 'getBlocks', params: ({ slot, tip }) => [tip, slot, CONFIRMED] },
  { name: 'getBlocks of too many', method: 'getBlocks', params: ({ slot }) => [slot, slot + FAR, CONFIRMED] },
  { name: 'getBlocksWithLimit', method: 'getBlocksWithLimit', params: ({ slot }) => [slot, 3, CONFIRMED] },
  { name: 'getBlockTime', method: 'getBlockTime', params: ({ slot }) => [slot] },
  { name: 'getBlockTime of a skipped slot', method: 'getBlockTime', params: ({ skippedSlot }) => [skippedSlot] },
  { name: 'getBlockTime of the future', method: 'getBlockTime', params: ({ tip }) => [tip + FAR] },
];

/** Asked of a node that lost the block of `slot` and all before it. */
export const LOST_CALLS: readonly NodeCall[] = [
  {
    name: 'getBlock of a lost slot',
    method: 'getBlock',
    params: ({ slot }) => [slot, { ...V1, transactionDetails: 'full', rewards: false }],
  },
  {
    name: 'getBlock of a lost slot at finalized',
    method: 'getBlock',
    params: ({ slot }) => [slot, { ...FINALIZED, transactionDetails: 'none', rewards: false }],
  },
  { name: 'getBlockTime of a lost slot', method: 'getBlockTime', params: ({ slot }) => [slot] },
  { name: 'getBlocks of lost slots', method: 'getBlocks', params: ({ slot }) => [slot, slot + 1, CONFIRMED] },
  {
    name: 'getTransaction of a lost slot',
    method: 'getTransaction',
    params: ({ lookupSignature }) => [lookupSignature, V1],
  },
  {
    name: 'getSignaturesForAddress of lost slots',
    method: 'getSignaturesForAddress',
    params: ({ wallet, tip }) => [wallet, { ...CONFIRMED, limit: 1000, minContextSlot: tip }],
  },
  { name: 'getFirstAvailableBlock after lost ones', method: 'getFirstAvailableBlock', params: () => [] },
];
