// Makes one slot: moves prices, runs due work, then lets makers and takers act.

import type { LedgerBlock } from '../ledger-types.ts';
import { announceTurn } from './announcement.ts';
import { crossBook, crossingPair } from './book-care.ts';
import { refreshActivation } from './clob.ts';
import { timeOfSlot } from './clock.ts';
import {
  cancelPointless,
  crowdedSide,
  dueShadows,
  evict,
  expiredNodes,
  expiredOrders,
  expireNodes,
  expireOrders,
  pointlessOrders,
  releaseShadows,
} from './cranks.ts';
import { economyTurn, liquidationsTurn } from './economy.ts';
import { failSomething } from './failures.ts';
import { postMakerPrice, postPrices, updateAmms } from './oracles.ts';
import { ordersOf, refreshQuotes } from './quoting.ts';
import { chance, pick, uniform } from './random.ts';
import { raritiesTurn } from './rarities.ts';
import { SlotRun } from './slot-run.ts';
import { arbitrage, arbitrageSide, cancelSomething, dueAuctions, fillDueOrder, placeTakerOrder } from './taking.ts';
import { dueTriggers, placeTrigger, trigger } from './triggers.ts';
import { vaultsTurn } from './vault-turn.ts';
import { type OrderKey, perpAt, type Settings, type Trader, type World } from './world.ts';

/** Maker actions per slot at activity 1. */
const MAKER_TURNS = 5;
/** Minimum average distance of a maker's actions in slots. Limits exchanges with few makers. */
const SLOTS_PER_MAKER_TURN = 3;
/** Makers compared before one is chosen. */
const MAKERS_LOOKED_AT = 3;
const TAKER_TURNS = 3;
const TRIGGER_TURNS = 0.5;
const CANCEL_TURNS = 0.5;
/** Due actions per slot, so that a burst cannot make a giant block. */
const DUE_PER_SLOT = 12;
const EXPIRED_PER_TRANSACTION = 6;
/** Probability per market and slot of a search for quotes that the oracle has left behind. */
const ARBITRAGE_PROBABILITY = 0.8;
const FAILURE_PROBABILITY = 0.3;

export function nextBlock(world: World, settings: Settings, slot = world.slot + 1): LedgerBlock {
  world.slot = slot;
  world.now = timeOfSlot(world.clock, world.slot);
  const run = new SlotRun(world, settings);
  for (const clob of world.clobs.values()) refreshActivation(clob, world.slot);
  if (settings.announce) announceTurn(run);
  pricesMove(run);
  dueThings(run);
  liquidationsTurn(run);
  makersTurn(run);
  takersTurn(run);
  economyTurn(run);
  vaultsTurn(run);
  if (settings.rarities) raritiesTurn(run);
  if (chance(world.rng, FAILURE_PROBABILITY)) run.transact((tx) => failSomething(tx));
  return { slot: world.slot, blockTime: world.now, transactions: run.transactions };
}

function pricesMove(run: SlotRun): void {
  const { world } = run;
  run.transact(postPrices);
  const turn = world.slot % world.perps.length;
  run.transact((tx) => postMakerPrice(tx, perpAt(world, turn)));
  run.transact((tx) => updateAmms(tx, world.slot % 2 === 0 ? world.perps : [perpAt(world, turn)]));
}

function dueThings(run: SlotRun): void {
  const { world } = run;
  for (const key of dueTriggers(world).slice(0, DUE_PER_SLOT)) {
    withFiller(run, (filler) => run.transact((tx) => trigger(tx, key, filler)));
  }
  for (const key of dueAuctions(world).slice(0, DUE_PER_SLOT)) {
    // An earlier fill of this slot may have closed the order.
    if (world.auctions.has(key)) withFiller(run, (filler) => run.transact((tx) => fillDueOrder(tx, key, filler)));
  }
  const shadows = dueShadows(world).slice(0, EXPIRED_PER_TRANSACTION);
  if (shadows.length > 0) withFiller(run, (filler) => run.transact((tx) => releaseShadows(tx, shadows, filler)));
  const pointless = pointlessOrders(world).slice(0, EXPIRED_PER_TRANSACTION);
  if (pointless.length > 0) withFiller(run, (filler) => run.transact((tx) => cancelPointless(tx, pointless, filler)));
  const expired: OrderKey[] = expiredOrders(world).slice(0, EXPIRED_PER_TRANSACTION);
  if (expired.length > 0) withFiller(run, (filler) => run.transact((tx) => expireOrders(tx, expired, filler)));
  for (const clob of world.clobs.values()) {
    const nodes = expiredNodes(clob, world.now);
    if (nodes.length > 0) run.transact((tx) => expireNodes(tx, clob, nodes));
    const pair = crossingPair(world, clob);
    if (pair) withFiller(run, (filler) => run.transact((tx) => crossBook(tx, clob, pair, filler)));
    const side = crowdedSide(clob);
    if (side) run.transact((tx) => evict(tx, clob, side));
  }
}

function withFiller(run: SlotRun, work: (filler: Trader) => void): void {
  const filler = run.someone('taker', 'saver');
  if (filler) work(filler);
}

function makersTurn(run: SlotRun): void {
  const turns = Math.min(MAKER_TURNS, run.count('fixedMaker', 'offsetMaker') / SLOTS_PER_MAKER_TURN);
  for (let turn = run.times(turns); turn > 0; turn--) {
    const maker = makerInNeed(run);
    if (maker) run.transact((tx) => refreshQuotes(tx, maker, run.settings));
  }
}

/** Of some makers the one that lacks most orders, so that a filled maker quotes again soon. */
function makerInNeed(run: SlotRun): Trader | undefined {
  let chosen: Trader | undefined;
  for (let look = 0; look < MAKERS_LOOKED_AT; look++) {
    const maker = run.someone(uniform(run.world.rng) < 0.75 ? 'fixedMaker' : 'offsetMaker');
    if (!maker) continue;
    const missing = ordersOf(maker, run.settings) - maker.account.open_orders;
    if (!chosen || missing > ordersOf(chosen, run.settings) - chosen.account.open_orders) chosen = maker;
  }
  return chosen;
}

function takersTurn(run: SlotRun): void {
  const { rng } = run.world;
  for (const index of run.world.perps.keys()) {
    const side = chance(rng, ARBITRAGE_PROBABILITY) ? arbitrageSide(run.world, index) : null;
    const trader = run.someone('taker');
    if (side && trader?.account.status === 0) run.transact((tx) => arbitrage(tx, trader, index, side));
  }
  for (let turn = run.times(TAKER_TURNS); turn > 0; turn--) {
    const role = pick(rng, ['taker', 'taker', 'taker', 'gambler', 'trigger', 'saver'] as const) ?? 'taker';
    const trader = run.someone(role);
    if (trader?.account.status === 0) run.transact((tx) => placeTakerOrder(tx, trader));
  }
  for (let turn = run.times(TRIGGER_TURNS); turn > 0; turn--) {
    const trader = run.someone('trigger', 'taker');
    if (trader?.account.status === 0) run.transact((tx) => placeTrigger(tx, trader));
  }
  for (let turn = run.times(CANCEL_TURNS); turn > 0; turn--) {
    const trader = run.someone('trigger', 'taker', 'saver');
    if (trader) run.transact((tx) => cancelSomething(tx, trader));
  }
}
