// Actions around the vaults: they open, trade, and their depositors and managers act. Rates are per slot at activity 1.

import { GENESIS_SLOT, isFast } from './clock.ts';
import { deriveKey, exchangeAddress, keyBytes, text, vaultProgramAddress } from './keys.ts';
import { paddedName } from './markets.ts';
import { USER_VAULT_OWNED } from './model.ts';
import { addVaultTrader } from './population.ts';
import { between, chance, pick } from './random.ts';
import type { SlotRun } from './slot-run.ts';
import { placeTakerOrder } from './taking.ts';
import { emit, enterExchange, enterVaults, leave, type Transaction, touch } from './transaction.ts';
import { noRequest, type StoredDepositor, type StoredVault, type VaultBook } from './vault-model.ts';
import {
  applyProfitShare,
  cancelRequest,
  canWithdraw,
  depositAsManager,
  depositShares,
  requestOf,
  requestWithdrawal,
  transferShares,
  vaultEquity,
  vaultTrader,
  withdrawShares,
} from './vault-program.ts';
import { spotAt, statsOf } from './world.ts';

interface VaultListing {
  readonly name: string;
  readonly spotMarketIndex: number;
  /** Its main perp market. */
  readonly homeMarket: number;
  /** Per year, 1e6. */
  readonly managementFee: bigint;
  /** 1e6. */
  readonly profitShare: number;
  readonly hurdleRate: number;
  readonly permissioned: boolean;
  /** Whole tokens: the manager's deposit, and the size of one deposit. */
  readonly managerTokens: number;
  readonly depositTokens: readonly [number, number];
}

const LISTINGS: readonly VaultListing[] = [
  {
    name: 'Basis One',
    spotMarketIndex: 0,
    homeMarket: 0,
    managementFee: 20_000n,
    profitShare: 200_000,
    hurdleRate: 0,
    permissioned: false,
    managerTokens: 150_000,
    depositTokens: [1_000, 60_000],
  },
  {
    name: 'Sol Carry',
    spotMarketIndex: 1,
    homeMarket: 1,
    managementFee: 10_000n,
    profitShare: 100_000,
    hurdleRate: 50_000,
    permissioned: true,
    managerTokens: 1_500,
    depositTokens: [10, 400],
  },
];
/** Vault i opens in slot 3 + 2 i. */
const FIRST_AGE = 3;
const SPACING = 2;
const RATES = { trade: 0.25, depositor: 0.12, manager: 0.02, profitShare: 0.01, transfer: 0.006 };
const DEPOSITORS_MAX = 12;
/** Redeem period in seconds, on a real and on a fast clock. */
const REDEEM_SECONDS = 20n;
const REDEEM_SECONDS_FAST = 86_400n;
/** A vault with less of its token stops acting: whole tokens, as a part of the manager's deposit. */
const LEAST_PART = 50n;

export function vaultsTurn(run: SlotRun): void {
  const { world } = run;
  const age = world.slot - GENESIS_SLOT;
  const listing = LISTINGS[world.vaults.length];
  if (listing && age >= FIRST_AGE + SPACING * world.vaults.length) openVault(run, listing);
  for (const book of world.vaults) if (isSound(run, book)) vaultTurn(run, book);
}

function vaultTurn(run: SlotRun, book: VaultBook): void {
  const { world } = run;
  const trader = vaultTrader(world, book);
  for (let turn = run.times(RATES.trade); turn > 0; turn--) {
    if (trader.account.status === USER_VAULT_OWNED) run.transact((tx) => placeTakerOrder(tx, trader));
  }
  if (run.times(RATES.depositor) > 0) depositorTurn(run, book);
  if (run.times(RATES.manager) > 0) managerTurn(run, book);
  const one = pick(world.rng, holdersOf(book));
  // The program charges no profit share on requested shares.
  const takesProfit = one && run.times(RATES.profitShare) > 0 && requestOf(book, one).shares === 0n;
  if (takesProfit) run.transact((tx) => applyProfitShare(tx, book, one));
  if (one && run.times(RATES.transfer) > 0) {
    const other = book.depositors.find((candidate) => candidate !== one);
    if (other && requestOf(book, one).shares === 0n) run.transact((tx) => transferShares(tx, book, one, other));
  }
}

const holdersOf = (book: VaultBook): StoredDepositor[] =>
  book.depositors.filter(({ account }) => account.vault_shares > 0n);

/** False for a vault without value: its shares have no price. */
function isSound(run: SlotRun, book: VaultBook): boolean {
  return vaultEquity(run.world, book) > book.vault.account.manager_total_deposits / LEAST_PART;
}

function listingOf(run: SlotRun, book: VaultBook): VaultListing {
  const listing = LISTINGS[run.world.vaults.indexOf(book)];
  if (!listing) throw new RangeError('a vault that is not listed');
  return listing;
}

function tokens(run: SlotRun, spotMarketIndex: number, whole: number): bigint {
  return BigInt(whole) * 10n ** BigInt(spotAt(run.world, spotMarketIndex).account.decimals);
}

function openVault(run: SlotRun, listing: VaultListing): void {
  const book: VaultBook[] = [];
  run.transact((tx) => book.push(initialize(tx, run, listing)));
  const [opened] = book;
  if (!opened) return;
  const amount = tokens(run, listing.spotMarketIndex, listing.managerTokens);
  run.transact((tx) => depositAsManager(tx, opened, amount));
}

