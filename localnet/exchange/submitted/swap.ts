// Swaps: the exchange lends the input, a router between begin and end exchanges it, and end books what came back.

import { tokensOf } from '../balances.ts';
import { ASSOCIATED_TOKEN_PROGRAM, EXCHANGE_PROGRAM, ROUTER_PROGRAM, TOKEN_PROGRAM } from '../keys.ts';
import type { StoredSpot } from '../markets.ts';
import { type Stored, USER_BANKRUPT } from '../model.ts';
import { availableTokens, bookSwap, tokenTransfer } from '../savings.ts';
import { enter, enterExchange, leave, type Transaction, touch } from '../transaction.ts';
import type { Trader } from '../world.ts';
import { type Call, expectKey, expectRemaining, nameOf, ownUserOf } from './context.ts';
import { constraint, exchangeError, insufficientFunds, ProgramFailure } from './errors.ts';
import type { TokenAccount } from './guests.ts';
import { freeInitialCollateral } from './margin.ts';
import type { SubmittedInstruction, SubmittedTransaction } from './message.ts';
import { checkSlot } from './money.ts';

/** Programs that may stand between begin and end. */
const BETWEEN: ReadonlySet<string> = new Set([ROUTER_PROGRAM, ASSOCIATED_TOKEN_PROGRAM]);
/** Prices of a swap, output per input. */
const PRICE_DECIMALS = 6n;

interface Sides {
  readonly inSpot: StoredSpot;
  readonly outSpot: StoredSpot;
  readonly inTokens: Stored<TokenAccount>;
  readonly outTokens: Stored<TokenAccount>;
}

export function beginSwap(call: Call): void {
  const { tx } = call;
  const trader = ownUserOf(call);
  const { inSpot, outSpot, inTokens, outTokens } = sidesOf(call);
  const amountIn = call.args.amount_in as bigint;
  if ((trader.account.status & USER_BANKRUPT) !== 0) throw exchangeError('UserBankrupt');
  if (inSpot === outSpot) throw exchangeError('InvalidSwap', 'in and out market the same');
  if (amountIn === 0n) throw exchangeError('InvalidSwap', 'amount_in cannot be zero');
  if (tx.swap !== null) throw exchangeError('InvalidSwap', 'a swap is open already');
  expectEnd(call);
  if (amountIn > availableTokens(inSpot)) throw exchangeError('SpotMarketInsufficientDeposits');
  checkSlot(trader, inSpot);
  checkSlot(trader, outSpot);
  enterExchange(tx, 'BeginSwap');
  tokenTransfer(tx);
  tx.swap = {
    user: trader.key,
    inIndex: inSpot.account.market_index,
    outIndex: outSpot.account.market_index,
    amountIn,
    inBefore: inTokens.account.amount,
    outBefore: outTokens.account.amount,
  };
  inTokens.account.amount += amountIn;
  touch(tx, inTokens);
  leave(tx);
}

export function endSwap(call: Call): void {
  const { tx } = call;
  const trader = ownUserOf(call);
  const { inSpot, outSpot, inTokens, outTokens } = sidesOf(call);
  const open = tx.swap;
  const isOwn = open?.user === trader.key && open.inIndex === inSpot.account.market_index;
  if (!open || !isOwn || open.outIndex !== outSpot.account.market_index) throw exchangeError('InvalidSwap');
  tx.swap = null;
  const left = inTokens.account.amount - open.inBefore;
  const amountOut = outTokens.account.amount - open.outBefore;
  if (left < 0n || left > open.amountIn) throw exchangeError('InvalidSwap', 'the input account has another balance');
  const amountIn = open.amountIn - left;
  if (amountOut < 0n || (amountOut === 0n && amountIn > 0n))
    throw exchangeError('InvalidSwap', 'amount_out must be > 0');
  const { limit_price: limit, reduce_only: reduceOnly } = call.args as {
    limit_price: bigint | null;
    reduce_only: 'in' | 'out' | null;
  };
  if (limit !== null && amountIn > 0n && priceOf(amountIn, amountOut, inSpot, outSpot) < limit) {
    throw exchangeError('SwapLimitPriceBreached');
  }
  if (reduceOnly === 'in' && tokensOf(trader, inSpot) < amountIn) throw exchangeError('InvalidSwap', 'In: not reduced');
  if (reduceOnly === 'out' && tokensOf(trader, outSpot) + amountOut > 0n) {
    throw exchangeError('InvalidSwap', 'Out: not reduced');
  }
  enterExchange(tx, 'EndSwap');
  // One transfer returns the rest of the input, the other deposits the output.
  tokenTransfer(tx);
  tokenTransfer(tx);
  inTokens.account.amount = open.inBefore;
  outTokens.account.amount = open.outBefore;
  touch(tx, inTokens, outTokens);
  bookSwap(tx, trader, { from: inSpot, to: outSpot, amountIn, amountOut, fee: 0n });
  checkMargin(tx, trader);
  leave(tx);
}

