import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { brokenRules } from '../../test/support/localnet/invariants.ts';
import { difference, readAccount, readLog } from '../../test/support/localnet/test-reader.ts';
import { times } from '../../test/support/platform/times.ts';
import type { Exchange, LedgerAccount, LedgerBlock, TruthEvent } from '../ledger-types.ts';
import { chainDefinition } from './accounts.ts';
import { CLOB_NODE_BYTES, CLOB_NODES_OFFSET } from './clob-bytes.ts';
import { createExchange } from './index.ts';
import type { Stored } from './model.ts';
import type { ExchangeOptions, World } from './world.ts';

const OPTIONS: ExchangeOptions = { seed: 11, genesisTime: 1_760_000_000, keepEvents: true };

/** Slots of the exchange that several tests read, and when its snapshot is taken. */
const SLOTS = 150;
const SNAPSHOT_SLOTS = 90;

/** Record kinds that a few minutes must produce, without the rarest. */
const KINDS = [
  'OrderRecord',
  'OrderActionRecord',
  'NewUserRecord',
  'DepositRecord',
  'SwapRecord',
  'FundingRateRecord',
  'FundingPaymentRecord',
  'SettlePnlRecord',
  'LiquidationRecord',
  'SignedMsgOrderRecord',
  'SpotInterestRecord',
  'InsuranceFundRecord',
  'InsuranceFundStakeRecord',
  'AmmCurveChanged',
  'PerpMarketFeeSweepRecord',
  'ProtocolFeeWithdrawRecord',
  'TransferFeeAndPnlPoolRecord',
  'RevenueShareSettleRecord',
  'TakerOriginCrossRecordV1',
  'OrderPlaceRecordV0',
  'OrderCancelRecordV0',
  'OrdersCancelRecordV0',
  'OrderExpireRecordV0',
  'ExecuteRecordV0',
  'FillRecordV0',
  'MarketInitializeRecordV0',
  'MarketUpdateRecordV0',
  'VaultDepositorRecord',
];

function run(exchange: Exchange, slots: number): LedgerBlock[] {
  return Array.from({ length: slots }, () => exchange.nextBlock());
}

function digest(blocks: readonly LedgerBlock[]): string {
  const hash = createHash('sha256');
  for (const block of blocks) {
    hash.update(`${block.slot} ${block.blockTime}`);
    for (const transaction of block.transactions) {
      hash
        .update(transaction.signature)
        .update(transaction.logMessages.join('\n'))
        .update(transaction.accountKeys.join());
      for (const write of transaction.writes) hash.update(write.pubkey).update(write.data);
    }
  }
  return hash.digest('hex');
}

function worldOf(exchange: Exchange): World {
  return exchange.snapshot() as World;
}

/** Content of a node's ledger: genesis with every write applied. */
function applyWrites(ledger: Map<string, LedgerAccount>, blocks: readonly LedgerBlock[]): void {
  for (const write of blocks.flatMap(({ transactions }) => transactions.flatMap(({ writes }) => writes))) {
    if (write.data.length === 0) ledger.delete(write.pubkey);
    else ledger.set(write.pubkey, write);
  }
}

function ledgerOf(exchange: Exchange): Map<string, LedgerAccount> {
  return new Map(exchange.genesis().map((account) => [account.pubkey, account]));
}

