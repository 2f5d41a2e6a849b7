// Puts spot orders on a cluster whose traders have none: copies the orders of one trader into an account of a spot market. Fixed
// prices only, no reduce-only orders.

import { randomBytes } from 'node:crypto';
import bs58 from 'bs58';
import { loadDefinition, PUBKEY_BYTES } from '../../../../schemas/index.ts';
import type { Cluster } from '../../../support/processes/processes.ts';
import { NaiveChain, variant } from '../naive/chain.ts';

const SPOT_MARKET_INDEX = 1;
const SPOT = 0;
const NO_ORDER = 0;
const PLACED_ON_CLOB = 64;

export class SpotMaker {
  readonly #cluster: Cluster;
  readonly #chain = new NaiveChain();
  readonly #pubkey = bs58.encode(randomBytes(PUBKEY_BYTES));
  readonly #authority = randomBytes(PUBKEY_BYTES);
  #model: string | null = null;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
  }

  /** Writes the account again; it is on the chain at the end of the next block. */
  async quote(): Promise<void> {
    const owner = this.#chain.exchangeId;
    this.#model ??= await this.#busiest();
    const { value } = await this.#cluster.rpc<{ value: { data: [string, string] } }>('getAccountInfo', [
      this.#model,
      { encoding: 'base64', commitment: 'confirmed' },
    ]);
    const data = this.#moved(Buffer.from(value.data[0], 'base64')).toString('base64');
    await this.#cluster.rpc('localnet_injectAccount', [{ pubkey: this.#pubkey, owner, data }]);
  }

  /** The trader with the most orders of a fixed price that do not rest in a market-level account. */
  async #busiest(): Promise<string> {
    const owner = this.#chain.exchangeId;
    const accounts = await this.#cluster.rpc<{ pubkey: string; account: { data: [string, string] } }[]>(
      'getProgramAccounts',
      [owner, { encoding: 'base64', commitment: 'confirmed' }],
    );
    for (const { pubkey, account } of accounts) {
      this.#chain.put({ pubkey, owner, data: Buffer.from(account.data[0], 'base64') });
    }
    const fixed = this.#chain.all('User').map(({ pubkey, openOrders }) => ({
      pubkey,
      orders: openOrders.filter(
        ({ oracle_price_offset, order_type, bit_flags }) =>
          Number(oracle_price_offset) === 0 &&
          variant(order_type) === 'limit' &&
          (Number(bit_flags) & PLACED_ON_CLOB) === 0,
      ).length,
    }));
    return fixed.reduce((best, one) => (one.orders > best.orders ? one : best)).pubkey;
  }

  #moved(data: Buffer): Buffer {
    const layout = loadDefinition('velocity').programs[0]?.accounts.get('User')?.layout;
    const field = (name: string) => layout?.fields.find((one) => one.name === name);
    const orders = field('orders');
    if (orders?.type.kind !== 'array' || orders.type.element.kind !== 'struct') throw new Error('User without orders');
    const { layout: order } = orders.type.element;
    const offsetOf = (name: string) => order.fields.find((one) => one.name === name)?.offset ?? Number.NaN;
    this.#authority.copy(data, field('authority')?.offset);
    for (let at = orders.offset; at < orders.offset + orders.size; at += order.size) {
      if (data.readBigInt64LE(at + offsetOf('oracle_price_offset')) !== 0n) {
        data.writeUInt8(NO_ORDER, at + offsetOf('status'));
      }
      data.writeUInt8(SPOT, at + offsetOf('market_type'));
      data.writeUInt8(0, at + offsetOf('reduce_only'));
      data.writeUInt16LE(SPOT_MARKET_INDEX, at + offsetOf('market_index'));
    }
    return data;
  }
}
