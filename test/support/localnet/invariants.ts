// Invariants of the simulated exchange's world between two slots.

import { type Clob, NO_NODE, NODE_OPEN, NODE_TAKER_ORIGIN, nodeAt, walk } from '../../../localnet/exchange/clob.ts';
import { isDormant, isOnClob, liveNode, unfilled } from '../../../localnet/exchange/orders.ts';
import type { StoredDepositor, VaultBook } from '../../../localnet/exchange/vault-model.ts';
import { orderAt, orderKey, type Trader, traderOf, type World } from '../../../localnet/exchange/world.ts';

/** Describes every broken invariant; empty when all hold. */
export function brokenRules(world: World): string[] {
  return [
    ...[...world.clobs.values()].flatMap(brokenThreads),
    ...brokenShadows(world),
    ...world.traders.filter(({ alive }) => alive).flatMap((trader) => brokenCounters(world, trader)),
    ...world.perps.flatMap((_, index) => brokenPerpTotals(world, index)),
    ...world.spots.flatMap((_, index) => brokenSpotTotals(world, index)),
    ...brokenSets(world),
    ...world.vaults.flatMap(brokenVault),
  ];
}

function rule(holds: boolean, text: string): string[] {
  return holds ? [] : [text];
}

function brokenThreads(clob: Clob): string[] {
  const header = clob.account;
  const broken: string[] = [];
  for (const ask of [false, true]) {
    const side = ask ? 'ask' : 'bid';
    const walked = [...walk(clob, ask)];
    const sorted = [...walked].sort((a, b) => {
      const [left, right] = [nodeAt(clob, a), nodeAt(clob, b)];
      if (left.price !== right.price) return (ask ? left.price < right.price : left.price > right.price) ? -1 : 1;
      return left.order_id < right.order_id ? -1 : 1;
    });
    broken.push(...rule(walked.join() === sorted.join(), `${side} thread is not in price-time order`));
    broken.push(...rule(walked.length === (ask ? header.ask_count : header.bid_count), `${side} count`));
    broken.push(...rule((walked.at(-1) ?? NO_NODE) === (ask ? header.worst_ask : header.worst_bid), `worst ${side}`));
    const backwards = threadBack(clob, ask ? header.worst_ask : header.worst_bid);
    broken.push(...rule(backwards.reverse().join() === walked.join(), `${side} thread differs backwards`));
    broken.push(...brokenTakerOrigins(clob, ask, walked));
  }
  let free = 0;
  for (let index = header.free_head; index !== NO_NODE; index = nodeAt(clob, index).next) {
    if (nodeAt(clob, index).bit_flags & NODE_OPEN) broken.push(`free node ${index} is open`);
    free++;
  }
  broken.push(...rule(free === header.free_count, 'free count'));
  return [...broken, ...rule(free + header.bid_count + header.ask_count === clob.nodes.length, 'nodes lost')];
}

function threadBack(clob: Clob, worst: number): number[] {
  const indexes: number[] = [];
  for (let index = worst; index !== NO_NODE; index = nodeAt(clob, index).prev) indexes.push(index);
  return indexes;
}

function brokenTakerOrigins(clob: Clob, ask: boolean, walked: readonly number[]): string[] {
  const side = ask ? 1 : 0;
  const threaded: number[] = [];
  let index = clob.account.taker_origin_head[side];
  for (; index !== NO_NODE; index = nodeAt(clob, index).taker_origin_next) threaded.push(index);
  const flagged = walked.filter((at) => nodeAt(clob, at).bit_flags & NODE_TAKER_ORIGIN);
  return [
    ...rule([...threaded].sort().join() === [...flagged].sort().join(), 'taker-origin thread'),
    ...rule(threaded.length === clob.account.taker_origin_count[side], 'taker-origin count'),
    ...rule((threaded.at(-1) ?? NO_NODE) === clob.account.taker_origin_tail[side], 'taker-origin tail'),
  ];
}

function brokenShadows(world: World): string[] {
  const broken: string[] = [];
  for (const clob of world.clobs.values()) {
    for (const ask of [false, true]) {
      for (const index of walk(clob, ask)) {
        const node = nodeAt(clob, index);
        const owner = traderOf(world, node.authority, node.sub_account_id);
        const shadow = owner.account.orders.find((order) => order?.order_id === node.client_order_id);
        const matches =
          shadow?.clob_order_id === node.order_id &&
          Number(shadow.clob_node_index) === index &&
          unfilled(shadow) === node.base_asset_amount &&
          shadow.price === node.price;
        broken.push(...rule(matches, `node ${index} has no matching shadow`));
      }
    }
  }
  for (const trader of world.traders) {
    for (const [slot, order] of trader.account.orders.entries()) {
      if (!order || !isOnClob(order) || liveNode(world, order) !== null) continue;
      broken.push(...rule(world.staleShadows.has(orderKey(trader, slot)), `shadow ${order.order_id} lost its node`));
    }
  }
  return broken;
}

function brokenCounters(world: World, trader: Trader): string[] {
  const user = trader.account;
  const open = user.orders.filter((order) => order !== null);
  const auctions = user.orders.filter((_, slot) => world.auctions.has(orderKey(trader, slot))).length;
  const broken = [
    ...rule(user.open_orders === open.length, `${trader.key} open orders`),
    ...rule(user.has_open_order === open.length > 0, `${trader.key} has open order`),
    ...rule(user.open_auctions === auctions, `${trader.key} open auctions`),
    ...rule(user.has_open_auction === auctions > 0, `${trader.key} has open auction`),
  ];
  for (const position of user.perp_positions) {
    const mine = open.filter((order) => order.market_type === 'perp' && order.market_index === position.market_index);
    const awake = mine.filter((order) => !isDormant(order));
    const sum = (direction: string): bigint =>
      awake.filter((order) => order.direction === direction).reduce((total, order) => total + unfilled(order), 0n);
    const reduceOnly = mine.filter((order) => isOnClob(order) && order.reduce_only).length;
    broken.push(
      ...rule(position.open_orders === mine.length, `${trader.key} position open orders`),
      ...rule(position.open_bids === sum('long'), `${trader.key} open bids`),
      ...rule(position.open_asks === -sum('short'), `${trader.key} open asks`),
      ...rule(position.reduce_only_clob_orders === reduceOnly, `${trader.key} reduce-only book orders`),
    );
  }
  return broken;
}

