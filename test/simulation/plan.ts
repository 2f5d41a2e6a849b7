// The plan of one run, all of it from its seed. Each run draws a few kinds of trouble and meets them often: rare combinations
// come up sooner than with every kind at its usual rate.

import { type Profile, profileOf } from '../../localnet/chain/profile.ts';
import type { FaultKind, FaultRequest } from '../../localnet/faults/kinds.ts';
import type { GrpcServerPlan } from './grpc.ts';
import { Dice } from './virtual-time.ts';

/** Share of runs that meet one kind of fault. */
const KIND_SHARE = 0.3;
/** Faults come up to so many times as often as in the profile `hostile`. */
const FACTOR_MAX = 10;
const PROBABILITY_MAX = 0.5;
/** Share of runs whose live updates come by gRPC. */
const GRPC_SHARE = 0.3;
/** Share of gRPC runs with several sources at once, and of those with two servers that one lies in. */
const MERGED_SHARE = 0.4;
const LYING_SHARE = 0.35;
/** Slots in which a lying source is compared and named. */
const LYING_SLOTS = 120;
/** Last first block of such a run: the tape must not end before the run. */
const LYING_BLOCK_MAX = 80;
/** Share of runs with books at `processed`. */
const PROCESSED_SHARE = 0.3;
/** Share of these in which every state arrives. */
const PROCESSED_EXACT_SHARE = 0.6;
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

/** Share of runs with two nodes in which the second one loses blocks. */
const JUMP_SHARE = 0.5;
/** Blocks that it loses: more than the 64 slots that count as a jump (ingest/rpc/block-lists.ts). */
const JUMP_SLOTS = 66;

/** Share of the runs without books at `processed` and without a lying source in which the chain drops slots that it had confirmed, how many, and when. */
const DROP_SHARE = 0.2;
const DROPPED_SLOTS_MAX = 3;
const DROP_AFTER_SLOTS = [4, 60] as const;
/** Share of empty blocks of these runs: most dropped slots must have events. */
const DROP_QUIET_SHARE = 0.2;
/** Blocks after which a dropped transaction lands again. */
const LANDS_AFTER = [11, 30] as const;
/** Slots of a cluster's finality: the usual ones, or so many that a restart no longer repeats the dropped slot. */
const FINALITY_SLOTS = [32, 100] as const;
/** Most effects of a process after its first retraction, where it ends then. */
const ENDS_AFTER = [5, 100] as const;

export interface DropPlan {
  /** Slots of the run before it. */
  readonly afterSlots: number;
  readonly slots: number;
  /** Blocks after which a dropped transaction lands again. */
  readonly landsAfter: number;
  /** Most effects of the process after its first retraction; null: it goes on. */
  readonly endsAfter: number | null;
}

export interface MergedPlan {
  readonly kinds: readonly ('grpc' | 'pubsub')[];
  readonly lying: { readonly source: number; readonly kind: LieKind } | null;
  readonly isHonest: boolean;
}

export interface ProcessedPlan {
  /** Nothing loses or delays news of slots and accounts. */
  readonly isExact: boolean;
  /** Share of forks that lose without a transaction of the program. */
  readonly quietForkShare: number;
}

/** `other`: it names other blocks than the nodes, with the same accounts. */
export type LieKind = 'omits' | 'alters' | 'other';

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
  /** Books at `processed`; null: none. */
  readonly processed: ProcessedPlan | null;
  /** Sources that run at once; null: one. `lying`: number of a source that lies; `isHonest`: nobody may be named. */
  readonly merged: MergedPlan | null;
  /** Probability that a stream breaks after a part of what was on its way. */
  readonly cuts: number;
  /** Whether gRPC servers restart when the faults end, so that all accounts are read again. */
  readonly restartsAtEnd: boolean;
  /** Slots whose blocks the second node loses while the process is away; null: none. */
  readonly jumpSlots: number | null;
  /** Slots that the chain confirms and drops; null: none. */
  readonly drop: DropPlan | null;
  /** Whether every label of a slot must be exact: no fault loses or delays account data. */
  readonly isExact: boolean;
}

/** `tapes`: number of tapes; `blocks`: blocks of each. */
export function planOf(seed: number, tapes: number, blocks: number): Plan {
  const dice = new Dice(seed, 1);
  const plan = basePlan(seed, tapes, blocks, dice);
  const queueMax = dice.chance(0.1) ? dice.integer(200, 600) : null;
  const live = dice.chance(GRPC_SHARE) ? { ...overGrpc(plan, dice), queueMax } : { ...plan, queueMax };
  const other = new Dice(seed, 5);
  return withDrop(withJump(withProcessed(withSources(live, other), other), new Dice(seed, 6)), new Dice(seed, 7));
}

/** States that only the dropped blocks had stay in the books until all accounts are read again. */
function withDrop(plan: Plan, dice: Dice): Plan {
  const isOpen = plan.processed === null && !plan.merged?.lying;
  if (!isOpen || !dice.chance(DROP_SHARE)) return plan;
  const [afterSlots, slots] = [dice.integer(...DROP_AFTER_SLOTS), dice.integer(1, DROPPED_SLOTS_MAX)];
  const endsAfter = dice.chance(0.5) ? dice.pick(ENDS_AFTER) : null;
  const drop = { afterSlots, slots, endsAfter, landsAfter: dice.pick(LANDS_AFTER) };
  const profile = { ...plan.profile, lags: { ...plan.profile.lags, finalized: dice.pick(FINALITY_SLOTS) } };
  return { ...plan, profile, drop, quietShare: DROP_QUIET_SHARE, isExact: false, restartsAtEnd: true };
}

