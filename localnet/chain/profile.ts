// How unkind the cluster is. `calm` is for tests of everything else; the others have the figures of real clusters
// (docs/operations/real-nodes.md).

import type { FaultRequest } from '../faults/kinds.ts';
import type { CommitmentLags } from '../ledger.ts';

const PROFILE_NAMES = ['calm', 'mainnet', 'hostile'] as const;
export type ProfileName = (typeof PROFILE_NAMES)[number];

export interface Profile {
  readonly name: ProfileName;
  readonly lags: CommitmentLags;
  /** Share of slots without a block. */
  readonly skippedShare: number;
  /** Share of slots whose block every node refuses. */
  readonly deadShare: number;
  /** Share of the windows of `FORK_WINDOW_SLOTS` with a fork. */
  readonly forkShare: number;
  /** Share of these forks that are long, with blocks on both sides. */
  readonly longForkShare: number;
  /** Share of the windows without a fork that have a run of skipped slots. */
  readonly runShare: number;
  /** Bytes of log lines at which execution cuts a transaction's log; null: never. */
  readonly logBytesMax: number | null;
  /** Share of transactions in which another program logs so much first that records are cut. */
  readonly memoShare: number;
  /** Share of transactions that load keys from lookup tables. */
  readonly lookupShare: number;
  /** Notifications like a node's: the slot before its data, and per slot only the last state of an account. */
  readonly nodeNotifications: boolean;
  /** Faults that are on from the start. */
  readonly faults: readonly FaultRequest[];
}

/** LOG_MESSAGES_BYTES_LIMIT of Agave. */
const LOG_BYTES_MAX = 10_000;

const CALM: Profile = {
  name: 'calm',
  lags: { processed: 0, confirmed: 0, finalized: 32 },
  skippedShare: 0,
  deadShare: 0,
  forkShare: 0,
  longForkShare: 0,
  runShare: 0,
  logBytesMax: null,
  memoShare: 0,
  lookupShare: 0,
  nodeNotifications: false,
  faults: [],
};

const MAINNET: Profile = {
  name: 'mainnet',
  lags: { processed: 0, confirmed: 2, finalized: 32 },
  skippedShare: 0.03,
  deadShare: 0.002,
  forkShare: 0.6,
  longForkShare: 0,
  runShare: 0,
  logBytesMax: LOG_BYTES_MAX,
  memoShare: 0.001,
  lookupShare: 0.6,
  nodeNotifications: true,
  faults: [],
};

const HOSTILE: Profile = {
  ...MAINNET,
  name: 'hostile',
  skippedShare: 0.06,
  deadShare: 0.01,
  forkShare: 0.8,
  longForkShare: 0.4,
  runShare: 0.2,
  memoShare: 0.01,
  faults: [
    { kind: 'rateLimit', probability: 0.01, retryAfterSeconds: 1 },
    { kind: 'rateLimit', probability: 0.01 },
    { kind: 'unavailable', probability: 0.01 },
    { kind: 'hangUp', probability: 0.005 },
    { kind: 'cutBody', probability: 0.002 },
    { kind: 'slow', probability: 0.005, ms: 3000 },
    { kind: 'unhealthy', probability: 0.01, slots: 40 },
    { kind: 'error', probability: 0.01 },
    { kind: 'behind', probability: 0.25, slots: 0 },
    { kind: 'behind', probability: 0.15, slots: 6 },
    { kind: 'slotJump', probability: 0.005 },
    { kind: 'nullTransaction', probability: 0.02, ms: 3000 },
    { kind: 'nullTransaction', probability: 0.0005 },
    { kind: 'nullLogs', probability: 0.0005 },
    { kind: 'emptyPage', probability: 0.02 },
    { kind: 'shortPage', probability: 0.05 },
    { kind: 'emptyAccounts', probability: 0.05 },
    { kind: 'cutAccounts', probability: 0.1, share: 0.7 },
    { kind: 'loseNotification', probability: 0.002 },
    { kind: 'duplicateNotification', probability: 0.005 },
    { kind: 'reorderNotification', probability: 0.01 },
    { kind: 'silentSocket', probability: 0.001 },
    { kind: 'endStream', probability: 0.002 },
  ],
};

const PROFILES: Readonly<Record<ProfileName, Profile>> = { calm: CALM, mainnet: MAINNET, hostile: HOSTILE };

/** @throws Error when there is no such profile */
export function profileOf(name: string): Profile {
  const known = PROFILE_NAMES.find((one) => one === name);
  if (known === undefined) throw new Error(`profile ${name} is not one of ${PROFILE_NAMES.join(', ')}`);
  return PROFILES[known];
}