function brokenPerpTotals(world: World, index: number): string[] {
  const market = world.perps[index]?.account;
  if (!market) return [`no perp market ${index}`];
  const positions = world.traders
    .flatMap((trader) => trader.account.perp_positions)
    .filter((position) => position.market_index === index);
  const total = (pick: (position: (typeof positions)[number]) => bigint): bigint =>
    positions.reduce((sum, position) => sum + pick(position), 0n);
  const longs = total(({ base_asset_amount: base }) => (base > 0n ? base : 0n));
  const shorts = total(({ base_asset_amount: base }) => (base < 0n ? base : 0n));
  const entries = market.quote_entry_amount_long + market.quote_entry_amount_short;
  const users = positions.filter((position) => position.base_asset_amount !== 0n).length;
  return [
    ...rule(market.base_asset_amount_long === longs, `market ${index} long`),
    ...rule(market.base_asset_amount_short === shorts, `market ${index} short`),
    ...rule(market.amm.base_asset_amount_with_amm === longs + shorts, `market ${index} vAMM position`),
    ...rule(market.quote_asset_amount === total((position) => position.quote_asset_amount), `market ${index} quote`),
    ...rule(entries === total((position) => position.quote_entry_amount), `market ${index} entry`),
    ...rule(market.number_of_users_with_base === users, `market ${index} users`),
    ...rule(market.amm.base_asset_reserve > 0n && market.amm.peg_multiplier > 0n, `market ${index} curve`),
  ];
}

function brokenSpotTotals(world: World, index: number): string[] {
  const market = world.spots[index]?.account;
  if (!market) return [`no spot market ${index}`];
  const positions = world.traders
    .flatMap((trader) => trader.account.spot_positions)
    .filter((position) => position.market_index === index);
  const sum = (side: string): bigint =>
    positions
      .filter(({ balance_type: type }) => type === side)
      .reduce((total, { scaled_balance: scaled }) => total + scaled, 0n);
  const own = market.revenue_pool.scaled_balance + market.protocol_fee_pool.scaled_balance;
  const perpPools = world.perps.reduce(
    (total, { account }) =>
      total +
      account.pnl_pool.scaled_balance +
      account.amm.fee_pool.scaled_balance +
      account.protocol_fee_pool.scaled_balance,
    0n,
  );
  const pools = own + (index === 0 ? perpPools + spotFeePools(world) : 0n);
  return [
    ...rule(market.deposit_balance === sum('deposit') + pools, `spot market ${index} deposits`),
    ...rule(market.borrow_balance === sum('borrow'), `spot market ${index} borrows`),
  ];
}

/** Shares and deposits of a vault must equal those of its depositors and manager. */
function brokenVault({ vault: { key, account: vault }, depositors }: VaultBook): string[] {
  const total = (pick: (account: StoredDepositor['account']) => bigint): bigint =>
    depositors.reduce((sum, { account }) => sum + pick(account), 0n);
  const [ins, outs] = [total((one) => one.total_deposits), total((one) => one.total_withdraws)];
  const manager = vault.last_manager_withdraw_request;
  const requested = total((one) => one.last_withdraw_request.value) + manager.value;
  return [
    ...rule(vault.user_shares === total((one) => one.vault_shares), `vault ${key} user shares`),
    ...rule(vault.total_shares >= vault.user_shares + manager.shares, `vault ${key} manager shares`),
    ...rule(vault.total_deposits === ins + vault.manager_total_deposits, `vault ${key} deposits`),
    ...rule(vault.total_withdraws === outs + vault.manager_total_withdraws, `vault ${key} withdrawals`),
    ...rule(vault.net_deposits === vault.total_deposits - vault.total_withdraws, `vault ${key} net deposits`),
    ...rule(
      vault.net_deposits === total((one) => one.net_deposits) + vault.manager_net_deposits,
      `vault ${key} net deposits of depositors`,
    ),
    ...rule(vault.total_withdraw_requested === requested, `vault ${key} requests`),
    ...rule(
      depositors.every(({ account }) => account.vault_shares >= account.last_withdraw_request.shares),
      `vault ${key} asked-for shares`,
    ),
  ];
}

function spotFeePools(world: World): bigint {
  return world.spots.reduce((total, { account }) => total + account.spot_fee_pool.scaled_balance, 0n);
}

/** Each set of order keys must contain exactly its orders. */
function brokenSets(world: World): string[] {
  const broken: string[] = [];
  const all = [
    ...world.triggers,
    ...world.auctions.keys(),
    ...world.expiring.keys(),
    ...world.reduceOnly,
    ...world.staleShadows.keys(),
    ...world.resting.flatMap((orders) => [...orders.keys()]),
  ];
  for (const key of all) {
    try {
      orderAt(world, key);
    } catch {
      broken.push(`key ${key} outlived its order`);
    }
  }
  for (const key of world.triggers)
    broken.push(...rule(isDormant(orderAt(world, key).order), `trigger ${key} is awake`));
  return broken;
}
