// The liquidity pool behind the vAMMs: swaps, mints, redemptions, settlements and lending, to the extent of their records.

import { max } from './amounts.ts';
import { deriveKey } from './keys.ts';
import { below, between, chance, pick } from './random.ts';
import type { RecordData } from './records.ts';
import { emit, enterExchange, leave, mention, type Transaction, touch } from './transaction.ts';
import { perpAt, spotAt, spotPrice, type Trader } from './world.ts';

const PRICE_SCALE = 1_000_000n;
/** Target weights, 1e6: half quote, a quarter each of the others. */
const WEIGHTS: readonly bigint[] = [500_000n, 250_000n, 250_000n];

function weight(index: number): bigint {
  return WEIGHTS[index] ?? 0n;
}

/** Runs one of the pool's four actions. */
export function tendPool(tx: Transaction, trader: Trader, seed: number): void {
  const doing = pick(tx.world.rng, [poolSwap, mintOrRedeem, settleToPool, lend]);
  mention(tx, tx.world.lpPool.key);
  doing?.(tx, trader, seed);
}

function head(tx: Transaction): RecordData {
  return { ts: BigInt(tx.now), slot: BigInt(tx.slot), lp_pool: tx.world.lpPool.key };
}

function poolPrice(tx: Transaction): bigint {
  const { aum, supply } = tx.world.lpPool;
  return (aum * PRICE_SCALE) / max(1n, supply);
}

function poolSwap(tx: Transaction, trader: Trader): void {
  const { lpPool, rng } = tx.world;
  const inIndex = below(rng, 3);
  const outIndex = (inIndex + 1 + below(rng, 2)) % 3;
  const worth = BigInt(between(rng, 100, 20_000)) * PRICE_SCALE;
  const fee = worth / 2_500n;
  const tokens = (index: number, amount: bigint): bigint =>
    (amount * 10n ** BigInt(spotAt(tx.world, index).account.decimals)) / spotPrice(tx.world, index);
  enterExchange(tx, 'LpPoolSwap');
  mention(tx, trader.account.authority);
  lpPool.aum += fee;
  lpPool.nextId++;
  emit(tx, 'LPSwapRecord', {
    ...head(tx),
    authority: trader.account.authority,
    out_amount: tokens(outIndex, worth - fee),
    in_amount: tokens(inIndex, worth),
    out_fee: tokens(outIndex, fee),
    in_fee: 0n,
    out_spot_market_index: outIndex,
    in_spot_market_index: inIndex,
    out_constituent_index: outIndex,
    in_constituent_index: inIndex,
    out_oracle_price: spotPrice(tx.world, outIndex),
    in_oracle_price: spotPrice(tx.world, inIndex),
    last_aum: lpPool.aum,
    last_aum_slot: BigInt(tx.slot),
    in_market_current_weight: weight(inIndex),
    out_market_current_weight: weight(outIndex),
    in_market_target_weight: weight(inIndex),
    out_market_target_weight: weight(outIndex),
    in_swap_id: lpPool.nextId,
    out_swap_id: lpPool.nextId,
  });
  leave(tx);
}

function mintOrRedeem(tx: Transaction, trader: Trader, seed: number): void {
  const { lpPool, rng } = tx.world;
  const mints = lpPool.aum < 20_000_000_000_000n || chance(rng, 0.5);
  const amount = BigInt(between(rng, 50, 5_000)) * PRICE_SCALE;
  const price = poolPrice(tx);
  const shares = (amount * PRICE_SCALE) / max(1n, price);
  enterExchange(tx, mints ? 'LpPoolAddLiquidity' : 'LpPoolRemoveLiquidity');
  lpPool.aum += mints ? amount : -amount;
  lpPool.supply += mints ? shares : -shares;
  emit(tx, 'LPMintRedeemRecord', {
    ...head(tx),
    authority: trader.account.authority,
    description: mints ? 1 : 0,
    amount,
    fee: amount / 1_000n,
    spot_market_index: 0,
    constituent_index: 0,
    oracle_price: spotPrice(tx.world, 0),
    mint: deriveKey(seed, 'lp-mint'),
    lp_amount: shares,
    lp_fee: shares / 1_000n,
    lp_price: price,
    mint_redeem_id: lpPool.nextId++,
    last_aum: lpPool.aum,
    last_aum_slot: BigInt(tx.slot),
    in_market_current_weight: weight(0),
    in_market_target_weight: weight(0),
  });
  leave(tx);
}

function settleToPool(tx: Transaction): void {
  const { lpPool, rng } = tx.world;
  const perp = perpAt(tx.world, below(rng, tx.world.perps.length));
  const amount = BigInt(between(rng, -500, 700)) * PRICE_SCALE;
  enterExchange(tx, 'SettlePerpToLpPool');
  touch(tx, perp);
  lpPool.aum = max(PRICE_SCALE, lpPool.aum + amount);
  emit(tx, 'LPSettleRecord', {
    ...head(tx),
    record_id: lpPool.nextId++,
    last_ts: BigInt(lpPool.lastTs),
    last_slot: BigInt(lpPool.lastSlot),
    perp_market_index: perp.account.market_index,
    settle_to_lp_amount: amount,
    perp_amm_pnl_delta: amount / 2n,
    perp_amm_ex_fee_delta: amount / 4n,
    lp_aum: lpPool.aum,
    lp_price: poolPrice(tx),
  });
  lpPool.lastTs = tx.now;
  lpPool.lastSlot = tx.slot;
  leave(tx);
}

function lend(tx: Transaction): void {
  const { rng } = tx.world;
  const index = below(rng, 3);
  const lends = chance(rng, 0.5);
  const amount = BigInt(between(rng, 1_000, 900_000));
  enterExchange(tx, lends ? 'DepositToProgramVault' : 'WithdrawFromProgramVault');
  emit(tx, 'LPBorrowLendDepositRecord', {
    ...head(tx),
    spot_market_index: index,
    constituent_index: index,
    direction: lends ? 'deposit' : 'withdraw',
    token_balance: lends ? amount * 9n : amount * 7n,
    last_token_balance: amount * 8n,
    interest_accrued_token_amount: amount / 10_000n,
    amount_deposit_withdraw: amount,
  });
  leave(tx);
}
