// POST /tx/*: unsigned transactions for a wallet to sign, and the sending of signed ones. The service never has a private key.

import type { PublicKey, TransactionInstruction } from '@solana/web3.js';
import type { FastifyError, FastifyInstance, FastifyReply } from 'fastify';
import type { MarketRef } from '../../../schemas/index.ts';
import { readJsonBodies } from '../../http/edge-errors.ts';
import { HistoryError, TX_ERRORS, TxError, type TxErrorCode } from '../../http/errors.ts';
import { described } from '../route-schemas.ts';
import type { HistoryServices } from '../services.ts';
import type { Markets, UserAccount } from './accounts.ts';
import { assemble, encoded } from './assemble.ts';
import type { Body } from './body.ts';
import {
  approveBuilderCalls,
  type Cancellation,
  cancelCalls,
  createEscrowCalls,
  depositCalls,
  type Exchange,
  initBuilderCalls,
  isolatedDeposit,
  placeOrderCalls,
  settleCalls,
  withdrawCalls,
} from './calls.ts';
import { checkPrograms, readSigned, submit } from './execute.ts';
import type { TransactionFailure } from './failures.ts';
import { UnlistedMarket } from './remaining.ts';
import {
  approveRequest,
  builderRequest,
  cancelRequest,
  executeRequest,
  type OrderRequest,
  orderRequest,
  settleRequest,
  type TokenRequest,
  tokenRequest,
} from './requests.ts';
import { TX_SCHEMAS } from './schemas.ts';
import type { TransactionServices } from './services.ts';
import { signedOrder } from './signed-order.ts';

const BODY_BYTES_MAX = 16 * 1024;
/** Transactions that this process follows at once. */
const FOLLOWED_MAX = 64;

/** Errors of the framework's body reader, by its code. */
const UNREAD_BODIES: Readonly<Record<string, TxErrorCode>> = {
  FST_ERR_CTP_BODY_TOO_LARGE: 'bodyTooLarge',
  FST_ERR_CTP_INVALID_JSON_BODY: 'body',
};

interface Built {
  readonly success: true;
  readonly tx: string | null;
  readonly swift?: object;
  readonly message: string;
}

type Answer = Built | TransactionFailure | { readonly success: true; readonly txSig: string };
type Handler = (services: TransactionServices, body: Body) => Promise<Answer>;

const HANDLERS: readonly (readonly [path: string, schema: keyof typeof TX_SCHEMAS, handler: Handler])[] = [
  ['/tx/deposit', 'deposit', (services, body) => tokens(services, body, 'Deposit', depositCalls)],
  ['/tx/withdraw', 'withdraw', (services, body) => tokens(services, body, 'Withdrawal', withdrawCalls)],
  ['/tx/order/place', 'place', place],
  ['/tx/order/cancel', 'cancel', cancel],
  ['/tx/settlePnl', 'settlePnl', settle],
  ['/tx/builder/init', 'builderInit', initBuilder],
  ['/tx/builder/approve', 'builderApprove', approveBuilder],
  ['/tx/execute', 'execute', limited(FOLLOWED_MAX, execute)],
];

export function transactionRoutes(app: FastifyInstance, { transactions }: HistoryServices): void {
  readJsonBodies(app, BODY_BYTES_MAX);
  app.setErrorHandler<FastifyError>((error, _request, reply) => {
    if (error instanceof TxError) return refuse(reply, error);
    const unread = UNREAD_BODIES[error.code];
    if (unread) return refuse(reply, new TxError(unread));
    if (error instanceof UnlistedMarket) return refuse(reply, new TxError('symbol', error.message));
    throw error;
  });
  for (const [path, schema, handler] of HANDLERS) {
    app.post(path, { schema: described(TX_SCHEMAS[schema]) }, async ({ body }, reply) => {
      if (!transactions) throw new HistoryError('rpcAway');
      const answer = await handler(transactions, bodyOf(body));
      return answer.success ? answer : reply.code(TX_ERRORS.body.status).send(answer);
    });
  }
}

function refuse(reply: FastifyReply, error: TxError): FastifyReply {
  return reply.code(TX_ERRORS[error.code].status).send({ success: false, error: error.message });
}

function bodyOf(body: unknown): Body {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) throw new TxError('body');
  return body as Body;
}

async function tokens(
  services: TransactionServices,
  body: Body,
  name: string,
  calls: (
    exchange: Exchange,
    user: UserAccount,
    market: TokenRequest['market'],
    amount: bigint,
  ) => TransactionInstruction[],
): Promise<Answer> {
  const exchange = await exchangeOf(services);
  const { market, account, amount, simulate } = tokenRequest(body, exchange.markets);
  const user = await userOf(services, account);
  return finished(services, {
    payer: user.authority,
    instructions: calls(exchange, user, market, amount),
    markets: [{ marketType: 'spot', marketIndex: market.index }],
    simulate,
    message: `${name} transaction for ${market.symbol}`,
  });
}

const ORDER_NAMES: Readonly<Record<OrderRequest['orderType'], string>> = {
  market: 'Market',
  limit: 'Limit',
  triggerMarket: 'Trigger market',
  triggerLimit: 'Trigger limit',
  oracle: 'Oracle',
};

