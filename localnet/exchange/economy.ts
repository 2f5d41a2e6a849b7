// Everything except quoting and taking: funding, settlement, deposits, insurance, liquidations, and new and closing
// accounts. Rates are per slot at activity 1; periods are in slots.

import { tokensOf } from './balances.ts';
import { announceBook, canGrow, changeSettings, placeCrossing, resizeBook, takerOriginOnTop } from './book-care.ts';
import { GENESIS_SLOT } from './clock.ts';
import { fundingIsDue, hasUnpaidFunding, payFunding, updateFundingRate } from './funding.ts';
import { depositIntoVault, settleRevenue, tendStake } from './insurance.ts';
import { liquidate, liquidateDebt } from './liquidation.ts';
import { tendPool } from './lp-pool.ts';
import { isLiquidatable } from './margin.ts';
import { USER_VAULT_OWNED } from './model.ts';
import { canClose, closeAccount, forceCancel, isIdle, markIdle, openAccount, staysPut } from './newcomers.ts';
import { NEWCOMERS } from './population.ts';
import { below, chance, pick } from './random.ts';
import { settleRevenueShare, toggleAcceleratedReferral } from './rewards.ts';
import { accrueInterest, reward, swap, tendPurse, transferBetween } from './savings.ts';
import { settlePnl, sweepFees, transferPools, withdrawProtocolFees, withdrawProtocolUser } from './settlement.ts';
import type { SlotRun } from './slot-run.ts';
import { perpAt, spotAt, type Trader, traderById } from './world.ts';

const RATES = {
  settlePnl: 0.5,
  purse: 0.4,
  transfer: 0.06,
  reward: 0.02,
  swap: 0.12,
  stake: 0.06,
  pool: 0.05,
  vaultDeposit: 0.004,
  referralStatus: 0.01,
  crossing: 0.03,
  /** The same while a taker's unfilled remainder is the best order of its side. */
  crossingRemainder: 0.3,
  newcomer: 0.002,
  departure: 0.003,
  forcedCancel: 0.004,
  /** Produces rare kinds of liquidation: treats an account with a debt as unhealthy. */
  weakSpot: 0.008,
};
const PERIODS = {
  interest: 60,
  sweep: 90,
  protocolWithdraw: 400,
  protocolUser: 650,
  poolTransfer: 300,
  revenue: 240,
  builder: 110,
  settings: 800,
  resize: 1_500,
};
/** Slots between two new accounts in the first minute. */
const NEWCOMER_SPACING = 5;
const FUNDING_SETTLED_PER_SLOT = 2;
const ACCOUNTS_CHECKED_PER_SLOT = 16;
const PROTOCOL_USER_AMOUNT = 5_000_000n;
/** Limit of accounts beyond the initial number. */
const GUESTS_MAX = 12;

/** Checks some accounts and liquidates unhealthy ones. An account under liquidation is checked every slot. */
export function liquidationsTurn(run: SlotRun): void {
  const { world } = run;
  const looked = new Set(
    world.traders.filter(({ alive, account }) => alive && (account.status & ~USER_VAULT_OWNED) !== 0),
  );
  for (let count = 0; count < ACCOUNTS_CHECKED_PER_SLOT; count++) {
    looked.add(traderById(world, below(world.rng, world.traders.length)));
  }
  for (const trader of looked) {
    if (!trader.alive || !isLiquidatable(world, trader)) continue;
    const liquidator = run.someone('offsetMaker');
    if (liquidator && liquidator !== trader) run.transact((tx) => liquidate(tx, trader, liquidator));
  }
  if (run.times(RATES.weakSpot) === 0) return;
  const debtor = pick(
    world.rng,
    world.traders.filter((trader) => isDebtor(run, trader)),
  );
  const liquidator = run.someone('offsetMaker');
  if (debtor && liquidator) run.transact((tx) => liquidateDebt(tx, debtor, liquidator));
}

function isDebtor(run: SlotRun, trader: Trader): boolean {
  if (!trader.alive || staysPut(trader)) return false;
  return run.world.spots.some((spot) => tokensOf(trader, spot) < 0n);
}

export function economyTurn(run: SlotRun): void {
  fundingTurn(run);
  tradersTurn(run);
  housekeeping(run);
  accountsTurn(run);
  booksTurn(run);
}

function fundingTurn(run: SlotRun): void {
  const { world } = run;
  for (const perp of world.perps) {
    if (fundingIsDue(perp, world.now)) run.transact((tx) => updateFundingRate(tx, perp));
  }
  let settled = 0;
  for (const trader of world.traders) {
    if (settled >= FUNDING_SETTLED_PER_SLOT) break;
    if (!trader.alive || !hasUnpaidFunding(world, trader)) continue;
    run.transact((tx) => payFunding(tx, trader));
    settled++;
  }
  for (let turn = run.times(RATES.settlePnl); turn > 0; turn--) {
    const trader = run.someone('taker', 'gambler', 'trigger', 'saver', 'fixedMaker', 'offsetMaker', 'vault');
    const position = trader && pick(world.rng, trader.account.perp_positions);
    if (trader && position) run.transact((tx) => settlePnl(tx, trader, perpAt(world, position.market_index)));
  }
}

