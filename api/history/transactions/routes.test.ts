// Every refusal of `/tx/*` over HTTP, with a simulated cluster behind the service.

import {
  ComputeBudgetProgram,
  Keypair,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js';
import bs58 from 'bs58';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningLocalnet, startLocalnet } from '../../../localnet/index.ts';
import { loadDefinition } from '../../../schemas/index.ts';
import { absentStore } from '../../../test/support/api/absent-store.ts';
import { eventually } from '../../../test/support/platform/eventually.ts';
import { fundedWallet, PROGRAM, type TestWallet } from '../../../test/support/transactions/wallet.ts';
import { HISTORY_ERRORS, TX_ERRORS, type TxErrorCode } from '../../http/errors.ts';
import { MarketRegistry } from '../../views/registry.ts';
import { historyApp } from '../app.ts';
import { BuiltParts } from '../built-parts.ts';
import { Downloads } from '../downloads.ts';
import { HistoryStore } from '../store.ts';
import { MarketSummaries } from '../summaries.ts';
import type { Chain } from './chain.ts';
import { RpcChain } from './chain.ts';
import { ExchangeProgram } from './program.ts';

const logger = pino({ level: 'silent' });
/** A text as long as a body allows, of digits that keys have. */
const LONG_BASE58 = '2'.repeat(16_000);

function appOf(chain: Chain | null): Promise<FastifyInstance> {
  const markets = new MarketRegistry();
  const { client, database } = absentStore();
  const store = new HistoryStore(client, database);
  return historyApp(
    {
      store,
      markets,
      builtParts: new BuiltParts(store),
      summaries: new MarketSummaries(markets),
      settings: { vaultsPath: '', fundingVenuesPath: '' },
      downloads: new Downloads(),
      completeness: async () => ({ gaps: null, coverage: [], accounts: [], eventsNotStored: null }),
      finality: () => null,
      now: () => 1_700_000_000,
      transactions: chain && { chain, unitPrice: () => 1_000 },
    },
    logger,
  );
}

/** A program without ratios of positions, with builders in signed messages alone, and with small oracle offsets. */
function olderProgram(): ExchangeProgram {
  const definition = loadDefinition('velocity');
  const programs = definition.programs.map((program) => {
    const instructions = program.idl.instructions.filter(({ name }) => !name.includes('custom_margin_ratio'));
    const types = (program.idl.types ?? []).map((type) => {
      if (type.name !== 'OrderParams' || type.type.kind !== 'struct') return type;
      const fields = (type.type.fields as { readonly name: string; readonly type: unknown }[])
        .filter(({ name }) => !name.startsWith('builder'))
        .map((field) => (field.name === 'oracle_price_offset' ? { ...field, type: { option: 'i32' } } : field));
      return { ...type, type: { ...type.type, fields } } as typeof type;
    });
    return { ...program, idl: { ...program.idl, instructions, types } };
  });
  return new ExchangeProgram({ ...definition, programs });
}

