// The whole operation: accounts of the margin check, begin and end around the route, one transaction within its size.

import { readFileSync } from 'node:fs';
import { AddressLookupTableAccount, Keypair, PublicKey, TransactionMessage } from '@solana/web3.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Aggregators, ROUTER } from '../../test/support/client/aggregators.ts';
import { accountOf } from '../../test/support/ingest/accounts.ts';
import { blankAccount, setField } from '../../test/support/ingest/bytes.ts';
import { createDecoder } from '../index.ts';
import { addressesOf, TOKEN_2022_PROGRAM, TOKEN_PROGRAM, tokenAccount } from './addresses.ts';
import { JupiterClient, prepareSwap, SwapClient, type SwapParams, swapTransaction } from './index.ts';

const idl = JSON.parse(
  readFileSync(new URL('../../schemas/chain/idl/velocity.json', import.meta.url), 'utf8'),
) as object;
const decoder = createDecoder<object>(idl);
const addresses = addressesOf(decoder.programId);
const keyOf = (seed: number): PublicKey => Keypair.fromSeed(new Uint8Array(32).fill(seed)).publicKey;
const AUTHORITY = keyOf(10).toBase58();
const BLOCKHASH = keyOf(1).toBase58();
const ORACLES = [60, 61, 62, 63].map(keyOf);

const accounts = new Map<string, Uint8Array>();
let server: Aggregators;
let swapClient: SwapClient;

function addSpotMarket(index: number, tokenProgramFlag = 0): void {
  const bytes = blankAccount(accountOf('SpotMarket'));
  const { layout } = accountOf('SpotMarket');
  setField(bytes, layout, 'market_index', index);
  setField(bytes, layout, 'mint', keyOf(20 + index).toBytes());
  setField(bytes, layout, 'vault', keyOf(30 + index).toBytes());
  setField(bytes, layout, 'oracle', (ORACLES[index] ?? keyOf(69)).toBytes());
  setField(bytes, layout, 'token_program_flag', tokenProgramFlag);
  accounts.set(addresses.spotMarket(index), bytes);
}

function addUser(spots: readonly number[], perps: readonly number[]): void {
  const bytes = blankAccount(accountOf('User'));
  const { layout } = accountOf('User');
  for (const [at, index] of spots.entries()) {
    setField(bytes, layout, `spot_positions.${at}.market_index`, index);
    setField(bytes, layout, `spot_positions.${at}.scaled_balance`, 5n);
  }
  for (const [at, index] of perps.entries()) {
    setField(bytes, layout, `perp_positions.${at}.market_index`, index);
    setField(bytes, layout, `perp_positions.${at}.quote_asset_amount`, -5n);
  }
  accounts.set(addresses.user(AUTHORITY, 0), bytes);
}

const load = async (keys: readonly string[]) => keys.map((key) => accounts.get(key) ?? null);
const prepare = (params: Partial<SwapParams> = {}) =>
  prepareSwap(
    { decoder, load },
    { swapClient, authority: AUTHORITY, inMarketIndex: 1, outMarketIndex: 2, amount: 1_000_000n, ...params },
  );

beforeEach(async () => {
  accounts.clear();
  for (const index of [0, 1, 2, 3]) addSpotMarket(index);
  const perp = blankAccount(accountOf('PerpMarket'));
  setField(perp, accountOf('PerpMarket').layout, 'oracle', ORACLES[3]?.toBytes() ?? new Uint8Array(32));
  accounts.set(addresses.perpMarket(0), perp);
  addUser([1], [0]);
  server = new Aggregators();
  const url = await server.start();
  swapClient = new SwapClient({ type: 'jupiter', jupiterApiVersion: 'v2', url });
});
afterEach(() => server.stop());

describe('addresses', () => {
  it('are those of the deployed programs', () => {
    expect([addresses.state, addresses.signer]).toEqual([
      '2etx5NvPNxeMZ7EfHE6GjJfW2imRYEUANehNS1WB4CVW',
      'FchXiT9JgMDis6CFLjz9uG5mQYkmDtHqiWtBPEYUabaK',
    ]);
    expect(addresses.spotMarket(1)).toBe('5MzQRp6hhesVuM3CSAzBfPSNP1WaJyF1ifwkmzcrWLtU');
    expect(addresses.perpMarket(2)).toBe('Bx7JoyYAmBLDPnEdQsPUEhs2dDu4Ga5PoW5BhhhAcChg');
    const drift = addressesOf('dRiftyHA39MWEi3m9aunc5MzRF1JYuBsbn6VPcn33UH');
    expect(drift.state).toBe('5zpq7DvB6UdFFvpmBPspGPNfUGoBRRCE2HHg5u3gxcsN');
  });
});

