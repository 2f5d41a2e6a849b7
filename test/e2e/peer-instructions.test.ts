// Instructions beside those of the published client library, for random users and markets: the same bytes and the same accounts
// in the same order. Over the library's own program definition, whose calls the programs share.

import { type AccountMeta, PublicKey, type TransactionInstruction } from '@solana/web3.js';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Markets, PerpMarket, SpotMarket, UserAccount } from '../../api/history/transactions/accounts.ts';
import {
  approveBuilderCalls,
  cancelCalls,
  createEscrowCalls,
  depositCalls,
  type Exchange,
  initBuilderCalls,
  type Order,
  placeOrderCalls,
  settleCalls,
  withdrawCalls,
} from '../../api/history/transactions/calls.ts';
import {
  associatedTokenAddress,
  ExchangeProgram,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from '../../api/history/transactions/program.ts';
import { signedOrder } from '../../api/history/transactions/signed-order.ts';
import { loadDefinition } from '../../schemas/index.ts';
import { requirePeer } from '../peers/dlob/peer.ts';
import { driftIdlPath } from '../peers/drift-idl.ts';

const RUNS = 60;
const MARKETS = 6;
const INSTALL_MS = 300_000;

interface PeerInstruction {
  readonly data: Buffer;
  readonly keys: readonly { readonly pubkey: { toBase58(): string }; isSigner: boolean; isWritable: boolean }[];
}
type Call = (...args: unknown[]) => Promise<PeerInstruction>;
/** The calls of the library's client that are compared. */
interface PeerClient {
  readonly getDepositInstruction: Call;
  readonly getWithdrawIx: Call;
  readonly getPlacePerpOrderIx: Call;
  readonly getUpdateUserPerpPositionCustomMarginRatioIx: Call;
  readonly getCancelOrderIx: Call;
  readonly getCancelOrdersByIdsIx: Call;
  readonly getCancelOrdersIx: Call;
  readonly settlePNLIx: Call;
  readonly settleMultiplePNLsIx: Call;
  readonly getInitializeRevenueShareIx: Call;
  readonly getInitializeRevenueShareEscrowIx: Call;
  readonly getChangeApprovedBuilderIx: Call;
  encodeSignedMsgOrderParamsMessage(message: object, isDelegate: boolean): Buffer;
}

interface World {
  readonly markets: Markets;
  readonly user: UserAccount;
}

const key = fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => new PublicKey(bytes));
const index = fc.integer({ min: 0, max: MARKETS - 1 });

const perpOf = (program: ExchangeProgram, at: number) =>
  fc.record({ oracle: key, isPrelaunch: fc.boolean() }).map(
    (fields): PerpMarket => ({
      ...fields,
      index: at,
      symbol: `M${at}-PERP`,
      key: program.perpMarket(at),
      quoteSpotIndex: 0,
      marginRatioInitial: 1_000,
      oraclePrice: 1n,
    }),
  );

const spotOf = (program: ExchangeProgram, at: number) =>
  fc.record({ oracle: fc.option(key), mint: key, vault: key, isToken2022: fc.boolean() }).map(
    (fields): SpotMarket => ({
      ...fields,
      index: at,
      symbol: `M${at}`,
      key: program.spotMarket(at),
      decimals: 6,
      tokenProgram: fields.isToken2022 ? TOKEN_2022_PROGRAM : TOKEN_PROGRAM,
    }),
  );

const worldOf = (program: ExchangeProgram): fc.Arbitrary<World> =>
  fc.record({
    markets: fc.record({
      perps: fc.tuple(...Array.from({ length: MARKETS }, (_, at) => perpOf(program, at))),
      spots: fc.tuple(...Array.from({ length: MARKETS }, (_, at) => spotOf(program, at))),
    }),
    user: fc
      .record({
        authority: key,
        spots: fc.uniqueArray(fc.record({ index, hasOrders: fc.boolean() }), { selector: (one) => one.index }),
        perps: fc.uniqueArray(index),
      })
      .map(
        ({ authority, spots, perps }): UserAccount => ({
          key: program.address('user', authority.toBuffer(), Buffer.alloc(2)),
          authority,
          subAccountId: 0,
          spotIndexes: spots,
          perpIndexes: perps,
          hasBuilderOrder: false,
        }),
      ),
  });