async function place(services: TransactionServices, body: Body): Promise<Answer> {
  const exchange = await exchangeOf(services);
  const request = orderRequest(body, exchange.markets);
  const user = await userOf(services, request.account);
  const name = ORDER_NAMES[request.orderType];
  if (request.useSwift) {
    const slot = await services.chain.slot();
    const deposit = isolatedDeposit(request, request.isIsolated);
    const swift = signedOrder(exchange.program, user, request, { slot, isolatedDeposit: deposit });
    const message = `${name} order message created. Sign it, put the base64 signature into swift.payload.signature, and send the payload to the signed-order service.`;
    return { success: true, tx: null, swift, message };
  }
  return finished(services, {
    payer: user.authority,
    instructions: placeOrderCalls(exchange, user, request, request.isIsolated),
    markets: [{ marketType: 'perp', marketIndex: request.market.index }],
    simulate: request.simulate,
    message: `${name} order transaction`,
  });
}

async function cancel(services: TransactionServices, body: Body): Promise<Answer> {
  const exchange = await exchangeOf(services);
  const { account, orderIds, market, simulate } = cancelRequest(body, exchange.markets);
  const user = await userOf(services, account);
  const cancellation: Cancellation =
    orderIds !== null ? { kind: 'ids', orderIds } : market ? { kind: 'market', market } : { kind: 'all' };
  return finished(services, {
    payer: user.authority,
    instructions: cancelCalls(exchange, user, cancellation),
    markets: (market ? [market.index] : user.perpIndexes).map(perp),
    simulate,
    message: 'Cancel transaction',
  });
}

async function settle(services: TransactionServices, body: Body): Promise<Answer> {
  const exchange = await exchangeOf(services);
  const { account, perpIndexes, simulate } = settleRequest(body, exchange.markets);
  const user = await userOf(services, account);
  const indexes = perpIndexes ?? user.perpIndexes;
  if (indexes.length === 0) throw new TxError('nothingToSettle');
  return finished(services, {
    payer: user.authority,
    instructions: settleCalls(exchange, user, indexes),
    markets: indexes.map(perp),
    simulate,
    message: `Settle P&L transaction for ${indexes.length} market(s)`,
  });
}

async function initBuilder(services: TransactionServices, body: Body): Promise<Answer> {
  const { builder, simulate } = builderRequest(body);
  return finished(services, {
    payer: builder,
    instructions: initBuilderCalls(services.chain.program, builder),
    markets: [perp(0)],
    simulate,
    message: 'Builder account transaction',
  });
}

async function approveBuilder(services: TransactionServices, body: Body): Promise<Answer> {
  const { authority, builder, maxFeeTenthBps, numOrders, simulate } = approveRequest(body);
  const { program } = services.chain;
  const hasEscrow = await services.chain.exists(program.revenueShareEscrow(authority));
  const approve = approveBuilderCalls(program, authority, builder, maxFeeTenthBps);
  return finished(services, {
    payer: authority,
    instructions: hasEscrow ? approve : [...createEscrowCalls(program, authority, numOrders), ...approve],
    markets: [perp(0)],
    simulate,
    message: 'Builder approval transaction',
  });
}

async function execute({ chain }: TransactionServices, body: Body): Promise<Answer> {
  const { signedTx, simulate, commitment } = executeRequest(body);
  const signed = readSigned(signedTx);
  checkPrograms(signed.transaction, chain.program.programId, await chain.lookupTables());
  const result = await submit(chain, signed, { simulate, commitment });
  return typeof result === 'string' ? { success: true, txSig: result } : result;
}

/** Refuses further calls while `most` are running. */
function limited(most: number, handler: Handler): Handler {
  let running = 0;
  return async (services, body) => {
    if (running >= most) throw new HistoryError('rpcBusy');
    running += 1;
    try {
      return await handler(services, body);
    } finally {
      running -= 1;
    }
  };
}

interface Finish {
  readonly payer: PublicKey;
  readonly instructions: readonly TransactionInstruction[];
  readonly markets: readonly MarketRef[];
  readonly simulate: boolean;
  readonly message: string;
}

async function finished(services: TransactionServices, finish: Finish): Promise<Answer> {
  const unitPrice = services.unitPrice(finish.markets);
  const made = await assemble(services.chain, { ...finish, unitPrice });
  if ('success' in made) return made;
  const message = `${finish.message} created${finish.simulate ? ' and simulated' : ''}. Sign and send it.`;
  return { success: true, tx: encoded(made), message };
}

async function exchangeOf({ chain }: TransactionServices): Promise<Exchange> {
  const markets: Markets = await chain.markets();
  return { program: chain.program, markets };
}

async function userOf({ chain }: TransactionServices, account: PublicKey): Promise<UserAccount> {
  const user = await chain.user(account);
  if (user === null) throw new TxError('accountUnknown', account.toBase58());
  return user;
}

function perp(marketIndex: number): MarketRef {
  return { marketType: 'perp', marketIndex };
}