/** Opens the vault and, through the exchange, its trading account. */
function initialize(tx: Transaction, run: SlotRun, listing: VaultListing): VaultBook {
  const { world } = tx;
  const name = paddedName(listing.name);
  const key = vaultProgramAddress(text('vault'), Uint8Array.from(name));
  const manager = deriveKey(run.settings.seed, `manager ${listing.name}`);
  enterVaults(tx, 'InitializeVault');
  const trader = addVaultTrader(world, key, manager, listing.homeMarket);
  const stats = statsOf(world, trader);
  const vault: StoredVault = {
    key,
    type: 'Vault',
    grown: 0,
    account: {
      name,
      pubkey: key,
      manager,
      token_account: vaultProgramAddress(text('vault_token_account'), keyBytes(key)),
      user_stats: exchangeAddress(text('user_stats'), keyBytes(key)),
      user: trader.key,
      delegate: manager,
      user_shares: 0n,
      total_shares: 0n,
      last_fee_update_ts: BigInt(tx.now),
      redeem_period: isFast(world.clock) ? REDEEM_SECONDS_FAST : REDEEM_SECONDS,
      total_withdraw_requested: 0n,
      max_tokens: tokens(run, listing.spotMarketIndex, listing.managerTokens * 20),
      management_fee: listing.managementFee,
      init_ts: BigInt(tx.now),
      net_deposits: 0n,
      manager_net_deposits: 0n,
      total_deposits: 0n,
      total_withdraws: 0n,
      manager_total_deposits: 0n,
      manager_total_withdraws: 0n,
      manager_total_fee: 0n,
      manager_total_profit_share: 0n,
      min_deposit_amount: 0n,
      last_manager_withdraw_request: noRequest(),
      profit_share: listing.profitShare,
      hurdle_rate: listing.hurdleRate,
      spot_market_index: listing.spotMarketIndex,
      bump: 255,
      permissioned: listing.permissioned,
    },
  };
  const book: VaultBook = { vault, traderId: trader.id, depositors: [] };
  world.vaults.push(book);
  touch(tx, vault);
  enterExchange(tx, 'InitializeUser');
  touch(tx, trader, stats, world.state);
  emit(tx, 'NewUserRecord', {
    ts: BigInt(tx.now),
    user_authority: key,
    user: trader.key,
    sub_account_id: trader.account.sub_account_id,
    name: trader.account.name,
    referrer: stats.account.referrer,
  });
  leave(tx);
  leave(tx);
  return book;
}

/** A new wallet deposits, or a depositor adds, requests, cancels or withdraws. */
function depositorTurn(run: SlotRun, book: VaultBook): void {
  const { world } = run;
  const { rng } = world;
  const listing = listingOf(run, book);
  const amount = (): bigint => tokens(run, listing.spotMarketIndex, between(rng, ...listing.depositTokens));
  const wallet = run.someone('saver', 'taker')?.account.authority;
  const isNew = wallet !== undefined && book.depositors.every(({ account }) => account.authority !== wallet);
  if (isNew && book.depositors.length < DEPOSITORS_MAX && chance(rng, 0.4)) {
    run.transact((tx) => depositShares(tx, book, initializeDepositor(tx, book, wallet), amount()));
    return;
  }
  const one = pick(rng, book.depositors);
  if (!one) return;
  if (canWithdraw(world, book, one)) run.transact((tx) => withdrawShares(tx, book, one));
  else if (requestOf(book, one).shares > 0n) {
    if (chance(rng, 0.1)) run.transact((tx) => cancelRequest(tx, book, one));
  } else if (one.account.vault_shares > 0n && chance(rng, 0.5)) {
    const part = chance(rng, 0.3) ? 1_000_000n : BigInt(between(rng, 100_000, 800_000));
    run.transact((tx) => requestWithdrawal(tx, book, one, part));
  } else run.transact((tx) => depositShares(tx, book, one, amount()));
}

function initializeDepositor(tx: Transaction, book: VaultBook, authority: string): StoredDepositor {
  const { key: vault } = book.vault;
  const key = vaultProgramAddress(text('vault_depositor'), keyBytes(vault), keyBytes(authority));
  const made: StoredDepositor = {
    key,
    type: 'VaultDepositor',
    grown: 0,
    account: {
      vault,
      pubkey: key,
      authority,
      vault_shares: 0n,
      last_withdraw_request: noRequest(),
      last_valid_ts: BigInt(tx.now),
      net_deposits: 0n,
      total_deposits: 0n,
      total_withdraws: 0n,
      cumulative_profit_share_amount: 0n,
      profit_share_fee_paid: 0n,
    },
  };
  enterVaults(tx, 'InitializeVaultDepositor');
  book.depositors.push(made);
  touch(tx, book.vault, made);
  leave(tx);
  return made;
}

function managerTurn(run: SlotRun, book: VaultBook): void {
  const { world } = run;
  const { rng } = world;
  const listing = listingOf(run, book);
  if (canWithdraw(world, book, null)) run.transact((tx) => withdrawShares(tx, book, null));
  else if (requestOf(book, null).shares === 0n && chance(rng, 0.5)) {
    run.transact((tx) => requestWithdrawal(tx, book, null, BigInt(between(rng, 20_000, 150_000))));
  } else {
    const whole = Math.max(1, Math.floor(listing.managerTokens / between(rng, 10, 40)));
    run.transact((tx) => depositAsManager(tx, book, tokens(run, listing.spotMarketIndex, whole)));
  }
}