describe('the simulated exchange', () => {
  // Made once; the tests of this exchange only read it.
  const exchange = createExchange(OPTIONS);
  const blocks = run(exchange, SNAPSHOT_SLOTS);
  const snapshot = exchange.snapshot();
  blocks.push(...run(exchange, SLOTS - SNAPSHOT_SLOTS));

  it('makes the same blocks from the same options, and others from another seed', () => {
    const first = digest(blocks.slice(0, 70));
    expect(digest(run(createExchange(OPTIONS), 70))).toBe(first);
    expect(digest(run(createExchange({ ...OPTIONS, seed: 12 }), 70))).not.toBe(first);
  });

  it('continues identically from a snapshot, and again from the same one', () => {
    const restored = createExchange(OPTIONS, snapshot);
    expect(digest(run(restored, SLOTS - SNAPSHOT_SLOTS))).toBe(digest(blocks.slice(SNAPSHOT_SLOTS)));
    expect(restored.eventCounts()).toEqual(exchange.eventCounts());
    expect(restored.events(0, 1_000_000)).toEqual(exchange.events(0, 1_000_000));
    const again = blocks.slice(SNAPSHOT_SLOTS, SNAPSHOT_SLOTS + 10);
    expect(digest(run(createExchange(OPTIONS, snapshot), again.length))).toBe(digest(again));
  });

  it('writes exactly the accounts that change', () => {
    const exchange = createExchange(OPTIONS);
    const ledger = ledgerOf(exchange);
    for (let part = 0; part < 4; part++) {
      applyWrites(ledger, run(exchange, times(30, 60)));
      const standing = exchange.genesis();
      expect(new Set(ledger.keys())).toEqual(new Set(standing.map(({ pubkey }) => pubkey)));
      const stale = standing.filter(
        ({ pubkey, data }) => !Buffer.from(data).equals(ledger.get(pubkey)?.data ?? Buffer.alloc(0)),
      );
      expect(stale.map(({ data, pubkey }) => `${pubkey} of ${data.length} bytes`)).toEqual([]);
    }
  });

  it('reports its markets as listed and in their current state', () => {
    const markets = exchange.markets();
    expect(markets.map(({ symbol }) => symbol).join()).toBe('SOL-PERP,BTC-PERP,ETH-PERP,HYPE-PERP,USDT,SOL,BTC');
    expect(markets[1]).toMatchObject({ status: 'active', decimals: 9, tickSize: '100000', minOrderSize: '100000' });
    expect(markets[5]).toMatchObject({ marketType: 'spot', marketIndex: 1, decimals: 9, openInterestLong: '0' });
    expect(markets.filter(({ marketType }) => marketType === 'perp').map((one) => one.openInterestShort)).toEqual(
      worldOf(exchange).perps.map(({ account }) => String(account.base_asset_amount_short)),
    );
  });

  it.each([1, 2, 3].slice(0, times(1, 3)))('writes the same account bytes as Anchor (seed %i)', (seed) => {
    const exchange = createExchange({ ...OPTIONS, seed });
    run(exchange, 100);
    const world = worldOf(exchange);
    const models = new Map<string, Stored>();
    const stored: Stored[] = [world.state, ...world.oracles.values(), ...world.spots, ...world.perps];
    stored.push(...world.clobs.values(), ...world.stats.values(), ...world.traders);
    for (const { vault, depositors } of world.vaults) stored.push(vault, ...depositors);
    for (const account of stored) models.set(account.key, account);
    for (const account of exchange.genesis()) {
      // Mints and the lookup table belong to programs of the cluster.
      if (!chainDefinition().programs.some(({ programId }) => programId === account.owner)) continue;
      const { name, data, encoded } = readAccount(account);
      const model = models.get(account.pubkey);
      expect(name).toBe(model?.type);
      expect(difference(model?.account, data)).toBeNull();
      const bytes = Buffer.from(account.data);
      expect(bytes.subarray(0, encoded.length).equals(encoded)).toBe(true);
      if (name !== 'ClobHeaderV0') expect(bytes.subarray(encoded.length).every((byte) => byte === 0)).toBe(true);
    }
  });

  it('lays out the nodes of the order account by the byte map', () => {
    const world = worldOf(exchange);
    for (const clob of world.clobs.values()) {
      const data = exchange.genesis().find(({ pubkey }) => pubkey === clob.key)?.data ?? new Uint8Array();
      expect((data.length - CLOB_NODES_OFFSET) / CLOB_NODE_BYTES).toBe(clob.nodes.length);
      const view = new DataView(data.buffer, data.byteOffset);
      expect(view.getUint32(120, true)).toBe(clob.account.best_bid);
      const best = CLOB_NODES_OFFSET + clob.account.best_bid * CLOB_NODE_BYTES;
      const node = clob.nodes[clob.account.best_bid];
      expect(view.getBigUint64(best + 32, true)).toBe(node?.price);
      expect(view.getBigUint64(best + 40, true)).toBe(node?.base_asset_amount);
      expect(view.getBigUint64(best + 64, true)).toBe(node?.order_id);
      expect(view.getUint32(best + 100, true)).toBe(node?.client_order_id);
    }
  });

  it('prints logs that decode to its events, only for successful transactions', () => {
    const read: TruthEvent[] = [];
    let failedWithRecords = 0;
    for (const block of blocks) {
      for (const { signature, err, logMessages, writes } of block.transactions) {
        const records = readLog(logMessages);
        if (err !== null) {
          expect(writes).toEqual([]);
          if (records.length > 0) failedWithRecords++;
          continue;
        }
        for (const [index, { name, data }] of records.entries()) {
          read.push({ signature, index, slot: block.slot, name, data: data as Record<string, unknown> });
        }
      }
    }
    expect(failedWithRecords).toBeGreaterThan(0);
    expect(read.length).toBeGreaterThan(1_000);
    expect(exchange.events(0, read.length + 1)).toEqual(read);
    const counts: Record<string, number> = {};
    for (const { name } of read) counts[name] = (counts[name] ?? 0) + 1;
    expect(exchange.eventCounts()).toEqual(counts);
  });

  it('reports each resting order once', () => {
    const orders = exchange.restingOrders();
    expect(new Set(orders.map(({ maker, orderId }) => `${maker}/${orderId}`)).size).toBe(orders.length);
    for (const marketIndex of [0, 1, 2, 3]) {
      const sources = new Set(orders.filter((order) => order.marketIndex === marketIndex).map(({ source }) => source));
      expect([...sources].sort()).toEqual(marketIndex < 2 ? ['clob', 'user'] : ['user']);
    }
  });

  it('keeps its invariants for any seed and size', () => {
    const size = fc.record({
      seed: fc.integer({ min: 0, max: 2 ** 31 }),
      ordersPerMarket: fc.integer({ min: 4, max: 150 }),
      activity: fc.double({ min: 0.2, max: 4, noNaN: true }),
      accounts: fc.integer({ min: 20, max: 90 }),
    });
    fc.assert(
      fc.property(size, (options) => {
        const exchange = createExchange({ ...options, genesisTime: OPTIONS.genesisTime });
        for (let part = 0; part < 3; part++) {
          run(exchange, 30);
          expect(brokenRules(worldOf(exchange))).toEqual([]);
        }
      }),
      { numRuns: times(5, 30), seed: 5 },
    );
  });

  it('keeps its invariants over a long run with every kind of record', () => {
    const exchange = createExchange({ ...OPTIONS, keepEvents: false });
    let deepest = 0;
    for (let part = 0; part < 4; part++) {
      const lines = run(exchange, 165).flatMap(({ transactions }) =>
        transactions.flatMap(({ logMessages }) => logMessages),
      );
      for (const line of lines) deepest = Math.max(deepest, Number(/invoke \[(\d)\]$/.exec(line)?.[1] ?? 0));
      expect(brokenRules(worldOf(exchange))).toEqual([]);
    }
    expect(exchange.events(0, 10)).toEqual([]);
    expect(deepest).toBe(3);
    const seen = new Set(Object.keys(exchange.eventCounts()));
    expect(KINDS.filter((kind) => !seen.has(kind))).toEqual([]);
  });

  it('funds every perp market in the first minute', () => {
    const rates = exchange.events(0, 1_000_000).filter(({ name }) => name === 'FundingRateRecord');
    expect(rates.map(({ data }) => data.market_index)).toEqual([0, 1, 2, 3]);
  });

  it('has takers in auctions, sub-accounts of one wallet, and accounts longer than their struct', () => {
    const users = exchange
      .genesis()
      .filter(({ data }) => data.length >= 4560 && data.length < 5000)
      .map(readAccount);
    expect(users.some(({ data }) => data.has_open_auction === true && Number(data.open_auctions) > 0)).toBe(true);
    expect(users.some(({ data }) => Number(data.sub_account_id) > 0)).toBe(true);
    expect(new Set(exchange.genesis().map(({ data }) => data.length))).toContain(4560 + 64);
  });
});