/** The first node has all blocks, so that nothing is lost. */
function withJump(plan: Plan, dice: Dice): Plan {
  return plan.nodes.length > 1 && dice.chance(JUMP_SHARE) ? { ...plan, jumpSlots: JUMP_SLOTS } : plan;
}

/** A gRPC server beside another one, or beside PubSub. */
function withSources(plan: Plan, dice: Dice): Plan {
  const { grpc } = plan;
  if (grpc === null || !dice.chance(MERGED_SHARE)) return plan;
  const [first = server(0, dice)] = grpc;
  const isTwo = dice.chance(0.7);
  const kinds = isTwo ? (['grpc', 'grpc'] as const) : (['grpc', 'pubsub'] as const);
  const servers = [first, ...(isTwo ? [{ ...(grpc[1] ?? server(1, dice)), isOther: false }] : [])];
  const isExact = plan.isExact && !plan.nodes.some((faults) => faults.some(({ kind }) => isUnsure(kind, isTwo)));
  const merged = { ...plan, grpc: servers, isExact, merged: { kinds, lying: null, isHonest: isExact } };
  return isTwo && dice.chance(LYING_SHARE) ? withLie(merged, dice) : merged;
}

/** Faults of a stream after which two honest sources differ for good. */
function isUnsure(kind: FaultKind, isTwo: boolean): boolean {
  return kind === 'loseNotification' || (!isTwo && PUBSUB_KINDS.has(kind));
}

const LIES: Readonly<Record<LieKind, readonly FaultRequest[]>> = {
  omits: [{ kind: 'loseNotification', methods: ['accountUpdate'], probability: 0.5 }],
  alters: [{ kind: 'alterNotification', probability: 0.5 }],
  other: [],
};

/** Nothing else goes wrong, so the lying source must be named. Its earlier omissions stay wrong until the accounts are read again. */
function withLie(plan: Plan, dice: Dice): Plan {
  const lying = { source: dice.integer(0, 1), kind: dice.pick<LieKind>(['omits', 'alters', 'other']) };
  const grpc = (plan.grpc ?? []).map((one, number) => {
    const doesLie = number === lying.source;
    return { ...one, lagMs: 0, lies: doesLie ? LIES[lying.kind] : [], isOther: doesLie && lying.kind === 'other' };
  });
  const quiet = { nodes: [[]], crashesMax: 0, rejects: 0, drops: 0, refusals: 0, stalls: 0, cuts: 0, queueMax: null };
  const merged = { kinds: ['grpc', 'grpc'] as const, lying, isHonest: true };
  return {
    ...plan,
    ...quiet,
    quietShare: 0.2,
    slots: LYING_SLOTS,
    fromBlock: Math.min(plan.fromBlock, LYING_BLOCK_MAX),
    grpc,
    merged,
    isExact: lying.kind === 'other',
    restartsAtEnd: lying.kind !== 'other' || plan.restartsAtEnd,
  };
}

function server(number: number, dice: Dice): GrpcServerPlan {
  return {
    lagMs: number === 0 ? 0 : dice.pick([0, 300, 2_500]),
    replaySlots: dice.pick([REPLAY_ALL_SLOTS, REPLAY_ALL_SLOTS, 40, 4]),
    isOther: number > 0 && dice.chance(0.3),
    isMetaFirst: dice.chance(0.3),
    lies: [],
  };
}

/** A silent stream and a rejected write delay news of forks beyond a slot. */
function withProcessed(plan: Plan, dice: Dice): Plan {
  if (!dice.chance(PROCESSED_SHARE)) return plan;
  const base = dice.chance(PROCESSED_EXACT_SHARE) ? whole(plan) : plan;
  const isSilent = base.nodes.some((faults) => faults.some(({ kind }) => kind === 'silentSocket'));
  const profile = {
    ...plan.profile,
    forkShare: dice.pick([plan.profile.forkShare, 1, 1]),
    deadShare: dice.pick([plan.profile.deadShare, 0.04]),
  };
  const isExact = base.isExact && !isSilent && base.rejects === 0;
  return { ...base, profile, processed: { isExact, quietForkShare: dice.pick([0, 0, 0.8]) } };
}

/** The plan without faults that lose or delay news. */
function whole(plan: Plan): Plan {
  if (plan.merged?.lying) return plan;
  const loses = (kind: FaultKind) => STATE_KINDS.has(kind) || PUBSUB_KINDS.has(kind);
  const nodes = plan.nodes.map((faults) => faults.filter(({ kind }) => !loses(kind)));
  const merged = plan.merged === null ? null : { ...plan.merged, isHonest: true };
  return { ...plan, nodes, merged, stalls: 0, rejects: 0, isExact: true };
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
  const grpc = nodes.map((_, number) => server(number, dice));
  const cuts = dice.chance(0.4) ? dice.between(0, 0.1) : 0;
  return { ...plan, nodes, isExact, grpc, cuts, restartsAtEnd: !isExact || dice.chance(0.3) };
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
    memoShare: dice.chance(0.4) ? dice.between(0, 0.06) : 0,
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
    processed: null,
    merged: null,
    cuts: 0,
    restartsAtEnd: false,
    jumpSlots: null,
    drop: null,
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
