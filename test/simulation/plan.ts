// What one run meets, all of it from its seed. Each run draws a few kinds of trouble and meets them often: rare combinations
// come up sooner than with every kind at its usual rate.

import { type Profile, profileOf } from '../../localnet/chain/profile.ts';
import { FAULT_KINDS, type FaultKind, type FaultRequest } from '../../localnet/node/fault-kinds.ts';
import { Dice } from './virtual-time.ts';

/** Share of runs that meet one kind of fault. */
const KIND_SHARE = 0.3;
/** Faults come up to so many times as often as in the profile `hostile`. */
const FACTOR_MAX = 10;
const PROBABILITY_MAX = 0.5;
/** Faults after which states may be wrong until the accounts are read again. */
const STATE_KINDS: ReadonlySet<FaultKind> = new Set(['emptyAccounts', 'cutAccounts']);

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
  /** Whether every label of a slot must be exact: no fault loses or delays account data. */
  readonly isExact: boolean;
}

/** `tapes`: number of tapes; `blocks`: blocks of each. */
export function planOf(seed: number, tapes: number, blocks: number): Plan {
  const dice = new Dice(seed, 1);
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
  const nodes = Array.from({ length: dice.pick([1, 1, 2]) }, () => (isHostile ? faultsOf(dice, hostile.faults) : []));
  const hasStops = dice.chance(0.6);
  const earlySlots = dice.pick([0, 3, 30]);
  const slots = dice.integer(70, 150);
  const calmSlots = 24;
  const kinds = new Set(nodes.flatMap((faults) => faults.map(({ kind }) => kind)));
  const stalls = isHostile && dice.chance(0.2) ? dice.between(0, 0.1) : 0;
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
    isExact:
      stalls === 0 && ![...kinds].some((kind) => STATE_KINDS.has(kind) || FAULT_KINDS[kind].place === 'notification'),
  };
}

function faultsOf(dice: Dice, hostile: readonly FaultRequest[]): readonly FaultRequest[] {
  const share = dice.pick([KIND_SHARE, KIND_SHARE, 0.08, 0.8]);
  return hostile
    .filter(() => dice.chance(share))
    .map((fault) => {
      const probability = (fault.probability ?? 1) * dice.between(0.5, FACTOR_MAX);
      return { ...fault, probability: Math.min(PROBABILITY_MAX, probability) };
    });
}