describe('/tx', () => {
  let localnet: RunningLocalnet;
  let wallet: TestWallet;
  let app: FastifyInstance;
  let accountId: string;
  const checked = new Set<TxErrorCode>();

  beforeAll(async () => {
    localnet = await startLocalnet({ seed: 2, speed: 0, accounts: 40, ordersPerMarket: 20, rpcPort: 0, wsPort: 0 });
    wallet = await fundedWallet(localnet);
    accountId = wallet.account.toBase58();
    app = await appOf(wallet.chain);
  });
  afterAll(async () => {
    await app.close();
    await localnet.stop();
  });

  const post = async (path: string, body: unknown, on = app) => {
    const payload = typeof body === 'string' ? body : JSON.stringify(body);
    const answer = await on.inject({
      method: 'POST',
      url: path,
      payload,
      headers: { 'content-type': 'application/json' },
    });
    return { status: answer.statusCode, body: answer.json() as Record<string, unknown> };
  };

  async function expectRefusal(code: TxErrorCode, path: string, body: unknown, detail = '', on = app): Promise<void> {
    checked.add(code);
    const { status, text } = TX_ERRORS[code];
    expect(await post(path, body, on)).toEqual({ status, body: { success: false, error: text.replace('$', detail) } });
  }

  it('refuses malformed deposits and withdrawals', async () => {
    for (const path of ['/tx/deposit', '/tx/withdraw']) {
      const good = { accountId, amount: '1', symbol: 'USDT' };
      await expectRefusal('body', path, '[1]');
      await expectRefusal('body', path, '{"accountId":');
      await expectRefusal('bodyTooLarge', path, `{"accountId":"${'a'.repeat(20_000)}"}`);
      await expectRefusal('missing', path, { accountId }, 'amount, symbol');
      await expectRefusal('symbol', path, { ...good, symbol: 'NOPE' }, 'NOPE');
      await expectRefusal('symbol', path, { ...good, symbol: 'SOL-PERP' }, 'SOL-PERP');
      await expectRefusal('publicKey', path, { ...good, accountId: '0OIl' }, 'accountId');
      await expectRefusal('publicKey', path, { ...good, accountId: 'abc' }, 'accountId');
      await expectRefusal('publicKey', path, { ...good, accountId: LONG_BASE58 }, 'accountId');
      for (const amount of ['0', '-1', '1e3', '0.0000001', '0x1', '99999999999999999999']) {
        await expectRefusal('amount', path, { ...good, amount });
      }
      await expectRefusal('boolean', path, { ...good, simulate: 'no' }, 'simulate');
      const stranger = Keypair.generate().publicKey.toBase58();
      await expectRefusal('accountUnknown', path, { ...good, accountId: stranger }, stranger);
      await expectRefusal(
        'accountUnknown',
        path,
        { ...good, accountId: PROGRAM.state.toBase58() },
        PROGRAM.state.toBase58(),
      );
    }
  });

  it('refuses malformed orders and cancellations', async () => {
    const good = { accountId, symbol: 'SOL-PERP', direction: 'long', amount: '1', orderType: 'limit', price: '100' };
    const path = '/tx/order/place';
    await expectRefusal('missing', path, {}, 'accountId, symbol, direction, amount, orderType');
    await expectRefusal('symbol', path, { ...good, symbol: 'USDT' }, 'USDT');
    await expectRefusal('direction', path, { ...good, direction: 'up' });
    await expectRefusal('orderType', path, { ...good, orderType: 'stop' });
    await expectRefusal('priceMissing', path, { ...good, price: undefined });
    await expectRefusal('price', path, { ...good, price: '0' });
    await expectRefusal('price', path, { ...good, price: '1.0000001' });
    await expectRefusal('amount', path, { ...good, amount: '0.0000000001' });
    await expectRefusal('marginMode', path, { ...good, marginMode: 'both' });
    await expectRefusal('postOnlyMarket', path, { ...good, orderType: 'market', postOnly: true });
    await expectRefusal('boolean', path, { ...good, reduceOnly: 1 }, 'reduceOnly');
    const { price: _, ...unpriced } = good;
    const trigger = { ...unpriced, orderType: 'triggerMarket', triggerPrice: '90', triggerCondition: 'below' };
    await expectRefusal('priceUnused', path, { ...good, orderType: 'market' });
    await expectRefusal('priceUnused', path, { ...good, oraclePriceOffset: '1' });
    await expectRefusal('priceUnused', path, { ...trigger, price: '80' });
    await expectRefusal('priceMissing', path, { ...trigger, orderType: 'triggerLimit' });
    await expectRefusal('postOnlyMarket', path, { ...trigger, postOnly: true });
    await expectRefusal('triggerPrice', path, { ...trigger, triggerPrice: undefined });
    await expectRefusal('triggerPrice', path, { ...trigger, triggerPrice: '-1' });
    await expectRefusal('triggerCondition', path, { ...trigger, triggerCondition: 'triggeredAbove' });
    await expectRefusal('triggerUnused', path, { ...good, triggerPrice: '1' }, 'triggerPrice');
    await expectRefusal('triggerUnused', path, { ...good, triggerCondition: 'above' }, 'triggerCondition');
    await expectRefusal('swiftOrderType', path, { ...trigger, useSwift: true });
    await expectRefusal('oracleOffsetMissing', path, { ...unpriced, orderType: 'oracle' });
    await expectRefusal('oracleOffsetUnused', path, { ...unpriced, orderType: 'market', oraclePriceOffset: '1' });
    for (const oraclePriceOffset of ['0', 'x', '--1', '0.0000001', '9223372036854.775808']) {
      await expectRefusal('oracleOffset', path, { ...unpriced, oraclePriceOffset });
    }
    for (const positionMaxLeverage of ['0', '0.99', '1000.01', '5.123', 'x', true]) {
      await expectRefusal('maxLeverage', path, { ...good, positionMaxLeverage });
    }
    const builderParams = { builderIdx: 0, builderFeeTenthBps: 5 };
    for (const wrong of [
      1,
      [],
      { builderIdx: 0 },
      { ...builderParams, builderIdx: 128 },
      { ...builderParams, fee: 1 },
    ]) {
      await expectRefusal('builderParams', path, { ...good, builderParams: wrong });
    }
    await expectRefusal('builderParams', path, { ...good, builderParams: { ...builderParams, builderFeeTenthBps: 0 } });
    const cancel = '/tx/order/cancel';
    await expectRefusal('orderId', cancel, { accountId, orderId: -1 });
    await expectRefusal('orderId', cancel, { accountId, orderId: 2 ** 32 });
    await expectRefusal('orderId', cancel, { accountId, orderId: 'x' });
    await expectRefusal('orderIds', cancel, { accountId, orderIds: [] });
    await expectRefusal('orderIds', cancel, { accountId, orderIds: [1.5] });
    await expectRefusal('oneSelection', cancel, { accountId, orderId: 1, symbol: 'SOL-PERP' });
    await expectRefusal('symbol', cancel, { accountId, symbol: 'NOPE' }, 'NOPE');
  });

  it('refuses parts of an order that the program of the deployment does not have', async () => {
    const chain = new RpcChain({ program: olderProgram(), rpcUrl: localnet.rpcUrl, lookupTables: [] });
    const older = await appOf(chain);
    const order = { accountId, symbol: 'SOL-PERP', direction: 'long', amount: '1', orderType: 'limit', price: '100' };
    const path = '/tx/order/place';
    const leverage = { ...order, positionMaxLeverage: '5' };
    await expectRefusal('unsupported', path, leverage, 'positionMaxLeverage', older);
    const builder = { ...order, builderParams: { builderIdx: 0, builderFeeTenthBps: 5 } };
    await expectRefusal('unsupported', path, builder, 'builderParams of orders without useSwift', older);
    const { price: _, ...unpriced } = order;
    await expectRefusal('oracleOffset', path, { ...unpriced, oraclePriceOffset: '2147.483648' }, '', older);
    expect(await post(path, { ...builder, useSwift: true }, older)).toMatchObject({ status: 200 });
    await older.close();
  });

  it('moves margin to an isolated position, but not for an order that only reduces it', async () => {
    const order = { accountId, symbol: 'SOL-PERP', direction: 'long', amount: '1', orderType: 'limit', price: '100' };
    const sizes = async (members: object) => {
      const place = (more: object) => post('/tx/order/place', { ...order, simulate: false, ...members, ...more });
      const { tx } = (await place({})).body as { tx: string };
      const { message } = VersionedTransaction.deserialize(Buffer.from(tx, 'base64'));
      const { swift } = (await place({ useSwift: true })).body as { swift: { payload: { message: string } } };
      return { calls: message.compiledInstructions.length, message: swift.payload.message.length };
    };
    const cross = await sizes({});
    // An optional amount of 8 bytes, in hex.
    expect(await sizes({ marginMode: 'isolated' })).toEqual({ calls: cross.calls + 1, message: cross.message + 16 });
    expect(await sizes({ marginMode: 'isolated', reduceOnly: true })).toEqual(cross);
  });

  it('refuses malformed settlements and builders', async () => {
    await expectRefusal('symbols', '/tx/settlePnl', { accountId, symbols: ['SOL-PERP', 'X', 'Y'] }, 'X, Y');
    await expectRefusal('symbolList', '/tx/settlePnl', { accountId, symbols: 'SOL-PERP' });
    await expectRefusal('nothingToSettle', '/tx/settlePnl', { accountId });
    const authorityId = wallet.key.publicKey.toBase58();
    const good = { authorityId, builderId: accountId, maxFeeTenthBps: 10 };
    await expectRefusal('publicKey', '/tx/builder/init', { builderId: 'zz' }, 'builderId');
    await expectRefusal('publicKey', '/tx/builder/approve', { ...good, authorityId: 'zz' }, 'authorityId');
    for (const maxFeeTenthBps of [0, -1, 1.5, 65_536, '10']) {
      await expectRefusal('maxFee', '/tx/builder/approve', { ...good, maxFeeTenthBps });
    }
    for (const numOrders of [0, 129, 1.5]) {
      await expectRefusal('numOrders', '/tx/builder/approve', { ...good, numOrders });
    }
    await expectRefusal('ownBuilder', '/tx/builder/approve', { ...good, builderId: authorityId });
  });

  it('refuses transactions that no wallet should send through it', async () => {
    const path = '/tx/execute';
    const { blockhash } = await wallet.connection.getLatestBlockhash('processed');
    const payer = wallet.key.publicKey;
    const signed = (instructions: TransactionInstruction[], signers = [wallet.key]): string => {
      const message = new TransactionMessage({ payerKey: payer, recentBlockhash: blockhash, instructions });
      const transaction = new VersionedTransaction(message.compileToV0Message());
      transaction.sign(signers);
      return Buffer.from(transaction.serialize()).toString('base64');
    };
    const call = (accounts: TransactionInstruction['keys'] = []) =>
      new TransactionInstruction({ programId: PROGRAM.programId, keys: accounts, data: Buffer.alloc(8) });
    await expectRefusal('signedTxMissing', path, {});
    await expectRefusal('notBase64', path, { signedTx: '*'.repeat(100) });
    await expectRefusal('signedTxTooLarge', path, { signedTx: Buffer.alloc(1_233).toString('base64') });
    await expectRefusal('notATransaction', path, { signedTx: Buffer.alloc(100, 7).toString('base64') });
    const other = Keypair.generate();
    const twoSigners = [call([{ pubkey: other.publicKey, isSigner: true, isWritable: false }])];
    await expectRefusal('oneSigner', path, { signedTx: signed(twoSigners, [wallet.key, other]) });
    const forged = Buffer.from(signed([call()]), 'base64');
    forged[3] = (forged[3] ?? 0) ^ 1;
    await expectRefusal('badSignature', path, { signedTx: forged.toString('base64') });
    await expectRefusal('notOurs', path, {
      signedTx: signed([ComputeBudgetProgram.setComputeUnitLimit({ units: 1 })]),
    });
    const theft = SystemProgram.transfer({ fromPubkey: payer, toPubkey: other.publicKey, lamports: 1 });
    const system = SystemProgram.programId.toBase58();
    await expectRefusal('unexpectedProgram', path, { signedTx: signed([call(), theft]) }, system);
    const token = new PublicKey('TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA');
    const drain = new TransactionInstruction({
      programId: token,
      keys: [payer, other.publicKey, payer].map((pubkey) => ({ pubkey, isSigner: false, isWritable: true })),
      data: Buffer.from([3, 1, 0, 0, 0, 0, 0, 0, 0]),
    });
    await expectRefusal('unexpectedProgram', path, { signedTx: signed([call(), drain]) }, token.toBase58());
    await expectRefusal('commitment', path, { signedTx: signed([call()]), commitment: 'soon' });
  });

  it('answers 503 without a chain, and when the chain is away', async () => {
    const { status, error, message } = HISTORY_ERRORS.rpcAway;
    const body = { accountId, amount: '1', symbol: 'USDT' };
    const without = await appOf(null);
    expect(await post('/tx/deposit', body, without)).toEqual({ status, body: { error, message } });
    const chain = new RpcChain({ program: PROGRAM, rpcUrl: 'http://127.0.0.1:1', lookupTables: [] });
    const away = await appOf(chain);
    expect(await post('/tx/deposit', body, away)).toEqual({ status, body: { error, message } });
    await without.close();
    await away.close();
  });

  it('follows a transaction until its blockhash has expired, and gives up then', async () => {
    const { tx } = (await post('/tx/deposit', { accountId, amount: '1', symbol: 'USDT' })).body as { tx: string };
    const transaction = VersionedTransaction.deserialize(Buffer.from(tx, 'base64'));
    transaction.sign([wallet.key]);
    let height = 100;
    const sent: Uint8Array[] = [];
    const silent: Chain = Object.assign(Object.create(wallet.chain) as Chain, {
      program: PROGRAM,
      lookupTables: () => wallet.chain.lookupTables(),
      send: async (wire: Uint8Array) => {
        sent.push(wire);
        return '';
      },
      status: async () => null,
      blockHeight: async () => {
        height += 100;
        return height;
      },
    });
    const lossy = await appOf(silent);
    const signedTx = Buffer.from(transaction.serialize()).toString('base64');
    checked.add('expired');
    expect(await post('/tx/execute', { signedTx, simulate: false }, lossy)).toEqual({
      status: 400,
      body: { success: false, error: TX_ERRORS.expired.text },
    });
    expect(sent).toHaveLength(1);
    await lossy.close();
  });

  it('names the error of a transaction that fails on the chain, and its signature', async () => {
    const built = await post('/tx/withdraw', { accountId, amount: '5000', symbol: 'USDT', simulate: false });
    const transaction = VersionedTransaction.deserialize(Buffer.from((built.body as { tx: string }).tx, 'base64'));
    transaction.sign([wallet.key]);
    const signedTx = Buffer.from(transaction.serialize()).toString('base64');
    let answer: Awaited<ReturnType<typeof post>> | null = null;
    const answered = post('/tx/execute', { signedTx, simulate: false }).then((found) => {
      answer = found;
    });
    await eventually(async () => {
      await localnet.step(1);
      expect(answer).not.toBeNull();
    });
    await answered;
    expect(answer).toEqual({
      status: 400,
      body: {
        success: false,
        error: 'Insufficient collateral',
        code: 6003,
        name: 'InsufficientCollateral',
        details: 'Deposit more collateral, or use a smaller size.',
        txSig: bs58.encode(transaction.signatures[0] ?? []),
      },
    });
  });

  it('reports a failure once the chain has it at the commitment', async () => {
    const { tx } = (await post('/tx/deposit', { accountId, amount: '1', symbol: 'USDT' })).body as { tx: string };
    const transaction = VersionedTransaction.deserialize(Buffer.from(tx, 'base64'));
    transaction.sign([wallet.key]);
    const statuses = [
      { err: { InstructionError: [2, { Custom: 6003 }] }, confirmationStatus: 'processed' },
      { err: null, confirmationStatus: 'confirmed' },
    ];
    const forked: Chain = Object.assign(Object.create(wallet.chain) as Chain, {
      program: PROGRAM,
      lookupTables: () => wallet.chain.lookupTables(),
      blockHeight: async () => 100,
      send: async () => '',
      status: async () => statuses.shift() ?? null,
    });
    const app = await appOf(forked);
    const signedTx = Buffer.from(transaction.serialize()).toString('base64');
    expect(await post('/tx/execute', { signedTx, simulate: false }, app)).toMatchObject({ status: 200 });
    await app.close();
  });

  it('documents each body in the contract', async () => {
    const contract = (await app.inject('/openapi.json')).json() as {
      paths: Record<string, { post?: { requestBody?: object } }>;
    };
    const paths = Object.entries(contract.paths).filter(([path]) => path.startsWith('/tx/'));
    expect(paths).toHaveLength(8);
    for (const [, { post: operation }] of paths) expect(operation?.requestBody).toBeDefined();
  });

  it('has tested every refusal but four, which need a node, a market or a failure of their own', () => {
    const untested = Object.keys(TX_ERRORS).filter((code) => !checked.has(code as TxErrorCode));
    expect(untested.sort()).toEqual(['landed', 'refused', 'tooLarge', 'unknownTable']);
  });
});
