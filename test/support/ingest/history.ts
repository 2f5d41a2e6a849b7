// Random histories of accounts for tests, with their expected final states.

import type { AccountUpdate } from '../../../ingest/source.ts';
import { seededRandom } from '../platform/chance.ts';
import {
  type BookNode,
  CLOB,
  clobBytes,
  clobKey,
  marketBytes,
  marketKeyOf,
  PERP,
  USER,
  type UserState,
  update,
  userBytes,
  userKey,
} from './accounts.ts';

const USERS = 3;
const MARKETS = 2;
const BOOKS = 2;

/** Final states of all accounts. */
export interface World {
  readonly users: Map<number, UserState | null>;
  /** By account: `market account`. */
  readonly clobs: Map<string, readonly BookNode[]>;
  /** The book account that a market names; null when it names none. */
  readonly named: Map<number, number | null>;
}

/** Expected final content of a `NaiveReader`, computed from the final states. */
export function truth({ users, clobs, named }: World): { orders: Map<string, string>; positions: Map<string, string> } {
  const orders = new Map<string, string>();
  const positions = new Map<string, string>();
  const cap = (user: number, market: number) => {
    const position = users.get(user)?.positions.find(({ marketIndex }) => marketIndex === market);
    return position && position.openOrders > 0 ? position.base : 0n;
  };
  for (const [user, state] of users) {
    for (const order of state?.orders ?? []) {
      if (order.shadow) continue;
      const base = order.reduceOnly && !order.spot ? cap(user, order.marketIndex) : 0n;
      orders.set(
        `user ${order.spot ? 'spot' : 'perp'}-${order.marketIndex} ${user} ${order.orderId}`,
        [order.price, order.size, order.filled, 'long', base, null].join(' '),
      );
    }
    for (const { marketIndex, base, openOrders } of state?.positions ?? []) {
      if (base !== 0n || openOrders !== 0) positions.set(`${user} ${marketIndex}`, `${base} ${openOrders}`);
    }
  }
  for (const [market, account] of named) {
    for (const node of clobs.get(`${market} ${account}`) ?? []) {
      orders.set(
        `clob perp-${market} ${node.maker} ${node.clientOrderId}`,
        [
          node.price,
          node.size,
          0n,
          node.ask ? 'short' : 'long',
          node.reduceOnly ? cap(node.maker, market) : 0n,
          node.bookOrderId,
        ].join(' '),
      );
    }
  }
  return { orders, positions };
}

/** Expected open orders of each account and market, those in the market-level book too. */
export function openOrders({ users }: World): Map<string, string> {
  const open = new Map<string, string[]>();
  for (const [user, state] of users) {
    for (const { spot, marketIndex, orderId, price, filled } of state?.orders ?? []) {
      const id = `${user} ${spot ? 'spot' : 'perp'}-${marketIndex}`;
      open.set(id, [...(open.get(id) ?? []), `${orderId} ${price} ${filled}`]);
    }
  }
  return new Map([...open].map(([id, texts]) => [id, texts.sort().join(', ')]));
}

/** A random history: account states in the order of their slots, and their final world. */
export function history(seed: number, steps: number) {
  const next = seededRandom(seed);
  const pick = (limit: number) => Math.floor(next() * limit);
  const world: World = { users: new Map(), clobs: new Map(), named: new Map() };
  const updates: AccountUpdate[] = [];
  for (let step = 0; step < steps; step++) {
    const slot = 100 + step;
    const version = BigInt(step);
    if (next() < 0.5) {
      const user = pick(USERS);
      if (next() < 0.1) {
        world.users.set(user, null);
        updates.push(update(userKey(user), USER.owner, new Uint8Array(0), slot, version));
        continue;
      }
      const slots = [...Array(6).keys()].filter(() => next() < 0.5);
      const state: UserState = {
        user,
        orders: slots.map((at) => ({
          slot: at * 5,
          orderId: 10 * (pick(2) + 1) + at,
          marketIndex: pick(MARKETS),
          price: BigInt(pick(3) + 1),
          size: 10n,
          filled: BigInt(pick(2)),
          reduceOnly: next() < 0.5,
          spot: next() < 0.2,
          shadow: next() < 0.3,
        })),
        positions: [...Array(MARKETS).keys()]
          .filter(() => next() < 0.7)
          .map((marketIndex) => ({ marketIndex, base: BigInt(pick(3) - 1), openOrders: pick(2) })),
      };
      world.users.set(user, state);
      updates.push(update(userKey(user), USER.owner, userBytes(state), slot, version));
    } else if (next() < 0.3) {
      const market = pick(MARKETS);
      const named = next() < 0.2 ? null : pick(BOOKS);
      world.named.set(market, named);
      const data = marketBytes(market, named === null ? null : clobKey(market, named));
      updates.push(update(marketKeyOf(market), PERP.owner, data, slot, version));
    } else {
      const market = pick(MARKETS);
      const account = pick(BOOKS);
      const capacity = 4 + pick(20);
      const nodes = [...Array(capacity).keys()]
        .filter(() => next() < 0.5)
        .map((node) => ({
          node,
          maker: pick(USERS),
          clientOrderId: node * 2 + pick(2),
          bookOrderId: BigInt(node + pick(2)),
          price: BigInt(pick(3) + 1),
          size: BigInt(pick(2) + 1),
          ask: next() < 0.5,
          reduceOnly: next() < 0.4,
          next: pick(1000),
        }));
      // A book contains an order once.
      const unique = [...new Map(nodes.map((node) => [`${node.maker} ${node.clientOrderId}`, node])).values()];
      world.clobs.set(`${market} ${account}`, unique);
      updates.push(update(clobKey(market, account), CLOB.owner, clobBytes(market, capacity, unique), slot, version));
    }
  }
  return { updates, world };
}
