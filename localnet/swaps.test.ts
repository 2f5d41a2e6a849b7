// Swaps on the simulated cluster: the client builds them from quotes of each aggregator, the wallet signs, and the accounts change.

import { PublicKey, TransactionInstruction } from '@solana/web3.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { depositCalls } from '../api/history/transactions/calls.ts';
import { createDecoder } from '../client/index.ts';
import { prepareSwap, SwapClient, type SwapParams, swapTransaction } from '../client/swap/index.ts';
import { Aggregators } from '../test/support/client/aggregators.ts';
import { SMALL_CLUSTER } from '../test/support/localnet/small-cluster.ts';
import { fundedWallet, rpc, type TestWallet } from '../test/support/transactions/wallet.ts';
import { chainDefinition } from './exchange/accounts.ts';
import { ROUTER_PROGRAM } from './exchange/keys.ts';
import { associatedTokenAddress } from './exchange/submitted/guests.ts';
import { type RunningLocalnet, startLocalnet } from './index.ts';

const USDT = 1_000_000n;
/** Of a token account. */
const TOKEN_AMOUNT_OFFSET = 64;
const AMOUNT = 50n * USDT;
const decoder = createDecoder<object>(chainDefinition().programs[0]?.idl as object);

/** The instruction of the localnet's router: input and output in token units. */
function exchange(taker: PublicKey, mints: readonly PublicKey[], amounts: readonly bigint[]): TransactionInstruction {
  const data = Buffer.alloc(17);
  for (const [at, amount] of amounts.entries()) data.writeBigUInt64LE(amount, 1 + 8 * at);
  const tokens = mints.map((mint) => new PublicKey(associatedTokenAddress(taker.toBase58(), mint.toBase58())));
  return new TransactionInstruction({
    programId: new PublicKey(ROUTER_PROGRAM),
    keys: [taker, ...tokens].map((pubkey, at) => ({ pubkey, isSigner: at === 0, isWritable: at > 0 })),
    data,
  });
}

