// The `account` channel on the simulated exchange: at a stopped slot it has the open orders that the accounts themselves have, read
// with Anchor's own coder.

import { describe, expect, it } from 'vitest';
import { eventually, rpcCall } from '../../../support/processes/processes.ts';
import { FeedClient } from '../keeper/feed-client.ts';
import { NaiveChain, variant } from '../naive/chain.ts';
import type { OrderBookRun } from './run.ts';

/** A connection follows at most 256 accounts. */
const ACCOUNTS_MAX = 200;
const CHANGES_AT_LEAST = 100;
const WAIT_MS = 120_000;
/** The patience with a lost record (PATIENCE_SLOTS), and as much for the first read of the accounts. */
const MARGIN_SLOTS = 300;
const PAGE_EVENTS = 5_000;

interface ClusterEvent {
  readonly slot: number;
  readonly name: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly lost: boolean;
}

interface Order {
  readonly marketType: string;
  readonly marketIndex: number;
  readonly orderId: number;
  readonly direction: string;
  readonly price: string;
  readonly baseAssetAmount: string;
  readonly baseAssetAmountFilled: string;
}

interface Message {
  readonly type?: string;
  readonly account?: string;
  readonly streamId?: number;
  readonly orders?: readonly Order[];
  readonly order?: number;
  readonly data?: Order;
  readonly isOpen?: boolean;
  readonly prevSeq?: number;
  readonly seq?: number;
}

interface NaiveOrders {
  readonly nextId: number;
  /** Text of each open order by its id. */
  readonly open: ReadonlyMap<number, string>;
}

function textOf({ marketType, marketIndex, direction, price, baseAssetAmount, baseAssetAmountFilled }: Order): string {
  return `${marketType} ${marketIndex} ${direction} ${price} ${baseAssetAmount} ${baseAssetAmountFilled}`;
}

/** Open orders of every user account of the cluster. */
async function naiveOrders(rpcUrl: string): Promise<ReadonlyMap<string, NaiveOrders>> {
  const chain = new NaiveChain();
  const accounts = await rpcCall<{ pubkey: string; account: { data: [string, string] } }[]>(
    rpcUrl,
    'getProgramAccounts',
    [chain.exchangeId, { encoding: 'base64', commitment: 'confirmed' }],
  );
  for (const { pubkey, account } of accounts) {
    chain.put({ pubkey, owner: chain.exchangeId, data: Buffer.from(account.data[0], 'base64') });
  }
  const users = chain.all('User').map(({ pubkey, fields, openOrders }): [string, NaiveOrders] => {
    const open = openOrders.map((order): [number, string] => {
      const text = textOf({
        marketType: variant(order.market_type),
        marketIndex: Number(order.market_index),
        orderId: Number(order.order_id),
        direction: variant(order.direction),
        price: String(order.price),
        baseAssetAmount: String(order.base_asset_amount),
        baseAssetAmountFilled: String(order.base_asset_amount_filled),
      });
      return [Number(order.order_id), text];
    });
    return [pubkey, { nextId: Number(fields.next_order_id), open: new Map(open) }];
  });
  return new Map(users);
}

/** Orders, as `account id`, of which a cut log lost a record within the margin: the channel may have them as they were. */
async function recentlyCut({ rpc }: OrderBookRun['cluster']): Promise<ReadonlySet<string>> {
  const { slot } = await rpc<{ slot: number }>('localnet_status');
  const orders: string[] = [];
  for (let from = 0; ; ) {
    const params = { from, limit: PAGE_EVENTS, commitment: 'confirmed' };
    const events = await rpc<ClusterEvent[]>('localnet_events', params);
    if (events.length === 0) return new Set(orders);
    from += events.length;
    for (const event of events) {
      if (event.lost && event.slot > slot - MARGIN_SLOTS) orders.push(...ordersOf(event));
    }
  }
}