function tradersTurn(run: SlotRun): void {
  const anybody = (): Trader | undefined => run.someone('taker', 'gambler', 'trigger', 'saver');
  repeat(run, RATES.purse, anybody, (trader) => {
    if (trader.account.status === 0) run.transact((tx) => tendPurse(tx, trader));
  });
  repeat(run, RATES.transfer, anybody, (trader) => {
    const sibling = siblingOf(run, trader);
    if (sibling) run.transact((tx) => transferBetween(tx, trader, sibling));
  });
  repeat(run, RATES.reward, anybody, (trader) => run.transact((tx) => reward(tx, trader)));
  repeat(
    run,
    RATES.swap,
    () => run.someone('saver'),
    (trader) => run.transact((tx) => swap(tx, trader)),
  );
  repeat(
    run,
    RATES.stake,
    () => run.someone('saver'),
    (trader) => run.transact((tx) => tendStake(tx, trader)),
  );
  repeat(
    run,
    RATES.pool,
    () => run.someone('saver'),
    (trader) => run.transact((tx) => tendPool(tx, trader, run.settings.seed)),
  );
  repeat(run, RATES.referralStatus, anybody, (trader) => run.transact((tx) => toggleAcceleratedReferral(tx, trader)));
}

function repeat(run: SlotRun, rate: number, who: () => Trader | undefined, act: (trader: Trader) => void): void {
  for (let turn = run.times(rate); turn > 0; turn--) {
    const trader = who();
    if (trader) act(trader);
  }
}

function siblingOf(run: SlotRun, trader: Trader): Trader | undefined {
  const { authority } = trader.account;
  return run.world.traders.find((other) => other.alive && other !== trader && other.account.authority === authority);
}

function housekeeping(run: SlotRun): void {
  const { world, settings } = run;
  const age = world.slot - GENESIS_SLOT;
  const turns = (period: number, offset = 0): boolean => age % period === offset % period;
  for (const [index, spot] of world.spots.entries()) {
    if (turns(PERIODS.interest, 20 * (index + 1))) run.transact((tx) => accrueInterest(tx, spot));
  }
  for (const [index, perp] of world.perps.entries()) {
    if (turns(PERIODS.sweep, 17 * (index + 1))) run.transact((tx) => sweepFees(tx, perp));
    if (turns(PERIODS.protocolWithdraw, 90 * (index + 1))) {
      run.transact((tx) => withdrawProtocolFees(tx, perp, settings.seed));
    }
    const next = perpAt(world, (index + 1) % world.perps.length);
    if (turns(PERIODS.poolTransfer, 70 * (index + 1))) run.transact((tx) => transferPools(tx, perp, next));
  }
  if (turns(PERIODS.revenue)) run.transact(settleRevenue);
  if (turns(PERIODS.builder)) run.transact((tx) => settleRevenueShare(tx, below(world.rng, world.perps.length)));
  if (turns(PERIODS.protocolUser)) {
    run.transact((tx) => withdrawProtocolUser(tx, settings.seed, PROTOCOL_USER_AMOUNT));
  }
  if (run.times(RATES.vaultDeposit) > 0) {
    const spot = spotAt(world, below(world.rng, world.spots.length));
    run.transact((tx) => depositIntoVault(tx, spot.account.market_index, 1_000n + BigInt(below(world.rng, 1_000_000))));
  }
}

function accountsTurn(run: SlotRun): void {
  const { world, settings } = run;
  const age = world.slot - GENESIS_SLOT;
  const isDebut = age % NEWCOMER_SPACING === 0 && age <= NEWCOMERS * NEWCOMER_SPACING;
  const living = world.traders.filter(({ alive }) => alive).length;
  const mayCome = living < settings.accounts + GUESTS_MAX;
  if (isDebut || (mayCome && run.times(RATES.newcomer) > 0)) run.transact((tx) => openAccount(tx, settings.seed));
  if (run.times(RATES.departure) > 0) {
    const leaver = pick(
      world.rng,
      world.traders.filter((trader) => trader.alive && canClose(world, trader)),
    );
    if (leaver) run.transact((tx) => closeAccount(tx, leaver));
  }
  const sleeper = world.traders.find((trader) => trader.alive && isIdle(trader, world.slot));
  if (sleeper) run.transact((tx) => markIdle(tx, sleeper));
  if (run.times(RATES.forcedCancel) > 0) {
    const filler = run.someone('saver');
    const weak = world.traders.filter(
      ({ alive, role, account }) => alive && role === 'gambler' && account.has_open_order,
    );
    const trader = pick(world.rng, weak);
    if (filler && trader) run.transact((tx) => forceCancel(tx, trader, filler));
  }
}

function booksTurn(run: SlotRun): void {
  const { world } = run;
  const age = world.slot - GENESIS_SLOT;
  for (const [index, clob] of world.clobs) {
    if (age === 1) run.transact((tx) => announceBook(tx, clob));
    if (age % PERIODS.settings === PERIODS.settings - 100 * (index + 1)) run.transact((tx) => changeSettings(tx, clob));
    if (age % PERIODS.resize === PERIODS.resize - 50 * (index + 1) && canGrow(clob)) {
      run.transact((tx) => resizeBook(tx, clob));
    }
    const against = takerOriginOnTop(clob);
    if (run.times(against ? RATES.crossingRemainder : RATES.crossing) > 0) {
      const trader = run.someone('taker');
      const direction = against ?? (chance(world.rng, 0.5) ? 'long' : 'short');
      if (trader?.account.status === 0) run.transact((tx) => placeCrossing(tx, trader, clob, direction));
    }
  }
}
