// What one run meets, all of it from its seed. Each run draws a few kinds of trouble and meets them often: rare combinations
// come up sooner than with every kind at its usual rate.

import { type Profile, profileOf } from '../../localnet/chain/profile.ts';
import type { FaultKind, FaultRequest } from '../../localnet/node/fault-kinds.ts';
import type { GrpcServerPlan } from './grpc.ts';
import { Dice } from './virtual-time.ts';

/** Share of runs that meet one kind of fault. */
const KIND_SHARE = 0.3;
/** Faults come up to so many times as often as in the profile `hostile`. */
const FACTOR_MAX = 10;
const PROBABILITY_MAX = 0.5;
/** Share of runs whose live updates come by gRPC. */
const GRPC_SHARE = 0.3;
/** Slots of one gRPC server's memory: longer than a run. */
const REPLAY_ALL_SLOTS = 500;
/** Updates of gRPC whose loss a reader notices by itself. */
const NOTICED_LOSSES = ['blockMetaUpdate', 'transactionUpdate'];
/** Silences of a stream: blocks are missing after the short ones. */
const SILENCES_MS = [1_200, 3_000, 60_000] as const;
/** Faults of reads after which states may be wrong until the accounts are read again. */
const STATE_KINDS: ReadonlySet<FaultKind> = new Set(['emptyAccounts', 'cutAccounts']);
/** Faults of PubSub that do the same. */
const PUBSUB_KINDS: ReadonlySet<FaultKind> = new Set(['loseNotification', 'reorderNotification', 'silentSocket']);
/** Share of runs without both, in which every label must be exact. */
const EXACT_SHARE = 0.3;

export interface Plan {
  readonly seed: number;
  readonly profile: Profile;
  /** Faults of each node. */
  readonly nodes: readonly (readonly FaultRequest[])[];
  /** Number of the tape, and its first block. */
  readonly tape: number;
  readonly fromBlock: number;
  /** Slots before the first start of the process, with faults, and without. */
  readonly earlySlots: number;
  readonly slots: number;
  readonly calmSlots: number;
  /** Share of empty blocks. */
  readonly quietShare: number;
  /** Crashes and stops of the process. */
  readonly crashesMax: number;
  /** Mean number of effects between two crashes. */
  readonly crashEffects: number;
  readonly stopShare: number;
  /** Probability that a write of the log fails. */
  readonly rejects: number;
  /** Probability per slot that all connections break. */
  readonly drops: number;
  readonly refusals: number;
  readonly latencyMs: readonly [number, number];
  /** Probability that a PubSub socket is late by seconds. */
  readonly stalls: number;
  /** Milliseconds between two shadow checks; 0: none. */
  readonly shadowCheckMs: number;
  /** Updates that may wait for the log; null: as many as in production. */
  readonly queueMax: number | null;
  /** Servers of live updates, one for each node; null: by PubSub. */
  readonly grpc: readonly GrpcServerPlan[] | null;
  /** Whether gRPC servers restart when the faults end, so that all accounts are read again. */
  readonly restartsAtEnd: boolean;
  /** Whether every label of a slot must be exact: no fault loses or delays account data. */
  readonly isExact: boolean;
}

/** `tapes`: number of tapes; `blocks`: blocks of each. */
export function planOf(seed: number, tapes: number, blocks: number): Plan {
  const dice = new Dice(seed, 1);
  const plan = basePlan(seed, tapes, blocks, dice);
  const queueMax = dice.chance(0.1) ? dice.integer(200, 600) : null;
  return dice.chance(GRPC_SHARE) ? { ...overGrpc(plan, dice), queueMax } : { ...plan, queueMax };
}