describe('a swap', () => {
  it('stands between begin and end, behind the creation of both token accounts', async () => {
    const { instructions } = await prepare({ txParams: { computeUnits: 600_000, computeUnitsPrice: 1000 } });
    const programs = instructions.map(({ programId }) => programId);
    const budget = 'ComputeBudget111111111111111111111111111111';
    const associated = 'ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL';
    const { programId } = decoder;
    expect(programs).toEqual([budget, budget, associated, associated, programId, ROUTER.toBase58(), programId]);
    expect([...(instructions[0]?.data ?? [])]).toEqual([2, 0xc0, 0x27, 0x09, 0]);
    const [begin, end] = [instructions[4], instructions[6]];
    // global:begin_swap with markets 1 and 2 and the amount; global:end_swap without limit and reduce-only.
    expect([...(begin?.data.subarray(8) ?? [])]).toEqual([1, 0, 2, 0, 0x40, 0x42, 0x0f, 0, 0, 0, 0, 0]);
    expect([...(end?.data.subarray(8) ?? [])]).toEqual([1, 0, 2, 0, 0, 0]);
    expect(begin?.accounts).toEqual(end?.accounts);
    const [mintIn, mintOut] = [keyOf(21).toBase58(), keyOf(22).toBase58()];
    expect(begin?.accounts.slice(0, 11).map(({ pubkey }) => pubkey)).toEqual([
      addresses.state,
      addresses.user(AUTHORITY, 0),
      addresses.userStats(AUTHORITY),
      AUTHORITY,
      keyOf(32).toBase58(),
      keyOf(31).toBase58(),
      tokenAccount(AUTHORITY, mintIn, TOKEN_PROGRAM),
      tokenAccount(AUTHORITY, mintOut, TOKEN_PROGRAM),
      TOKEN_PROGRAM,
      addresses.signer,
      'Sysvar1nstructions1111111111111111111111111',
    ]);
    const flags = begin?.accounts
      .slice(0, 11)
      .map(({ isSigner, isWritable }) => `${isSigner ? 's' : ''}${isWritable ? 'w' : ''}`);
    expect(flags).toEqual(['', 'w', 'w', 's', 'w', 'w', 'w', 'w', '', '', '']);
  });

  it('names oracles and markets of every position, those of the swap writable', async () => {
    addUser([1, 3], [0]);
    const { instructions } = await prepare();
    const rest = instructions.find(({ programId }) => programId === decoder.programId)?.accounts.slice(11) ?? [];
    const writable = rest.filter(({ isWritable }) => isWritable).map(({ pubkey }) => pubkey);
    expect(writable).toEqual([addresses.spotMarket(1), addresses.spotMarket(2)]);
    expect(new Set(rest.map(({ pubkey }) => pubkey))).toEqual(
      new Set([
        ...ORACLES.map((oracle) => oracle.toBase58()),
        ...[0, 1, 2, 3].map((index) => addresses.spotMarket(index)),
        addresses.perpMarket(0),
      ]),
    );
  });

  it('names the token program and mint of a Token-2022 market', async () => {
    addSpotMarket(2, 1);
    const { instructions } = await prepare();
    const begin = instructions.find(({ programId }) => programId === decoder.programId);
    expect(begin?.accounts.slice(-2).map(({ pubkey }) => pubkey)).toEqual([TOKEN_2022_PROGRAM, keyOf(22).toBase58()]);
    expect(begin?.accounts[7]?.pubkey).toBe(tokenAccount(AUTHORITY, keyOf(22).toBase58(), TOKEN_2022_PROGRAM));
  });

  it.each([
    ['In', [1, 0]],
    ['Out', [1, 1]],
  ] as const)('may only reduce: %s', async (reduceOnly, bytes) => {
    const { instructions } = await prepare({ reduceOnly });
    expect([...(instructions.at(-1)?.data.slice(-3) ?? [])]).toEqual([0, ...bytes]);
  });

  it('borrows a margin more for an exact output', async () => {
    const { instructions } = await prepare({
      swapClient: new SwapClient({ type: 'jupiter', url: server.url }),
      swapMode: 'ExactOut',
      amount: 2_000_000n,
    });
    const begin = instructions.find(({ programId }) => programId === decoder.programId);
    expect(new DataView((begin?.data ?? new Uint8Array(20)).slice().buffer).getBigUint64(12, true)).toBe(1_001_000n);
  });

  it('takes a quote fetched before, and a raw client on the legacy path', async () => {
    const jupiterClient = new JupiterClient({ url: server.url, apiVersion: 'v2' });
    const quote = await jupiterClient.getQuote({
      inputMint: keyOf(21).toBase58(),
      outputMint: keyOf(22).toBase58(),
      amount: 1_000_000n,
      userPublicKey: AUTHORITY,
    });
    const params = { authority: AUTHORITY, inMarketIndex: 1, outMarketIndex: 2, amount: 1_000_000n };
    const prepared = await prepareSwap({ decoder, load }, { ...params, jupiterClient, quote });
    expect(prepared.quote).toBe(quote);
    expect(server.asked).toHaveLength(1);
    await expect(prepareSwap({ decoder, load }, params)).rejects.toThrow(
      'Either swapClient or jupiterClient must be provided',
    );
  });

  it('says that a quote failed, and keeps refusals of options', async () => {
    await expect(prepare({ swapMode: 'ExactOut' })).rejects.toThrow('swapMode ExactOut');
    await expect(prepare({ onlyDirectRoutes: true })).rejects.toThrow('onlyDirectRoutes');
    server.answer = { status: 500, body: { error: 'down' } };
    await expect(prepare()).rejects.toThrow('Could not fetch swap quote. Please try again.');
  });

  it('says which account does not exist', async () => {
    await expect(prepare({ outMarketIndex: 9 })).rejects.toThrow(`market account ${addresses.spotMarket(9)}`);
    await expect(prepare({ subAccountId: 3 })).rejects.toThrow(`user account ${addresses.user(AUTHORITY, 3)}`);
  });
});

