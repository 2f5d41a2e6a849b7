// Submitted transactions on the simulated cluster: what a node refuses, what the program refuses, and what a restart keeps.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ComputeBudgetProgram, Keypair, SystemProgram } from '@solana/web3.js';
import { afterEach, describe, expect, it } from 'vitest';
import {
  cancelCalls,
  depositCalls,
  type Order,
  placeOrderCalls,
  settleCalls,
  withdrawCalls,
} from '../api/history/transactions/calls.ts';
import { SMALL_CLUSTER } from '../test/support/localnet/small-cluster.ts';
import { fundedWallet, rpc, type TestWallet, walletOn } from '../test/support/transactions/wallet.ts';
import { type LocalnetOptions, type RunningLocalnet, startLocalnet } from './index.ts';

const USDT = 1_000_000n;
/** Terms of an order without any of the optional ones. */
const PLAIN = { trigger: null, oracleOffset: null, maxMarginRatio: null, builder: null } as const;

describe('submitted transactions', () => {
  const running: RunningLocalnet[] = [];
  const start = async (options: LocalnetOptions = {}) => {
    const localnet = await startLocalnet({ ...SMALL_CLUSTER, ...options });
    running.push(localnet);
    return localnet;
  };
  afterEach(async () => {
    await Promise.all(running.splice(0).map((localnet) => localnet.stop()));
  });

  const send = (localnet: RunningLocalnet, wire: Uint8Array, config: object = {}) =>
    rpc<string>(localnet, 'sendTransaction', [
      Buffer.from(wire).toString('base64'),
      { encoding: 'base64', preflightCommitment: 'processed', ...config },
    ]);

  /** Sends a transaction and makes the slot that has it. Returns its status. */
  async function land(localnet: RunningLocalnet, wire: Uint8Array, config: object = {}) {
    const signature = await send(localnet, wire, config);
    await localnet.step(1);
    const { value } = await rpc<{ value: { err: unknown }[] }>(localnet, 'getSignatureStatuses', [[signature]]);
    return { signature, status: value[0] };
  }

  async function depositOf(wallet: TestWallet, amount: bigint) {
    const exchange = await wallet.exchange();
    const user = await wallet.chain.user(wallet.account);
    const [usdt] = exchange.markets.spots;
    if (!user || !usdt) throw new Error('no account or no market');
    return { exchange, user, usdt, calls: depositCalls(exchange, user, usdt, amount) };
  }

  it('change accounts, and emit the records and logs of the program', async () => {
    const localnet = await start();
    const wallet = await fundedWallet(localnet);
    const { exchange, user, calls } = await depositOf(wallet, 1_000n * USDT);
    const { signature, status } = await land(localnet, await wallet.signed(calls));
    expect(status?.err).toBeNull();
    const stored = localnet.ledger.history.transaction(signature);
    expect(stored?.logMessages).toContain('Program log: Instruction: Deposit');
    const record = localnet.exchange.events(0, 100_000).find((event) => event.signature === signature);
    expect(record).toMatchObject({
      name: 'DepositRecord',
      data: { amount: '1000000000', user: wallet.account.toBase58() },
    });
    const [sol] = exchange.markets.perps;
    if (!sol) throw new Error('no market');
    const order = {
      market: sol,
      direction: 'long',
      orderType: 'limit',
      base: 100_000_000n,
      price: 100_000_000n,
      ...PLAIN,
    } as const;
    const placed = await wallet.signed(
      placeOrderCalls(exchange, user, { ...order, reduceOnly: false, postOnly: true }, false),
    );
    expect((await land(localnet, placed)).status?.err).toBeNull();
    const resting = () => localnet.exchange.restingOrders().filter(({ maker }) => maker === wallet.account.toBase58());
    expect(resting()).toMatchObject([
      { source: 'clob', price: '100000000', baseAssetAmount: '100000000', postOnly: true },
    ]);
    expect(
      (await land(localnet, await wallet.signed(cancelCalls(exchange, user, { kind: 'all' })))).status?.err,
    ).toBeNull();
    expect(resting()).toEqual([]);
  });

  it('place orders that wait for the oracle, that follow it, and that limit the leverage of their position', async () => {
    const localnet = await start();
    const wallet = await fundedWallet(localnet);
    const { exchange, user, calls } = await depositOf(wallet, 1_000n * USDT);
    await land(localnet, await wallet.signed(calls));
    const [sol] = exchange.markets.perps;
    if (!sol) throw new Error('no market');
    const common = {
      market: sol,
      direction: 'long',
      base: 1_000_000_000n,
      reduceOnly: false,
      postOnly: false,
    } as const;
    const terms = { ...PLAIN, ...common, price: 0n };
    const place = async (order: Order) => {
      const wire = await wallet.signed(placeOrderCalls(exchange, user, order, false));
      const { status } = await land(localnet, wire, { skipPreflight: true });
      return status?.err;
    };
    const trigger = { price: sol.oraclePrice * 2n, condition: 'above' } as const;
    expect(await place({ ...terms, orderType: 'triggerMarket', trigger })).toBeNull();
    const offset = -sol.oraclePrice / 10n;
    expect(await place({ ...terms, orderType: 'limit', oracleOffset: offset })).toBeNull();
    // On the tick. The ratio is a leverage of one sixth.
    const price = sol.oraclePrice / 2n - ((sol.oraclePrice / 2n) % 100_000n);
    const heavy = { ...terms, orderType: 'limit', price, maxMarginRatio: 60_000 } as const;
    expect(await place({ ...heavy, base: 20_000_000_000n })).toEqual({ InstructionError: [3, { Custom: 6003 }] });
    expect(await place({ ...heavy, base: 20_000_000_000n, maxMarginRatio: null })).toBeNull();
    const placed = localnet.exchange
      .events(0, 100_000)
      .filter(({ name, data: { user: owner } }) => name === 'OrderRecord' && owner === wallet.account.toBase58());
    expect(placed.map(({ data }) => data.order)).toMatchObject([
      { order_type: 'triggerMarket', trigger_price: String(trigger.price), trigger_condition: 'above' },
      { order_type: 'limit', oracle_price_offset: String(offset), price: '0' },
      { order_type: 'limit', price: String(price) },
    ]);
  });

  it('are refused like by a node: signature, blockhash, repetition, lamports, size', async () => {
    const localnet = await start();
    const wallet = await fundedWallet(localnet);
    const { calls } = await depositOf(wallet, 5n * USDT);
    const wire = await wallet.signed(calls);
    const forged = Uint8Array.from(wire);
    forged[5] = (forged[5] ?? 0) ^ 1;
    await expect(send(localnet, forged)).rejects.toMatchObject({
      code: -32003,
      message: 'Transaction signature verification failure',
    });
    await land(localnet, wire);
    await expect(send(localnet, wire)).rejects.toMatchObject({
      code: -32002,
      message: 'Transaction simulation failed: This transaction has already been processed',
      data: { err: 'AlreadyProcessed' },
    });
    const old = await wallet.signed(calls);
    await localnet.step(152);
    await expect(send(localnet, old)).rejects.toMatchObject({ data: { err: 'BlockhashNotFound' } });
    const poor = walletOn(localnet, Keypair.generate());
    const transfer = SystemProgram.transfer({ fromPubkey: poor.key.publicKey, toPubkey: poor.account, lamports: 1 });
    await expect(send(localnet, await poor.signed([transfer]))).rejects.toMatchObject({
      data: { err: 'AccountNotFound' },
    });
    await expect(send(localnet, new Uint8Array(1_233))).rejects.toMatchObject({ code: -32602 });
    await expect(send(localnet, new Uint8Array(10))).rejects.toMatchObject({ code: -32602 });
  });

  it('fail with the codes and logs of the program, pay their fee, and change nothing else', async () => {
    const localnet = await start();
    const wallet = await fundedWallet(localnet);
    const { exchange, user, usdt, calls } = await depositOf(wallet, 100n * USDT);
    await land(localnet, await wallet.signed(calls));
    const before = await wallet.connection.getBalance(wallet.key.publicKey, 'processed');
    const tooMuch = withdrawCalls(exchange, user, usdt, 5_000n * USDT);
    // Two instructions: the first one succeeds and is undone with the second.
    const both = [...depositCalls(exchange, user, usdt, 50n * USDT), ...tooMuch];
    const failing = await wallet.signed(both);
    const error = await send(localnet, failing).catch(
      (caught: unknown) => caught as { data: { logs: string[] }; message: string },
    );
    expect(error).toMatchObject({ code: -32002, data: { err: { InstructionError: [4, { Custom: 6003 }] } } });
    const { data } = error as { data: { logs: string[] } };
    expect(data.logs).toContain(
      'Program log: AnchorError occurred. Error Code: InsufficientCollateral. Error Number: 6003. Error Message: Insufficient collateral.',
    );
    expect(data.logs.at(-1)).toMatch(/failed: custom program error: 0x1773$/);
    const { status } = await land(localnet, failing, { skipPreflight: true });
    expect(status?.err).toEqual({ InstructionError: [4, { Custom: 6003 }] });
    const after = await wallet.connection.getBalance(wallet.key.publicKey, 'processed');
    expect(before - after).toBeGreaterThanOrEqual(5_000);
    expect(before - after).toBeLessThan(10_000);
    const events = localnet.exchange.events(0, 100_000).filter(({ name, data: { user: owner } }) => {
      return name === 'DepositRecord' && owner === wallet.account.toBase58();
    });
    expect(events).toHaveLength(1);
    const settle = await wallet.signed(settleCalls(exchange, user, [1]));
    await expect(send(localnet, settle)).rejects.toMatchObject({
      data: { err: { InstructionError: [2, { Custom: 6010 }] } },
    });
    const starved = [ComputeBudgetProgram.setComputeUnitLimit({ units: 10 }), ...calls];
    const { value } = await rpc<{ value: { err: unknown } }>(localnet, 'simulateTransaction', [
      Buffer.from(await wallet.signed(starved)).toString('base64'),
      { encoding: 'base64', commitment: 'processed' },
    ]);
    expect(value.err).not.toBeNull();
  });

  it('survive a restart, and a chain without them stays as it was', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'slotbook-submitted-'));
    const stateFile = join(folder, 'state.bin');
    try {
      const plain = await start();
      await plain.step(60);
      const first = await start({ stateFile });
      const wallet = await fundedWallet(first);
      const { calls } = await depositOf(wallet, 77n * USDT);
      const { signature } = await land(first, await wallet.signed(calls));
      await first.step(10);
      const tip = first.ledger.tipSlot;
      const { blockhash } = first.ledger.history.fromTip(0) ?? {};
      // A second cluster reads what the first has on disk now, as after a kill: its last save is the genesis.
      const second = await start({ stateFile });
      expect(second.ledger.tipSlot).toBe(tip);
      expect(second.ledger.history.fromTip(0)?.blockhash).toBe(blockhash);
      expect(second.ledger.history.transaction(signature)?.err).toBeNull();
      expect((await walletOn(second, wallet.key).chain.user(wallet.account))?.spotIndexes).toEqual([
        { index: 0, hasOrders: false },
      ]);
      const again = await start();
      await again.step(60);
      const blocks = (localnet: RunningLocalnet) =>
        [...localnet.ledger.history.range(0, Infinity)].map((block) => block.blockhash);
      expect(blocks(again)).toEqual(blocks(plain));
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