/** gRPC notices by itself what PubSub does not: blocks that did not come. */
function overGrpc(plan: Plan, dice: Dice): Plan {
  const isNoticed = dice.chance(0.5);
  const nodes = plan.nodes.map((faults) =>
    faults.map((fault) => {
      if (fault.kind === 'silentSocket') return { ...fault, ms: dice.pick(SILENCES_MS) };
      return isNoticed && fault.kind === 'loseNotification' ? { ...fault, methods: NOTICED_LOSSES } : fault;
    }),
  );
  const kinds = new Set(nodes.flatMap((faults) => faults.map(({ kind }) => kind)));
  const isExact = ![...kinds].some((kind) => STATE_KINDS.has(kind) || (kind === 'loseNotification' && !isNoticed));
  const grpc = nodes.map((_, number) => ({
    lagMs: number === 0 ? 0 : dice.pick([0, 300, 2_500]),
    replaySlots: dice.pick([REPLAY_ALL_SLOTS, REPLAY_ALL_SLOTS, 40, 4]),
    isOther: number > 0 && dice.chance(0.3),
    isMetaFirst: dice.chance(0.3),
  }));
  return { ...plan, nodes, isExact, grpc, restartsAtEnd: !isExact || dice.chance(0.3) };
}

function basePlan(seed: number, tapes: number, blocks: number, dice: Dice): Plan {
  const hostile = profileOf('hostile');
  const isHostile = dice.chance(0.85);
  const scale = () => (dice.chance(0.5) ? dice.between(0, 2) : 0);
  const profile: Profile = {
    ...hostile,
    skippedShare: hostile.skippedShare * scale(),
    deadShare: hostile.deadShare * scale(),
    forkShare: dice.chance(0.5) ? hostile.forkShare : 0,
    runShare: dice.chance(0.3) ? 0.6 : 0,
    noisyShare: dice.chance(0.4) ? dice.between(0, 0.06) : 0,
    lookupShare: dice.chance(0.5) ? 0.6 : 0,
    nodeNotifications: dice.chance(0.8),
    faults: [],
  };
  const isExact = dice.chance(EXACT_SHARE);
  const nodes = Array.from({ length: dice.pick([1, 1, 2]) }, () =>
    isHostile ? faultsOf(dice, hostile.faults, isExact) : [],
  );
  const hasStops = dice.chance(0.6);
  const earlySlots = dice.pick([0, 3, 30]);
  const slots = dice.integer(70, 150);
  const calmSlots = 24;
  const kinds = new Set(nodes.flatMap((faults) => faults.map(({ kind }) => kind)));
  const stalls = isHostile && !isExact && dice.chance(0.2) ? dice.between(0, 0.1) : 0;
  return {
    seed,
    profile,
    nodes,
    tape: dice.integer(0, tapes - 1),
    fromBlock: dice.integer(1, blocks - earlySlots - slots - calmSlots - 1),
    earlySlots,
    slots,
    calmSlots,
    quietShare: dice.pick([0.2, 0.6, 0.85]),
    crashesMax: hasStops ? dice.integer(1, 4) : 0,
    crashEffects: dice.pick([15, 60, 250]),
    stopShare: dice.pick([0, 0.3]),
    rejects: dice.chance(0.25) ? dice.between(0, 0.05) : 0,
    drops: dice.chance(0.35) ? dice.between(0, 0.06) : 0,
    refusals: dice.chance(0.2) ? dice.between(0, 0.5) : 0,
    latencyMs: dice.pick([
      [1, 10],
      [5, 60],
      [20, 400],
    ]),
    stalls,
    shadowCheckMs: dice.chance(0.15) ? 8_000 : 0,
    queueMax: null,
    grpc: null,
    restartsAtEnd: false,
    isExact: stalls === 0 && ![...kinds].some((kind) => STATE_KINDS.has(kind) || PUBSUB_KINDS.has(kind)),
  };
}

function faultsOf(dice: Dice, hostile: readonly FaultRequest[], isExact: boolean): readonly FaultRequest[] {
  const share = dice.pick([KIND_SHARE, KIND_SHARE, 0.08, 0.8]);
  return hostile
    .filter(({ kind }) => dice.chance(share) && !(isExact && (STATE_KINDS.has(kind) || PUBSUB_KINDS.has(kind))))
    .map((fault) => {
      const probability = (fault.probability ?? 1) * dice.between(0.5, FACTOR_MAX);
      return { ...fault, probability: Math.min(PROBABILITY_MAX, probability) };
    });
}
