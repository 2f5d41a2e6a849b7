// Rare events, made frequent enough for a simulated month to show all of them. Rates are per slot at activity 1; they use
// a random sequence of their own.

import { tokensOf } from './balances.ts';
import { resolveBankruptcy, writeOffDebt } from './bankruptcy.ts';
import { coverDeficit, depositAsAdmin, transferStake } from './insurance.ts';
import { liquidateDebt, liquidateLoss } from './liquidation.ts';
import type { PerpPosition } from './model.ts';
import { canClose, closeAccount, openAccount, staysPut } from './newcomers.ts';
import { below, chance, pick } from './random.ts';
import { settleReferrer } from './rewards.ts';
import { tradeWithSelf, transferPosition } from './siblings.ts';
import type { SlotRun } from './slot-run.ts';
import type { Transaction } from './transaction.ts';
import { perpAt, type Trader } from './world.ts';

const RATES = {
  positionTransfer: 0.03,
  selfTrade: 0.02,
  perpBankruptcy: 0.008,
  lossForDeposit: 0.01,
  debt: 0.01,
  debtWrittenOff: 0.006,
  deficit: 0.01,
  stakeTransfer: 0.01,
  adminDeposit: 0.002,
  referredNewcomer: 0.008,
  referrerPaid: 0.02,
  closure: 0.1,
};
/** Smallest loss that counts as a bankruptcy, quote 1e6. */
const LOSS_MIN = 1_000_000n;
/** Limit of additional accounts with a referrer, so that a long run does not fill up with them. */
const REFERRED_MAX = 40;
/** Markets whose quotes rest in accounts. Their trades need no call of the market-level book. */
const ACCOUNT_MARKETS: readonly number[] = [2, 3];

export function raritiesTurn(run: SlotRun): void {
  const { rng } = run.world.rare;
  const happens = (rate: number): boolean => chance(rng, Math.min(1, rate * run.settings.activity));
  if (happens(RATES.positionTransfer)) handOver(run);
  if (happens(RATES.selfTrade)) selfTrade(run);
  if (happens(RATES.perpBankruptcy)) fail(run, isBroke, resolveBankruptcy);
  if (happens(RATES.lossForDeposit)) fail(run, isLosing, liquidateLoss);
  if (happens(RATES.debt)) debtCalled(run, liquidateDebt);
  if (happens(RATES.debtWrittenOff)) debtCalled(run, writeOffDebt);
  if (happens(RATES.deficit)) {
    const perp = perpAt(run.world, below(rng, run.world.perps.length));
    run.transact((tx) => coverDeficit(tx, perp, BigInt(1 + below(rng, 400)) * 1_000_000n));
  }
  if (happens(RATES.stakeTransfer)) transferOfStake(run);
  if (happens(RATES.adminDeposit)) run.transact((tx) => depositAsAdmin(tx, 25_000_000n));
  if (happens(RATES.referredNewcomer)) referredNewcomer(run);
  if (happens(RATES.closure)) closure(run);
  if (happens(RATES.referrerPaid)) {
    const referrer = pick(rng, [...run.world.referrers.keys()]);
    if (referrer) run.transact((tx) => settleReferrer(tx, referrer, below(rng, run.world.perps.length)));
  }
}

/** Two open accounts of one wallet outside liquidation, or undefined. */
function siblings(run: SlotRun): readonly [Trader, Trader] | undefined {
  const byWallet = new Map<string, Trader[]>();
  for (const trader of run.world.traders) {
    if (!trader.alive || trader.role === 'guest' || trader.account.status !== 0) continue;
    byWallet.set(trader.account.authority, [...(byWallet.get(trader.account.authority) ?? []), trader]);
  }
  const pairs = [...byWallet.values()].filter((accounts) => accounts.length > 1);
  const [first, second] = pick(run.world.rare.rng, pairs) ?? [];
  if (!first || !second) return undefined;
  return chance(run.world.rare.rng, 0.5) ? [first, second] : [second, first];
}

function handOver(run: SlotRun): void {
  const pair = siblings(run);
  if (!pair) return;
  const [from, to] = pair;
  const held = from.account.perp_positions.filter(({ base_asset_amount: base }) => base !== 0n);
  const position = pick(run.world.rare.rng, held);
  // An open reduce-only order would lose its position, so this skips such accounts.
  if (!position || from.account.orders.some((order) => order?.reduce_only)) return;
  run.transact((tx) => transferPosition(tx, from, to, position.market_index));
}

function selfTrade(run: SlotRun): void {
  const pair = siblings(run);
  const market = pick(run.world.rare.rng, ACCOUNT_MARKETS);
  if (pair && market !== undefined) run.transact((tx) => tradeWithSelf(tx, pair[0], pair[1], market));
}

function fail(run: SlotRun, suits: (position: PerpPosition) => boolean, step: Step): void {
  liquidateOne(
    run,
    run.world.traders.filter(({ account }) => account.perp_positions.some(suits)),
    step,
  );
}

/** Acts against an account with a debt. */
function debtCalled(run: SlotRun, step: Step): void {
  const { spots, traders } = run.world;
  liquidateOne(
    run,
    traders.filter((trader) => spots.some((spot) => tokensOf(trader, spot) < 0n)),
    step,
  );
}

type Step = (tx: Transaction, trader: Trader, liquidator: Trader) => boolean;

/** Leaves makers alone: the books need them. */
function liquidateOne(run: SlotRun, candidates: readonly Trader[], step: Step): void {
  const weak = candidates.filter((trader) => trader.alive && !staysPut(trader));
  const trader = pick(run.world.rare.rng, weak);
  const liquidator = run.someone('offsetMaker');
  if (trader && liquidator) run.transact((tx) => step(tx, trader, liquidator));
}

function isBroke({ base_asset_amount: base, quote_asset_amount: quote }: PerpPosition): boolean {
  return base === 0n && quote < -LOSS_MIN;
}

function isLosing({ quote_asset_amount: quote }: PerpPosition): boolean {
  return quote < -LOSS_MIN;
}

function transferOfStake(run: SlotRun): void {
  const { rng } = run.world.rare;
  const savers = run.world.traders.filter(({ alive, role }) => alive && role === 'saver');
  const from = pick(rng, savers);
  const to = pick(rng, savers);
  if (from && to) run.transact((tx) => transferStake(tx, from, to));
}

/** Few accounts can be closed, so the search is frequent; most accounts must stay. */
function closure(run: SlotRun): void {
  const { world, settings } = run;
  const living = world.traders.filter(({ alive }) => alive);
  if (living.length < settings.accounts) return;
  const leaver = pick(
    world.rare.rng,
    living.filter((trader) => canClose(world, trader)),
  );
  if (leaver) run.transact((tx) => closeAccount(tx, leaver));
}

function referredNewcomer(run: SlotRun): void {
  const { world, settings } = run;
  const referrer = pick(
    world.rare.rng,
    world.traders.filter(({ alive, role }) => alive && role === 'taker'),
  );
  const living = world.traders.filter(({ alive }) => alive).length;
  if (!referrer || living > settings.accounts + REFERRED_MAX) return;
  run.transact((tx) => openAccount(tx, settings.seed, referrer.account.authority));
}
