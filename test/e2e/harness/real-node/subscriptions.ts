// Every subscription that the pipeline relies on, and the wrong ones that a node refuses.

import bs58 from 'bs58';

/** What changes while the notifications are collected. */
export interface Changing {
  readonly program: string;
  readonly wallet: string;
  /** A program, and the first bytes of those of its accounts that are asked for (base58). */
  readonly kind: { readonly program: string; readonly bytes: string };
}

export interface NodeSubscription {
  readonly name: string;
  readonly kind: string;
  readonly params: (changing: Changing) => unknown[];
}

const NO_KIND = bs58.encode(Buffer.alloc(4, 0xff));
const LEVELS = ['processed', 'confirmed', 'finalized'] as const;

export const SUBSCRIPTIONS: readonly NodeSubscription[] = [
  ...LEVELS.flatMap((commitment): NodeSubscription[] => [
    {
      name: `program at ${commitment}`,
      kind: 'program',
      params: ({ program }) => [program, { commitment, encoding: 'base64' }],
    },
    {
      name: `program of a kind at ${commitment}`,
      kind: 'program',
      params: ({ kind: { program, bytes } }) => [
        program,
        { commitment, encoding: 'base64', filters: [{ memcmp: { offset: 0, bytes } }] },
      ],
    },
    {
      name: `account at ${commitment}`,
      kind: 'account',
      params: ({ wallet }) => [wallet, { commitment, encoding: 'base64' }],
    },
    { name: `logs at ${commitment}`, kind: 'logs', params: ({ wallet }) => [{ mentions: [wallet] }, { commitment }] },
  ]),
  {
    name: 'packed account',
    kind: 'account',
    params: ({ wallet }) => [wallet, { commitment: 'confirmed', encoding: 'base64+zstd' }],
  },
  { name: 'all logs', kind: 'logs', params: () => ['all', { commitment: 'confirmed' }] },
  { name: 'slot', kind: 'slot', params: () => [] },
  { name: 'root', kind: 'root', params: () => [] },
  { name: 'slotsUpdates', kind: 'slotsUpdates', params: () => [] },
];

/** No account of the program begins so: a notification would show that the filter does nothing. */
export const SILENT: NodeSubscription = {
  name: 'program of no account',
  kind: 'program',
  params: ({ kind: { program } }) => [
    program,
    { commitment: 'processed', encoding: 'base64', filters: [{ memcmp: { offset: 0, bytes: NO_KIND } }] },
  ],
};

interface Refusal {
  readonly name: string;
  readonly method: string;
  readonly params: (changing: Changing) => unknown[];
}

export const REFUSALS: readonly Refusal[] = [
  { name: 'programSubscribe of no key', method: 'programSubscribe', params: () => ['0'] },
  {
    name: 'programSubscribe with too many filters',
    method: 'programSubscribe',
    params: ({ program }) => [program, { filters: Array.from({ length: 5 }, () => ({ dataSize: 1 })) }],
  },
  {
    name: 'programSubscribe with a filter of too much',
    method: 'programSubscribe',
    params: ({ program }) => [program, { filters: [{ memcmp: { offset: 0, bytes: '1'.repeat(129) } }] }],
  },
  {
    name: 'programSubscribe with a filter of no bytes',
    method: 'programSubscribe',
    params: ({ program }) => [program, { filters: [{ memcmp: { offset: 0, bytes: '10' } }] }],
  },
  { name: 'logsSubscribe of no key', method: 'logsSubscribe', params: () => [{ mentions: ['abc'] }] },
  { name: 'signatureSubscribe of none', method: 'signatureSubscribe', params: () => ['abc'] },
  {
    name: 'logsSubscribe of two',
    method: 'logsSubscribe',
    params: ({ program, wallet }) => [{ mentions: [program, wallet] }, { commitment: 'confirmed' }],
  },
  { name: 'accountSubscribe of a short key', method: 'accountSubscribe', params: () => ['abc'] },
  { name: 'an unknown subscription', method: 'weatherSubscribe', params: () => [] },
];