describe('a swap on the cluster', () => {
  let localnet: RunningLocalnet;
  let wallet: TestWallet;
  let server: Aggregators;
  beforeEach(async () => {
    localnet = await startLocalnet(SMALL_CLUSTER);
    wallet = await fundedWallet(localnet);
    server = new Aggregators();
    server.exchange = exchange;
    await server.start();
    const own = await wallet.exchange();
    const user = await wallet.chain.user(wallet.account);
    const [usdt] = own.markets.spots;
    if (!user || !usdt) throw new Error('no account or no market');
    await land(await wallet.signed(depositCalls(own, user, usdt, 1_000n * USDT)));
  });
  afterEach(async () => {
    server.stop();
    await localnet.stop();
  });

  async function land(wire: Uint8Array) {
    const config = { encoding: 'base64', skipPreflight: true, preflightCommitment: 'processed' };
    const signature = await rpc<string>(localnet, 'sendTransaction', [Buffer.from(wire).toString('base64'), config]);
    await localnet.step(1);
    const { value } = await rpc<{ value: { err: unknown }[] }>(localnet, 'getSignatureStatuses', [[signature]]);
    const stored = localnet.ledger.history.transaction(signature);
    return { signature, err: value[0]?.err, logs: stored?.logMessages ?? [] };
  }

  const load = async (keys: readonly string[]) => {
    const found = await wallet.connection.getMultipleAccountsInfo(keys.map((key) => new PublicKey(key)));
    return found.map((account) => account?.data ?? null);
  };
  const own = () => ({ decoder, load, lookupTables: [localnet.lookupTable] });
  const v2 = () => new SwapClient({ type: 'jupiter', jupiterApiVersion: 'v2', url: server.url });
  const params = (more: Partial<SwapParams> = {}): SwapParams => ({
    swapClient: v2(),
    authority: wallet.key.publicKey.toBase58(),
    inMarketIndex: 0,
    outMarketIndex: 1,
    amount: AMOUNT,
    txParams: { computeUnits: 600_000, computeUnitsPrice: 1 },
    ...more,
  });
  async function swap(more: Partial<SwapParams> = {}) {
    const { blockhash } = await wallet.connection.getLatestBlockhash();
    const { transaction } = await swapTransaction(own(), params(more), blockhash);
    transaction.sign([wallet.key]);
    return land(transaction.serialize());
  }
  const balance = async (index: number): Promise<bigint> => {
    const [bytes] = await load([wallet.account.toBase58()]);
    const user = decoder.decode('User', bytes ?? new Uint8Array()) as {
      spotPositions: { marketIndex: number; scaledBalance: bigint; balanceType: string }[];
    };
    const held = user.spotPositions.find((one) => one.marketIndex === index && one.scaledBalance > 0n);
    return held === undefined ? 0n : held.balanceType === 'borrow' ? -held.scaledBalance : held.scaledBalance;
  };
  /** Tokens in the wallet's own account of a spot market. */
  const walletTokens = async (index: number): Promise<bigint> => {
    const { markets } = await wallet.exchange();
    const mint = markets.spots.find((spot) => spot.index === index)?.mint;
    const [bytes] = await load([associatedTokenAddress(wallet.key.publicKey.toBase58(), String(mint))]);
    return bytes ? Buffer.from(bytes).readBigUInt64LE(TOKEN_AMOUNT_OFFSET) : 0n;
  };

  it.each([
    ['the first aggregator, v1', () => new SwapClient({ type: 'jupiter', jupiterApiVersion: 'v1', url: server.url })],
    ['the first aggregator, v2', v2],
    ['the second aggregator', () => new SwapClient({ type: 'titan', url: server.url, authToken: 'x' })],
  ])('by %s moves tokens between the balances of the account, and emits its record', async (_, client) => {
    const before = [await balance(0), await balance(1)];
    const { err, signature, logs } = await swap({ swapClient: client() });
    expect(err).toBeNull();
    const inLog = logs.filter((line) => line.startsWith('Program log: Instruction: '));
    expect(inLog.map((line) => line.slice(26))).toEqual([
      'CreateIdempotent',
      'CreateIdempotent',
      'BeginSwap',
      'TransferChecked',
      'Route',
      'TransferChecked',
      'EndSwap',
      'TransferChecked',
      'TransferChecked',
    ]);
    const record = localnet.exchange.events(0, 100_000).find((event) => event.signature === signature);
    expect(record).toMatchObject({
      name: 'SwapRecord',
      data: {
        user: wallet.account.toBase58(),
        amount_in: String(AMOUNT),
        amount_out: String(AMOUNT * 2n),
        in_market_index: 0,
        out_market_index: 1,
      },
    });
    expect((await balance(0)) < (before[0] ?? 0n)).toBe(true);
    expect((await balance(1)) > (before[1] ?? 0n)).toBe(true);
    // The wallet's own tokens are as before.
    expect([await walletTokens(0), await walletTokens(1)]).toEqual([9_000n * USDT, 0n]);
  });

  it('returns what the router leaves of the input', async () => {
    server.exchange = (taker, mints, [amountIn = 0n, out = 0n]) => exchange(taker, mints, [amountIn / 2n, out]);
    const { err, signature } = await swap();
    expect(err).toBeNull();
    const record = localnet.exchange.events(0, 100_000).find((event) => event.signature === signature);
    expect(record?.data).toMatchObject({ amount_in: String(AMOUNT / 2n) });
    expect(await walletTokens(0)).toBe(9_000n * USDT);
  });

  it.each([
    ['a router that gives nothing', { out: 0n }, {}, 'InvalidSwap'],
    ['a borrow that the margin does not carry', { out: 1n }, { amount: 100_000n * USDT }, 'InsufficientCollateral'],
    ['a balance that reduce-only would let cross zero', {}, { amount: 2_000n * USDT, reduceOnly: 'In' }, 'InvalidSwap'],
    ['a balance that reduce-only would let grow', {}, { reduceOnly: 'Out' }, 'InvalidSwap'],
  ] as const)('fails as a whole for %s', async (_, { out }: { out?: bigint }, more, error) => {
    server.exchange = (taker, mints, amounts) => exchange(taker, mints, [amounts[0] ?? 0n, out ?? amounts[1] ?? 0n]);
    const before = [await balance(0), await balance(1)];
    const { err, logs } = await swap(more);
    expect(err).not.toBeNull();
    expect(logs.join('\n')).toContain(`Error Code: ${error}.`);
    expect([await balance(0), await balance(1)]).toEqual(before);
    expect([await walletTokens(0), await walletTokens(1)]).toEqual([9_000n * USDT, 0n]);
  });

  it('needs its end, and no other program before it', async () => {
    const { instructions } = await prepareSwap(own(), params());
    const calls = instructions.map(
      ({ programId, accounts, data }) =>
        new TransactionInstruction({
          programId: new PublicKey(programId),
          keys: accounts.map(({ pubkey, ...flags }) => ({ pubkey: new PublicKey(pubkey), ...flags })),
          data: Buffer.from(data),
        }),
    );
    const route = calls.filter(
      ({ programId }) => programId.toBase58() !== 'ComputeBudget111111111111111111111111111111',
    );
    const [end] = route.slice(-1);
    const foreign = new TransactionInstruction({
      programId: new PublicKey('11111111111111111111111111111111'),
      keys: [wallet.key.publicKey, new PublicKey(ROUTER_PROGRAM)].map((pubkey, at) => ({
        pubkey,
        isSigner: at === 0,
        isWritable: true,
      })),
      data: Buffer.from([2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]),
    });
    for (const wrong of [
      route.slice(0, -1),
      end ? [...route.slice(0, -1), foreign, end] : [],
      end ? [...route.slice(0, 2), end] : [],
    ]) {
      const { err, logs } = await land(await wallet.signed(wrong));
      expect(err).not.toBeNull();
      expect(logs.join('\n')).toContain('Error Code: InvalidSwap.');
    }
    expect((await land(await wallet.signed(route))).err).toBeNull();
  });
});