/**
 * The router of the simulated cluster: takes one token from the wallet and gives another. Data: a zero, the input and the output in
 * token units, 8 bytes each, little-endian. Accounts: the wallet, its input and its output account.
 */
export function router(tx: Transaction, submitted: SubmittedTransaction, instruction: SubmittedInstruction): void {
  const [wallet = '', input = '', output = ''] = instruction.accounts;
  const bytes = Buffer.from(instruction.data);
  enter(tx, ROUTER_PROGRAM, 'Route');
  if (bytes.length !== 17 || bytes[0] !== 0) throw new ProgramFailure('InvalidInstructionData');
  if (!submitted.signers.has(wallet)) throw new ProgramFailure('MissingRequiredSignature');
  const { tokens } = tx.world.guests;
  const [from, to] = [tokens.get(input), tokens.get(output)];
  if (from?.account.owner !== wallet || !to) throw new ProgramFailure('InvalidAccountData');
  tokenTransfer(tx);
  const amount = bytes.readBigUInt64LE(1);
  if (from.account.amount < amount) throw insufficientFunds();
  from.account.amount -= amount;
  to.account.amount += bytes.readBigUInt64LE(9);
  touch(tx, from, to);
  leave(tx);
}

function sidesOf(call: Call): Sides {
  expectKey(call, 'velocity_signer', call.tx.world.state.account.signer);
  expectKey(call, 'token_program', TOKEN_PROGRAM);
  const inSpot = spotOf(call, 'in');
  const outSpot = spotOf(call, 'out');
  return { inSpot, outSpot, inTokens: tokensFor(call, 'in', inSpot), outTokens: tokensFor(call, 'out', outSpot) };
}

function spotOf(call: Call, side: 'in' | 'out'): StoredSpot {
  const spot = call.tx.world.spots[call.args[`${side}_market_index`] as number];
  if (!spot) throw exchangeError('SpotMarketNotFound');
  expectKey(call, `${side}_spot_market_vault`, spot.account.vault);
  expectRemaining(call, [spot.account.oracle, spot.key], () => exchangeError('SpotMarketNotFound'));
  return spot;
}

function tokensFor({ tx, accounts }: Call, side: 'in' | 'out', { account: market }: StoredSpot): Stored<TokenAccount> {
  const name = `${side}_token_account`;
  const found = tx.world.guests.tokens.get(accounts[name] ?? '');
  if (!found) throw constraint('AccountNotInitialized', name);
  if (found.account.mint !== market.mint || found.account.owner !== accounts.authority) {
    throw constraint('ConstraintRaw', name);
  }
  return found;
}

/** The next call of the exchange must end this swap, and only allowed programs may stand before it. */
function expectEnd({ submitted, instruction }: Call): void {
  const later = submitted.instructions.slice(submitted.instructions.indexOf(instruction) + 1);
  const at = later.findIndex(({ program }) => program === EXCHANGE_PROGRAM);
  const end = later[at];
  if (!end || nameOf(end.data) !== 'end_swap') throw exchangeError('InvalidSwap', 'No EndSwap found');
  if (later.slice(0, at).some(({ program }) => !BETWEEN.has(program))) {
    throw exchangeError('InvalidSwap', 'Only allowed programs may stand between BeginSwap and EndSwap');
  }
  if (end.accounts.join() !== instruction.accounts.join())
    throw exchangeError('InvalidSwap', 'Other accounts in EndSwap');
}

/** Output per input, scale PRICE_DECIMALS. */
function priceOf(amountIn: bigint, amountOut: bigint, inSpot: StoredSpot, outSpot: StoredSpot): bigint {
  const scaledOut = amountOut * 10n ** (BigInt(inSpot.account.decimals) + PRICE_DECIMALS);
  return scaledOut / amountIn / 10n ** BigInt(outSpot.account.decimals);
}

function checkMargin(tx: Transaction, trader: Trader): void {
  if (freeInitialCollateral(tx.world, trader) >= 0n) return;
  throw exchangeError('InsufficientCollateral', 'the account lacks initial margin after the swap');
}