describe('one transaction', () => {
  const params: SwapParams = { authority: AUTHORITY, inMarketIndex: 1, outMarketIndex: 2, amount: 1_000_000n };

  /** A lookup table of every account of the route and of the exchange. */
  function table(key: PublicKey, addressesIn: readonly PublicKey[]): void {
    const head = Buffer.alloc(56);
    head.writeUInt32LE(1, 0);
    head.writeBigUInt64LE(2n ** 64n - 1n, 4);
    accounts.set(key.toBase58(), Buffer.concat([head, ...addressesIn.map((address) => address.toBytes())]));
  }

  it('fits by lookup tables, and holds the instructions in order', async () => {
    server.routeAccounts = 24;
    const { instructions } = await prepare();
    const all = instructions.flatMap(({ accounts: metas }) => metas.map(({ pubkey }) => new PublicKey(pubkey)));
    const keys = [keyOf(80), keyOf(81)];
    for (const [at, key] of keys.entries())
      table(
        key,
        all.filter((_, index) => index % 2 === at),
      );
    const exchange = { decoder, load, lookupTables: keys.map((key) => key.toBase58()) };
    const { transaction } = await swapTransaction(exchange, { ...params, swapClient }, BLOCKHASH);
    expect(transaction.serialize().length).toBeLessThanOrEqual(1232);
    expect(transaction.message.addressTableLookups.length).toBeGreaterThan(0);
    const tables = keys.map((key) => {
      const data = accounts.get(key.toBase58()) ?? new Uint8Array();
      return new AddressLookupTableAccount({ key, state: AddressLookupTableAccount.deserialize(data) });
    });
    const back = TransactionMessage.decompile(transaction.message, { addressLookupTableAccounts: tables });
    expect(back.instructions.map(({ programId }) => programId.toBase58())).toEqual(
      instructions.map(({ programId }) => programId),
    );
    expect(back.payerKey.toBase58()).toBe(AUTHORITY);
  });

  it('is refused when it would be too long', async () => {
    server.routeAccounts = 40;
    await expect(swapTransaction({ decoder, load }, { ...params, swapClient }, BLOCKHASH)).rejects.toThrow(
      'more than 1232',
    );
  });
});