/** Orders that a record of the cluster concerns, as `account id`. */
function ordersOf({ name, data }: ClusterEvent): string[] {
  if (name === 'OrderRecord') return [`${data.user} ${(data.order as { order_id: number }).order_id}`];
  if (name !== 'OrderActionRecord') return [];
  return ['taker', 'maker'].map((side) => `${data[side]} ${data[`${side}_order_id`]}`);
}

/** Follows snapshots and changes; throws at a missing change. */
function followed(messages: readonly Message[]): Map<string, Map<number, string>> {
  const accounts = new Map<string, Map<number, string>>();
  const streams = new Map<number, { readonly account: string; seq: number; ids: Set<number> }>();
  for (const message of messages) {
    const { type, account, streamId, orders, order, data, isOpen, seq = 0 } = message;
    if (type === 'snapshot' && account !== undefined && streamId !== undefined) {
      const held = accounts.get(account) ?? new Map<number, string>();
      accounts.set(account, held);
      for (const id of streams.get(streamId)?.ids ?? []) held.delete(id);
      streams.set(streamId, { account, seq, ids: new Set(orders?.map(({ orderId }) => orderId)) });
      for (const one of orders ?? []) held.set(one.orderId, textOf(one));
    }
    const stream = streams.get(order ?? -1);
    if (!stream || !data) continue;
    if (message.prevSeq !== stream.seq) throw new Error(`a change is missing before ${seq} of ${stream.account}`);
    stream.seq = seq;
    const held = accounts.get(stream.account);
    if (isOpen) held?.set(data.orderId, textOf(data));
    else held?.delete(data.orderId);
    if (isOpen) stream.ids.add(data.orderId);
    else stream.ids.delete(data.orderId);
  }
  return accounts;
}

export function describeAccountOrders(run: () => OrderBookRun): void {
  describe('the orders of accounts', () => {
    it('are at a stopped slot the open orders that the accounts have', async () => {
      const { cluster, server } = run();
      // Orders that are placed from here on have their placing in the log.
      const before = await naiveOrders(cluster.faultlessUrl);
      const followedAccounts = [...before.keys()].slice(0, ACCOUNTS_MAX);
      const client = await FeedClient.connect(server.endpoints.gateway ?? '');
      const messages = () => client.messages as unknown as readonly Message[];
      for (const account of followedAccounts) client.send({ type: 'subscribe', channel: 'account', account });
      const changes = () => messages().filter(({ order }) => order !== undefined).length;
      await eventually('changes of orders', () => changes() >= CHANGES_AT_LEAST, WAIT_MS);
      await cluster.rpc('localnet_pause');
      try {
        const truth = await naiveOrders(cluster.faultlessUrl);
        const cut = await recentlyCut(cluster);
        const differences = (): string[] => {
          const held = followed(messages());
          return followedAccounts.flatMap((account) => {
            const { open } = truth.get(account) ?? { open: new Map<number, string>() };
            const own = held.get(account) ?? new Map<number, string>();
            // The filled amount of an older order may be known later: a first start reads back while live events arrive.
            const isNew = (id: number) => id >= (before.get(account)?.nextId ?? 0);
            const lacks = [...open].filter(
              ([id, text]) => isNew(id) && own.get(id) !== text && !cut.has(`${account} ${id}`),
            );
            const invents = [...own].filter(
              ([id, text]) => (isNew(id) ? open.get(id) !== text : !open.has(id)) && !cut.has(`${account} ${id}`),
            );
            return [
              ...lacks.map(([id, text]) => `${account} ${id}: ${text}, not ${own.get(id)}`),
              ...invents.map(([id, text]) => `${account} ${id}: ${open.get(id)}, not ${text}`),
            ];
          });
        };
        await eventually('the same orders', () => differences().length === 0, WAIT_MS).catch(() => {});
        expect(differences()).toEqual([]);
        const orders = [...followed(messages()).values()].reduce((sum, { size }) => sum + size, 0);
        expect(orders).toBeGreaterThan(0);
      } finally {
        await cluster.rpc('localnet_resume');
        client.close();
      }
    });
  });
}
