// Transactions: the history service builds them, a wallet signs them, the cluster executes them, and they show in the book, in the
// feed and in history.

import {
  Connection,
  Keypair,
  PublicKey,
  SystemProgram,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Cluster, eventually } from '../../../support/processes/processes.ts';
import { PROGRAM } from '../../../support/transactions/wallet.ts';
import { FeedClient } from '../keeper/feed-client.ts';
import type { HistoryRun } from './run.ts';

const EXCHANGE = 'vELoC1audYbSYVRXn1vPaV8Axoa9oU6BYmNGZZBDZ1P';
const COMPUTE_BUDGET = 'ComputeBudget111111111111111111111111111111';
const PATIENCE_MS = 240_000;

interface Answer {
  readonly success: boolean;
  readonly tx: string;
  readonly txSig: string;
  readonly error: string;
  readonly code?: number;
  readonly name?: string;
  readonly swift?: { payload: Record<string, unknown>; meta: Record<string, unknown> };
}
type Row = Readonly<Record<string, unknown>>;

export function describeTransactions(run: () => HistoryRun): void {
  describe('transactions of a wallet', () => transactionTests(run));
}

function transactionTests(service: () => HistoryRun): void {
  const wallet = Keypair.generate();
  const authority = wallet.publicKey.toBase58();
  let cluster: Cluster;
  let accountId = '';

  const url = (name: string) => service().url(name);

  beforeAll(async () => {
    ({ cluster } = service());
    await cluster.rpc('localnet_fund', {
      wallet: authority,
      lamports: 10_000_000_000,
      tokens: [{ spotMarketIndex: 0, amount: '50000000000' }],
      openAccount: true,
    });
    accountId = await eventually(
      'the account of the wallet is in history',
      async () => {
        const { accounts } = await get<{ accounts: { accountId: string }[] }>(`/authority/${authority}/accounts`);
        return accounts[0]?.accountId;
      },
      PATIENCE_MS,
    );
  }, 2 * PATIENCE_MS);

  async function get<T>(path: string): Promise<T> {
    return (await (await fetch(url('history') + path)).json()) as T;
  }

  async function post(path: string, body: object): Promise<Answer & { status: number }> {
    const response = await fetch(url('history') + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    return { ...((await response.json()) as Answer), status: response.status };
  }

  async function built(path: string, body: object): Promise<VersionedTransaction> {
    const answer = await post(path, body);
    expect(answer).toMatchObject({ success: true, status: 200 });
    return VersionedTransaction.deserialize(Buffer.from(answer.tx, 'base64'));
  }

  const signed = (transaction: VersionedTransaction, key = wallet): string => {
    transaction.sign([key]);
    return Buffer.from(transaction.serialize()).toString('base64');
  };

  /** Builds, signs and sends; returns the signature. */
  async function run(path: string, body: object): Promise<string> {
    const answer = await post('/tx/execute', { signedTx: signed(await built(path, body)) });
    expect(answer).toMatchObject({ success: true, status: 200 });
    return answer.txSig;
  }

  /** The row of a list that a transaction made. */
  const rowOf = (list: string, txSig: string): Promise<Row> =>
    eventually(
      `${list} has ${txSig}`,
      async () =>
        (await get<{ records: Row[] }>(`/user/${accountId}/${list}`)).records.find((row) => row.txSig === txSig),
      PATIENCE_MS,
    );

  const restsInBook = (market: string): Promise<boolean> =>
    fetch(`${url('orderbook')}/l3?marketName=${market}`)
      .then((response) => response.json() as Promise<{ bids: { maker: string }[] }>)
      .then(({ bids }) => bids.some(({ maker }) => maker === accountId));

  async function priceBelow(market: string): Promise<string> {
    const book = await eventually('the book has bids', async () => {
      const answer = await fetch(`${url('orderbook')}/l2?marketName=${market}&depth=1`);
      return answer.ok ? ((await answer.json()) as { bids: { price: string }[] }).bids[0] : undefined;
    });
    return (Math.floor((Number(book.price) / 1e6) * 0.7 * 10) / 10).toFixed(1);
  }

  /** The signature of a settlement of P&L that the program has accepted. */
  async function settlement(symbol: string): Promise<string> {
    const { tx, error } = await post('/tx/settlePnl', { accountId, symbols: [symbol] });
    if (!tx) throw new Error(`not built: ${error}`);
    const executed = await post('/tx/execute', {
      signedTx: signed(VersionedTransaction.deserialize(Buffer.from(tx, 'base64'))),
    });
    if (!executed.success) throw new Error(`not executed: ${executed.error}`);
    return executed.txSig;
  }

  const deposit = (amount: string) => ({ accountId, amount, symbol: 'USDT' });

  it('are versioned, short, unsigned, and pay our own fee levels', async () => {
    await eventually('fee levels are known', async () => {
      const { message } = await built('/tx/deposit', deposit('1'));
      return message.compiledInstructions.some(({ data }) => data[0] === 3 && data.slice(1).some((byte) => byte > 0));
    });
    const transaction = await built('/tx/deposit', deposit('1'));
    const { message } = transaction;
    expect(message.version).toBe(0);
    expect(message.addressTableLookups.map(({ accountKey }) => accountKey.toBase58())).toEqual([cluster.lookupTable]);
    expect(message.staticAccountKeys[0]?.toBase58()).toBe(authority);
    expect(transaction.signatures).toEqual([new Uint8Array(64)]);
    const programs = message.compiledInstructions.map(({ programIdIndex }) =>
      message.staticAccountKeys[programIdIndex]?.toBase58(),
    );
    expect(programs).toEqual([COMPUTE_BUDGET, COMPUTE_BUDGET, EXCHANGE]);
    const units = Buffer.from(message.compiledInstructions[0]?.data ?? []).readUInt32LE(1);
    expect(units).toBeGreaterThanOrEqual(50_000);
    expect(units).toBeLessThan(600_000);
  });

  it(
    'deposit and withdraw tokens',
    async () => {
      const txSig = await run('/tx/deposit', deposit('5000.25'));
      expect(await rowOf('deposits', txSig)).toMatchObject({ direction: 'deposit', amount: '5000250000' });
      const back = await run('/tx/withdraw', deposit('100.5'));
      expect(await rowOf('deposits', back)).toMatchObject({ direction: 'withdraw', amount: '100500000' });
    },
    PATIENCE_MS,
  );

  it.each(['SOL-PERP', 'ETH-PERP'])(
    'rest an order in the book of %s and cancel it',
    async (symbol) => {
      const price = await priceBelow(symbol);
      const order = { accountId, symbol, direction: 'long', amount: '0.5', orderType: 'limit', price, postOnly: true };
      const placed = await run('/tx/order/place', order);
      await eventually('the order is in the book', () => restsInBook(symbol), PATIENCE_MS);
      const row = await eventually(
        'the order is in history',
        async () => {
          const found = await get<{ records: Row[] }>(`/user/${accountId}/orders/perp/${symbol}`);
          const row = found.records.find(({ txSig }) => txSig === placed);
          if (!row) throw new Error(`${placed} is not in ${JSON.stringify(found.records)}`);
          expect(row.baseAssetAmount).toBe('500000000');
          return row;
        },
        PATIENCE_MS,
      );
      const orderId = Number(row.orderId);
      await run('/tx/order/cancel', { accountId, orderId });
      await eventually('the order has left the book', async () => !(await restsInBook(symbol)), PATIENCE_MS);
      expect(placed).toMatch(/^\w{64,90}$/);
    },
    2 * PATIENCE_MS,
  );

  it(
    'fill a market order, in the feed and in history, and settle its P&L',
    async () => {
      const feed = await FeedClient.connect(url('gateway'));
      feed.send({ type: 'subscribe', marketType: 'perp', market: 'SOL-PERP', channel: 'trades' });
      await run('/tx/order/place', {
        accountId,
        symbol: 'SOL-PERP',
        direction: 'long',
        amount: '1.5',
        orderType: 'market',
      });
      const trade = await feed.waitFor(
        'the fill is in the feed',
        ({ data }) => data?.taker === accountId,
        0,
        PATIENCE_MS,
      );
      feed.close();
      expect(trade.data).toMatchObject({ takerOrderDirection: 'long', takerOrderBaseAssetAmount: 1.5 });
      const fill = await rowOf('trades', String(trade.data?.txSig));
      expect(fill).toMatchObject({ taker: accountId, action: 'fill' });
      // A price that moves between simulation and execution can leave nothing to settle: the program refuses, and the wallet asks again.
      const txSig = await eventually('the P&L settles', () => settlement('SOL-PERP'), PATIENCE_MS);
      expect(await rowOf('settlePnl', txSig)).toMatchObject({ marketIndex: 0 });
    },
    3 * PATIENCE_MS,
  );

  it(
    'open the accounts of a builder and approve it',
    async () => {
      const builder = Keypair.generate();
      await cluster.rpc('requestAirdrop', [builder.publicKey.toBase58(), 1_000_000_000]);
      const init = await eventually('the builder has lamports', async () => {
        const answer = await post('/tx/builder/init', { builderId: builder.publicKey.toBase58() });
        return answer.success ? answer.tx : undefined;
      });
      const transaction = VersionedTransaction.deserialize(Buffer.from(init, 'base64'));
      expect(await post('/tx/execute', { signedTx: signed(transaction, builder) })).toMatchObject({ success: true });
      const approval = { authorityId: authority, builderId: builder.publicKey.toBase58(), maxFeeTenthBps: 50 };
      await run('/tx/builder/approve', approval);
      const builders = (fee: number) =>
        eventually(
          'the approved builder is in the accounts of the wallet',
          async () => {
            const { revenueShareEscrow: own } = await get<{ revenueShareEscrow: { approvedBuilders: Row[] } | null }>(
              `/authority/${authority}/accounts`,
            );
            return own?.approvedBuilders.find(({ maxFeeTenthBps }) => maxFeeTenthBps === fee);
          },
          PATIENCE_MS,
        );
      expect(await builders(50)).toEqual({ authority: approval.builderId, builderIdx: 0, maxFeeTenthBps: 50 });
      const escrow = PublicKey.findProgramAddressSync(
        [Buffer.from('REV_ESCROW'), wallet.publicKey.toBuffer()],
        new PublicKey(EXCHANGE),
      )[0];
      const connection = new Connection(cluster.rpcUrl, 'confirmed');
      const account = await connection.getAccountInfo(escrow);
      expect(account?.data.includes(builder.publicKey.toBuffer())).toBe(true);
      // The escrow exists now, so the second approval only changes it.
      const again = await built('/tx/builder/approve', { ...approval, maxFeeTenthBps: 70 });
      expect(again.message.compiledInstructions).toHaveLength(3);
      expect(await post('/tx/execute', { signedTx: signed(again) })).toMatchObject({ success: true });
      expect(await builders(70)).toMatchObject({ authority: approval.builderId });

      const order = { accountId, symbol: 'ETH-PERP', direction: 'long', amount: '0.05', orderType: 'market' };
      const withBuilder = { ...order, builderParams: { builderIdx: 0, builderFeeTenthBps: 60 } };
      await run('/tx/order/place', withBuilder);
      const fill = await eventually(
        'the fill pays the builder',
        async () =>
          (await get<{ records: Row[] }>(`/user/${accountId}/trades/ETH-PERP`)).records.find(
            ({ builderFee }) => builderFee !== null,
          ),
        PATIENCE_MS,
      );
      const quote = BigInt(String(fill.quoteAssetAmountFilled));
      expect(fill).toMatchObject({ taker: accountId, builderIdx: 0, builderFee: String((quote * 60n) / 100_000n) });
      const dear = { ...withBuilder, builderParams: { builderIdx: 0, builderFeeTenthBps: 71 } };
      expect(await post('/tx/order/place', dear)).toMatchObject({ status: 400, name: 'InvalidBuilderFee' });
    },
    2 * PATIENCE_MS,
  );

  it(
    'place orders that wait for a trigger, that follow the oracle, and that limit the leverage',
    async () => {
      const common = { accountId, symbol: 'SOL-PERP', direction: 'long', amount: '0.5' };
      const trigger = { orderType: 'triggerLimit', price: '1', triggerPrice: '2', triggerCondition: 'below' };
      const placed = {
        triggerLimit: await run('/tx/order/place', { ...common, ...trigger, positionMaxLeverage: '2.5' }),
        limit: await run('/tx/order/place', { ...common, orderType: 'limit', oraclePriceOffset: '-15.5' }),
      };
      const rowOfOrder = (txSig: string) =>
        eventually(
          'the order is in history',
          async () =>
            (await get<{ records: Row[] }>(`/user/${accountId}/orders/perp/SOL-PERP`)).records.find(
              (row) => row.txSig === txSig,
            ),
          PATIENCE_MS,
        );
      expect(await rowOfOrder(placed.triggerLimit)).toMatchObject({
        orderType: 'triggerLimit',
        triggerPrice: '2000000',
        triggerCondition: 'below',
        price: '1000000',
      });
      expect(await rowOfOrder(placed.limit)).toMatchObject({ orderType: 'limit', oraclePriceOffset: '-15500000' });
      const account = await new Connection(cluster.rpcUrl, 'confirmed').getAccountInfo(new PublicKey(accountId));
      const { perp_positions: positions } = PROGRAM.decode('User', account?.data ?? Buffer.alloc(0));
      expect(positions).toContainEqual(expect.objectContaining({ market_index: 0, max_margin_ratio: 4_000 }));
      await run('/tx/order/cancel', { accountId, symbol: 'SOL-PERP' });
    },
    2 * PATIENCE_MS,
  );

  it(
    'fail with the code, the name and the text of the program',
    async () => {
      expect(await post('/tx/withdraw', deposit('40000'))).toMatchObject({
        success: false,
        status: 400,
        code: 6003,
        name: 'InsufficientCollateral',
        error: 'Insufficient collateral',
      });
      expect(await post('/tx/deposit', deposit('60000'))).toMatchObject({ code: 1, name: 'TokenInsufficientFunds' });
      expect(await post('/tx/settlePnl', { accountId, symbols: ['HYPE-PERP'] })).toMatchObject({
        code: 6010,
        name: 'UserHasNoPositionInMarket',
      });
      const tiny = { accountId, symbol: 'SOL-PERP', direction: 'short', amount: '0.000000001', orderType: 'market' };
      expect(await post('/tx/order/place', tiny)).toMatchObject({ code: 6047, name: 'InvalidOrderSizeTooSmall' });
      const isolated = { ...tiny, amount: '1', marginMode: 'isolated' };
      expect(await post('/tx/order/place', isolated)).toMatchObject({ code: 6357, name: 'IsolatedPositionDisabled' });
      // Without a simulation the failure shows when the chain has the transaction, and costs its fee.
      const unchecked = await built('/tx/withdraw', { ...deposit('40000'), simulate: false });
      expect(await post('/tx/execute', { signedTx: signed(unchecked), simulate: false })).toMatchObject({
        success: false,
        status: 400,
      });
    },
    PATIENCE_MS,
  );

  it(
    'are taken with one valid signature, once, and only for the exchange',
    async () => {
      const transaction = await built('/tx/deposit', deposit('2'));
      const signedTx = signed(transaction);
      const forged = Buffer.from(signedTx, 'base64');
      forged[10] = (forged[10] ?? 0) ^ 1;
      expect(await post('/tx/execute', { signedTx: forged.toString('base64') })).toMatchObject({
        error: 'The signature is not valid',
      });
      expect(await post('/tx/execute', { signedTx })).toMatchObject({ success: true });
      expect(await post('/tx/execute', { signedTx })).toMatchObject({ success: false, status: 400 });
      const { blockhash } = await new Connection(cluster.rpcUrl).getLatestBlockhash('confirmed');
      const thief = SystemProgram.transfer({
        fromPubkey: wallet.publicKey,
        toPubkey: Keypair.generate().publicKey,
        lamports: 1_000_000,
      });
      const foreign = new TransactionMessage({
        payerKey: wallet.publicKey,
        recentBlockhash: blockhash,
        instructions: [thief],
      }).compileToV0Message();
      expect(await post('/tx/execute', { signedTx: signed(new VersionedTransaction(foreign)) })).toMatchObject({
        error: `The transaction calls an unexpected program: ${SystemProgram.programId.toBase58()}`,
      });
    },
    PATIENCE_MS,
  );

  it('can be order messages that a wallet signs off-chain', async () => {
    const order = {
      accountId,
      symbol: 'BTC-PERP',
      direction: 'short',
      amount: '0.01',
      orderType: 'limit',
      price: '90000',
    };
    const { tx, swift } = await post('/tx/order/place', { ...order, useSwift: true });
    expect(tx).toBeNull();
    expect(swift?.payload).toMatchObject({
      market_index: 1,
      market_type: 'perp',
      signature: '',
      signing_authority: authority,
      taker_authority: authority,
    });
    expect(String(swift?.payload.message)).toMatch(/^c8d5a65e2234f55d[0-9a-f]+$/);
    expect(swift?.meta).toMatchObject({ slotsTillAuctionEnd: 35, expirationTimeMs: 12_000 });
  });
}
