// The simulated exchange: a seeded, deterministic source of blocks with real account bytes and real log lines.

import type { Exchange, LedgerAccount } from '../ledger-types.ts';
import { nextBlock } from './block.ts';
import { USUAL_SLOT_MS } from './clock.ts';
import { createWorld } from './genesis.ts';
import { fillUpQuotes } from './quoting.ts';
import { beginTransaction, ledgerAccount } from './transaction.ts';
import { markets, restingOrders, vaults } from './truth.ts';
import type { ExchangeOptions, Settings, World } from './world.ts';

export type { ExchangeOptions } from './world.ts';

const DEFAULT_ACCOUNTS = 60;
const DEFAULT_ORDERS_PER_MARKET = 60;

/**
 * Creates the exchange at genesis, or where a snapshot left it. The options must be those of the snapshot for the blocks
 * to continue as they would have. Throws when the chain definition does not fit.
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
  const world = restored === undefined ? openedWorld(settings) : (structuredClone(restored) as World);
  return {
    nextBlock: () => nextBlock(world, settings),
    genesis: () => standingAccounts(world),
    restingOrders: () => restingOrders(world),
    markets: () => markets(world),
    events: (from, limit) => world.events.slice(from, from + limit),
    vaults: () => vaults(world),
    eventCounts: () => ({ ...world.eventCounts }),
    snapshot: () => structuredClone(world),
  };
}

/** The world at genesis with the makers' quotes already standing. */
function openedWorld(settings: Settings): World {
  const world = createWorld(settings);
  const silent = beginTransaction(world, true);
  for (const trader of world.traders) {
    if (trader.role === 'fixedMaker' || trader.role === 'offsetMaker') fillUpQuotes(silent, trader, settings);
  }
  return world;
}

/** Every account of the exchange as it stands now. */
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
