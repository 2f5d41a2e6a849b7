// The simulated exchange: a seeded, deterministic source of blocks with real account bytes and real log lines.

import type { Exchange, LedgerAccount, LedgerBlock, Submission } from '../ledger-types.ts';
import { nextBlock } from './block.ts';
import { USUAL_SLOT_MS } from './clock.ts';
import { createWorld } from './genesis.ts';
import { signatureOf } from './keys.ts';
import { topUpQuotes } from './quoting.ts';
import { createRng } from './random.ts';
import { noGuests } from './submitted/guests.ts';
import { lookupTable, lookupTableKey, mints } from './submitted/lookup-table.ts';
import { runSubmission, simulate } from './submitted/run.ts';
import { beginTransaction, ledgerAccount } from './transaction.ts';
import { markets, restingOrders, vaults } from './truth.ts';
import type { ExchangeOptions, Settings, World } from './world.ts';

export { decodeWire, hasValidSignatures, signatureOfWire } from './submitted/message.ts';
export type { ExchangeOptions } from './world.ts';

const DEFAULT_ACCOUNTS = 60;
const DEFAULT_ORDERS_PER_MARKET = 60;

/**
 * Creates the exchange at genesis, or from a snapshot. The blocks continue identically only with the snapshot's options.
 * Throws when the chain definition does not fit.
 */
export function createExchange(options: ExchangeOptions, restored?: unknown): Exchange {
  const settings: Settings = {
    seed: options.seed,
    accounts: options.accounts ?? DEFAULT_ACCOUNTS,
    ordersPerMarket: options.ordersPerMarket ?? DEFAULT_ORDERS_PER_MARKET,
    genesisTime: options.genesisTime,
    slotMs: options.slotMs ?? USUAL_SLOT_MS,
    slotBurst: options.slotBurst ?? 1,
    rarities: options.rarities ?? false,
    announce: options.announce ?? false,
    keepEvents: options.keepEvents ?? false,
    activity: options.activity ?? 1,
  };
  return exchangeOf(restored === undefined ? openedWorld(settings) : restoredWorld(restored), settings);
}

function exchangeOf(opened: World, settings: Settings): Exchange {
  let world = opened;
  const withSubmissions = (block: LedgerBlock, submissions: readonly Submission[]): LedgerBlock => {
    const transactions = [...block.transactions];
    for (const submission of submissions) {
      const ran = runSubmission(world, settings, submission);
      if (ran === null) continue;
      world = ran.world;
      transactions.push(ran.transaction);
    }
    return { ...block, transactions };
  };
  return {
    nextBlock: (slot, submissions = []) => withSubmissions(nextBlock(world, settings, slot), submissions),
    submissions: {
      lookupTable: lookupTableKey(settings.seed),
      spotMarkets: world.spots.length,
      simulate: (wire) => simulate(world, settings, wire),
    },
    branch: (winnerSlot) => branchOf(world, settings, winnerSlot),
    genesis: () => [
      ...standingAccounts(world),
      ...[lookupTable(world, settings.seed), ...mints(world)].map(ledgerAccount),
    ],
    restingOrders: () => restingOrders(world),
    markets: () => markets(world),
    events: (from, limit) => world.events.slice(from, from + limit),
    vaults: () => vaults(world),
    eventCounts: () => ({ ...world.eventCounts }),
    snapshot: () => structuredClone(world),
  };
}

function restoredWorld(restored: unknown): World {
  const world = structuredClone(restored) as World;
  // A state from before wallets could submit has no such part.
  return { ...world, guests: { ...noGuests(), ...world.guests } };
}

/** Separates the signatures and random sequences of forks from those of the winning chain. */
const BRANCH_SEED = 7_919;

/** A copy of the exchange that differs from its first block on, without the events so far. */
function branchOf(world: World, settings: Settings, winnerSlot: number): Exchange {
  const copy = structuredClone({ ...world, events: [] });
  const branched = { ...settings, seed: settings.seed + BRANCH_SEED + world.slot };
  const branch = exchangeOf(copy, branched);
  let first = true;
  const nextBlock = (slot?: number): LedgerBlock => {
    const block = branch.nextBlock(slot);
    if (!first) return block;
    first = false;
    // The first block decides with the same random sequence as the winning one, as leaders see the same transactions.
    Object.assign(copy.rng, createRng(branched.seed));
    return withSharedSignatures(block, copy, (index) => signatureOf(settings.seed, winnerSlot, index));
  };
  return { ...branch, nextBlock };
}

/** Gives every second transaction the signature that it has on the winning fork. */
function withSharedSignatures(block: LedgerBlock, world: World, winning: (index: number) => string): LedgerBlock {
  const shared = new Map<string, string>();
  const transactions = block.transactions.map((transaction, index) => {
    if (index % 2 === 1) return transaction;
    const signature = winning(index);
    shared.set(transaction.signature, signature);
    return { ...transaction, signature };
  });
  for (const [at, event] of world.events.entries()) {
    const signature = shared.get(event.signature);
    if (signature !== undefined) world.events[at] = { ...event, signature };
  }
  return { ...block, transactions };
}

/** The world at genesis, with the makers' quotes in place. */
function openedWorld(settings: Settings): World {
  const world = createWorld(settings);
  const silent = beginTransaction(world, true);
  for (const trader of world.traders) {
    if (trader.role === 'fixedMaker' || trader.role === 'offsetMaker') topUpQuotes(silent, trader, settings);
  }
  return world;
}

/** Every account of the exchange in its current state. */
function standingAccounts(world: World): LedgerAccount[] {
  const stored = [
    world.state,
    ...world.oracles.values(),
    ...world.spots,
    ...world.perps,
    ...world.clobs.values(),
    ...world.stats.values(),
    ...world.traders.filter((trader) => trader.alive),
    ...world.vaults.flatMap(({ vault, depositors }) => [vault, ...depositors]),
  ];
  return stored.map(ledgerAccount);
}