describe('instructions beside the client library', () => {
  let program: ExchangeProgram;
  let peer: Record<string, unknown>;
  let Key: new (text: string) => object;
  let client: PeerClient;
  let world: World;

  beforeAll(async () => {
    program = new ExchangeProgram(loadDefinition(await driftIdlPath()));
    const load = requirePeer();
    peer = load('@drift-labs/sdk') as Record<string, unknown>;
    ({ PublicKey: Key } = load('@solana/web3.js') as { PublicKey: typeof Key });
    client = makeClient();
  }, INSTALL_MS);

  const theirKey = (ours: PublicKey) => new Key(ours.toBase58());
  const big = (value: bigint | number) => new (peer.BN as new (text: string) => object)(String(value));

  /** One client for all runs, because its construction compiles the whole program; it reads the world of the run. */
  function makeClient(): PeerClient {
    const Client = peer.DriftClient as new (config: object) => PeerClient;
    const { Connection } = requirePeer()('@solana/web3.js') as { Connection: new (url: string) => object };
    const client = new Client({
      connection: new Connection('http://127.0.0.1:1'),
      wallet: { publicKey: theirKey(PublicKey.default), payer: {} },
      accountSubscription: { type: 'websocket' },
    });
    const user = () => userFields(world.user);
    const spot = (at: number) => spotFields(world.markets.spots[at] as SpotMarket);
    return Object.assign(client, {
      getPerpMarketAccount: (at: number) => perpFields(world.markets.perps[at] as PerpMarket),
      getSpotMarketAccount: spot,
      getQuoteSpotMarketAccount: () => spot(0),
      getUserAccount: user,
      forceGetUserAccount: async () => user(),
      getUserAccountAndSlot: () => ({ data: user(), slot: 1 }),
      getUserAccountPublicKey: async () => theirKey(world.user.key),
    });
  }

  function clientOf(next: World): PeerClient {
    world = next;
    const authority = theirKey(world.user.authority);
    // The library caches the statistics account of its authority.
    return Object.assign(client, { authority, wallet: { publicKey: authority }, userStatsAccountPublicKey: undefined });
  }

  const perpFields = ({ index: marketIndex, key: pubkey, oracle, isPrelaunch }: PerpMarket) => ({
    marketIndex,
    pubkey: theirKey(pubkey),
    quoteSpotMarketIndex: 0,
    amm: { oracle: theirKey(oracle), oracleSource: isPrelaunch ? { prelaunch: {} } : { pythLazer: {} } },
  });
  const spotFields = ({ index: marketIndex, key: pubkey, oracle, mint, vault, isToken2022 }: SpotMarket) => ({
    marketIndex,
    pubkey: theirKey(pubkey),
    oracle: theirKey(oracle ?? PublicKey.default),
    mint: theirKey(mint),
    vault: theirKey(vault),
    tokenProgramFlag: isToken2022 ? 1 : 0,
  });
  const userFields = ({ authority, spotIndexes, perpIndexes }: UserAccount) => ({
    authority: theirKey(authority),
    subAccountId: 0,
    orders: [],
    spotPositions: spotIndexes.map(({ index: marketIndex, hasOrders }) => ({
      marketIndex,
      scaledBalance: big(1),
      openOrders: hasOrders ? 1 : 0,
      openBids: big(hasOrders ? 1 : 0),
      openAsks: big(0),
    })),
    perpPositions: perpIndexes.map((marketIndex) => ({
      marketIndex,
      baseAssetAmount: big(1),
      quoteAssetAmount: big(0),
      openOrders: 0,
      lpShares: big(0),
      isolatedPositionScaledBalance: big(0),
      positionFlag: 0,
    })),
  });

  const printedMeta = ({
    pubkey,
    isSigner,
    isWritable,
  }: Pick<AccountMeta, 'isSigner' | 'isWritable'> & { pubkey: { toBase58(): string } }) =>
    `${pubkey.toBase58()}${isSigner ? ' signer' : ''}${isWritable ? ' writable' : ''}`;
  const printed = ({ data, keys }: PeerInstruction | TransactionInstruction) => ({
    data: Buffer.from(data).toString('hex'),
    keys: keys.map(printedMeta),
  });

  /** Compares the last instruction of ours with theirs, for random worlds and `input`. */
  async function agree<T>(
    input: fc.Arbitrary<T>,
    ours: (exchange: Exchange, world: World, input: T) => TransactionInstruction[],
    theirs: (client: PeerClient, world: World, input: T) => Promise<PeerInstruction>,
  ): Promise<void> {
    await fc.assert(
      fc.asyncProperty(worldOf(program), input, async (one, value) => {
        const own = ours({ program, markets: one.markets }, one, value).at(-1);
        const other = await theirs(clientOf(one), one, value);
        if (!own) throw new Error('no instruction');
        expect(printed(own)).toEqual(printed(other));
      }),
      { numRuns: RUNS },
    );
  }

  const amount = fc.bigInt({ min: 1n, max: 2n ** 64n - 1n });
  const spotAt = ({ markets }: World, at: number) => markets.spots[at] as SpotMarket;
  const tokensOf = ({ user }: World, spot: SpotMarket) =>
    theirKey(associatedTokenAddress(user.authority, spot.mint, spot.tokenProgram));

  it('deposit and withdraw', async () => {
    const input = fc.record({ amount, at: index });
    await agree(
      input,
      (exchange, world, { amount: tokens, at }) => depositCalls(exchange, world.user, spotAt(world, at), tokens),
      (client, world, { amount: tokens, at }) =>
        client.getDepositInstruction(big(tokens), at, tokensOf(world, spotAt(world, at))),
    );
    await agree(
      input,
      (exchange, world, { amount: tokens, at }) => withdrawCalls(exchange, world.user, spotAt(world, at), tokens),
      (client, world, { amount: tokens, at }) =>
        client.getWithdrawIx(big(tokens), at, tokensOf(world, spotAt(world, at))),
    );
  });

  const order = fc.record({
    at: index,
    direction: fc.constantFrom('long' as const, 'short' as const),
    isLimit: fc.boolean(),
    base: amount,
    price: amount,
    reduceOnly: fc.boolean(),
    postOnly: fc.boolean(),
    trigger: fc.option(fc.record({ price: amount, condition: fc.constantFrom('above' as const, 'below' as const) })),
    oracleOffset: fc.option(fc.bigInt({ min: -(2n ** 31n), max: 2n ** 31n - 1n }), { nil: null }),
    maxMarginRatio: fc.option(fc.integer({ min: 1, max: 2 ** 16 - 1 })),
  });
  type Input = typeof order extends fc.Arbitrary<infer T> ? T : never;
  const ourOrder = (world: World, { at, isLimit, price, ...rest }: Input): Order => ({
    ...rest,
    builder: null,
    market: world.markets.perps[at] as PerpMarket,
    orderType: isLimit ? 'limit' : 'market',
    price: isLimit ? price : 0n,
  });
  const theirOrder = ({ at, direction, isLimit, base, price, reduceOnly, postOnly, trigger, oracleOffset }: Input) => ({
    triggerPrice: trigger && big(trigger.price),
    triggerCondition: { [trigger?.condition ?? 'above']: {} },
    oraclePriceOffset: oracleOffset === null ? null : big(oracleOffset),
    orderType: isLimit ? { limit: {} } : { market: {} },
    direction: { [direction]: {} },
    marketIndex: at,
    baseAssetAmount: big(base),
    price: big(isLimit ? price : 0n),
    reduceOnly,
    postOnly: postOnly ? { mustPostOnly: {} } : { none: {} },
  });

  it('place an order, as an instruction and as a message', async () => {
    await agree(
      order,
      (exchange, world, input) => placeOrderCalls(exchange, world.user, ourOrder(world, input), false),
      (client, _world, input) => client.getPlacePerpOrderIx(theirOrder(input)),
    );
    await agree(
      order.filter(({ maxMarginRatio }) => maxMarginRatio !== null),
      (exchange, world, input) => placeOrderCalls(exchange, world.user, ourOrder(world, input), false).slice(0, 1),
      (client, _world, { at, maxMarginRatio }) =>
        client.getUpdateUserPerpPositionCustomMarginRatioIx(at, Number(maxMarginRatio)),
    );
    const getOrderParams = peer.getOrderParams as (params: object, overrides: object) => object;
    fc.assert(
      fc.property(worldOf(program), order, fc.integer({ min: 0, max: 2 ** 31 }), (one, input, slot) => {
        const uuid = Buffer.from('12345678');
        const own = signedOrder(program, one.user, ourOrder(one, input), { slot, isolatedDeposit: null, uuid });
        const message = {
          signedMsgOrderParams: getOrderParams(theirOrder(input), { marketType: { perp: {} } }),
          subAccountId: 0,
          slot: big(BigInt(own.meta.slotForSignedMsg)),
          uuid,
          maxMarginRatio: input.maxMarginRatio,
          takeProfitOrderParams: null,
          stopLossOrderParams: null,
        };
        const other = clientOf(one).encodeSignedMsgOrderParamsMessage(message, false);
        expect(own.payload.message).toBe(other.toString('hex'));
      }),
      { numRuns: RUNS },
    );
  });

  it('cancel by id, by market, and all', async () => {
    await agree(
      fc.integer({ min: 0, max: 2 ** 32 - 1 }),
      (exchange, { user }, orderId) => cancelCalls(exchange, user, { kind: 'ids', orderIds: [orderId] }),
      (client, _world, orderId) => client.getCancelOrderIx(orderId),
    );
    await agree(
      fc.uniqueArray(fc.integer({ min: 0, max: 2 ** 32 - 1 }), { minLength: 2 }),
      (exchange, { user }, orderIds) => cancelCalls(exchange, user, { kind: 'ids', orderIds }),
      (client, _world, orderIds) => client.getCancelOrdersByIdsIx(orderIds),
    );
    await agree(
      index,
      (exchange, { user, markets }, at) =>
        cancelCalls(exchange, user, { kind: 'market', market: markets.perps[at] as PerpMarket }),
      (client, _world, at) => client.getCancelOrdersIx({ perp: {} }, at, null),
    );
    await agree(
      fc.constant(null),
      (exchange, { user }) => cancelCalls(exchange, user, { kind: 'all' }),
      (client) => client.getCancelOrdersIx(null, null, null),
    );
  });

  it('settle one market and several', async () => {
    await agree(
      index,
      (exchange, { user }, at) => settleCalls(exchange, user, [at]),
      (client, { user }, at) => client.settlePNLIx(theirKey(user.key), userFields(user), at),
    );
    await agree(
      fc.uniqueArray(index, { minLength: 2 }),
      (exchange, { user }, indexes) => settleCalls(exchange, user, indexes),
      (client, { user }, indexes) =>
        client.settleMultiplePNLsIx(theirKey(user.key), userFields(user), indexes, { trySettle: {} }),
    );
  });

  it('open the accounts of a builder and approve it', async () => {
    await agree(
      fc.constant(null),
      (exchange, { user }) => initBuilderCalls(exchange.program, user.authority),
      (client, { user }) => client.getInitializeRevenueShareIx(theirKey(user.authority)),
    );
    await agree(
      fc.integer({ min: 1, max: 128 }),
      (exchange, { user }, orders) => createEscrowCalls(exchange.program, user.authority, orders),
      (client, { user }, orders) => client.getInitializeRevenueShareEscrowIx(theirKey(user.authority), orders),
    );
    await agree(
      fc.record({ builder: key, fee: fc.integer({ min: 1, max: 65_535 }) }),
      (exchange, { user }, { builder, fee }) => approveBuilderCalls(exchange.program, user.authority, builder, fee),
      (client, _world, { builder, fee }) => client.getChangeApprovedBuilderIx(theirKey(builder), fee, true),
    );
  });
});
