// GET /l2, /l3, /batchL2, /batchL2Cache and /topMakers: published books as levels, as orders, and their best makers.

import type { FastifyInstance } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { Commitment } from '../../../platform/index.ts';
import { type MarketView, TOPICS } from '../../../schemas/index.ts';
import { base58 } from '../../http/base58.ts';
import { answers, json } from '../../http/contract/answers.ts';
import { type Given, givenParameters, type Parameter } from '../../http/contract/inputs.ts';
import { list, nullable, object, ref, text } from '../../http/contract/json-schema.ts';
import type { RouteContract } from '../../http/contract/openapi.ts';
import { OrderbookError, type OrderbookErrorCode } from '../../http/errors.ts';
import { PreparedBody } from '../../http/prepared-body.ts';
import {
  batchQueries,
  COMMITMENT,
  countParameter,
  listParameter,
  MARKET,
  MARKET_FAILURES,
  MAX_MARKETS,
  selectMarket,
  trueParameter,
  wordParameter,
} from '../parameters.ts';
import { JSON_TYPE, serve } from '../route.ts';
import type { OrderbookServices } from '../services.ts';

/** Default and cap of `depth` (docs/reference/order-book-rest.md). */
const MAX_DEPTH = 100;
/** The predecessor puts this before the error text of one market in a batch. */
const FAILURE_PREFIX = 'Bad Request: ';
/** Default of `limit` of /topMakers (docs/reference/order-book-rest.md). */
const DEFAULT_MAKERS = 4;
/** No book holds more makers than this. */
const MAX_MAKERS = 100_000;
/** /topMakers reads at most this many accounts from the chain: one getMultipleAccounts call. Later makers get null. */
const MAX_ACCOUNTS = 100;
/** Bounds of the cache of batch answers: number of answers, and characters of one. */
const MAX_CACHED_BATCHES = 32;
const MAX_CACHED_BATCH_CHARS = 500_000;

const TAGS = ['books'];

export const DEPTH = countParameter('price levels per side', { fallback: MAX_DEPTH, cap: MAX_DEPTH });
const INDICATIVE = trueParameter('lays the indicative quotes over the book');

const CAUSE = trueParameter('adds to each order the transaction that last wrote it, null where unknown');

const SLOT_TEXT = /^\d{1,15}$/;
const SLOT: Parameter<number | undefined> = {
  isRequired: false,
  schema: {
    type: 'string',
    pattern: SLOT_TEXT.source,
    description:
      `the book as published at this slot, at most ${TOPICS.bookViews.retention.hours} h ago; not together with ` +
      'includeIndicative; the error names the earliest slot available',
  },
  read: (text) => {
    if (text === undefined) return undefined;
    if (!SLOT_TEXT.test(text)) throw new OrderbookError('slotMalformed');
    return Number(text);
  },
};

const COMMITMENT_FAILURES = ['commitmentUnknown', 'noProcessedBooks'] as const satisfies readonly OrderbookErrorCode[];
const SLOT_FAILURES = [
  'slotMalformed',
  'slotIndicative',
  'slotAhead',
  'slotGone',
  'slotBusy',
] as const satisfies readonly OrderbookErrorCode[];

const BOOK = { ...MARKET, depth: DEPTH, includeIndicative: INDICATIVE };
/** One market of a batch. Unlike in /l2, only the exact text `true` asks for indicative quotes. */
const BATCH_BOOK = {
  ...BOOK,
  includeIndicative: { ...INDICATIVE, read: (text: string | undefined) => text === 'true' },
};

const asInL2 = (name: string): string =>
  `values of ${name} for each market, separated by commas, not trimmed; when present, as many as in every other list`;
const changesNothing = (name: string) => listParameter(asInL2(`${name}, which changes nothing`));

/** All lists must have one length. `grouping` and other parameters take no part in this check. */
export const BATCH_L2 = {
  marketName: listParameter(asInL2('marketName as in /l2')),
  marketIndex: listParameter(asInL2('marketIndex as in /l2')),
  marketType: listParameter(asInL2('marketType as in /l2')),
  depth: listParameter(asInL2('depth as in /l2')),
  includeIndicative: listParameter(asInL2('includeIndicative, where only the exact text true counts')),
  includeVamm: changesNothing('includeVamm'),
  includePhoenix: changesNothing('includePhoenix'),
  includeOpenbook: changesNothing('includeOpenbook'),
  includeOracle: changesNothing('includeOracle'),
};

const TOP_MAKERS = {
  ...MARKET,
  side: wordParameter(['bid', 'ask'], 'sideUnknown', 'side of the book'),
  limit: countParameter('makers at most', { fallback: DEFAULT_MAKERS, cap: MAX_MAKERS, refusal: 'limitNotANumber' }),
  includeAccounts: trueParameter('adds the bytes of each account'),
};

export const L2_CONTRACT = {
  summary: 'Price levels of a market',
  tags: TAGS,
  parameters: { ...BOOK, slot: SLOT, commitment: COMMITMENT },
  answers: answers(json('the newest published book', ref('L2Book')), [
    { codes: [...MARKET_FAILURES, ...COMMITMENT_FAILURES, ...SLOT_FAILURES] },
  ]),
} satisfies RouteContract;

export const L3_CONTRACT = {
  summary: 'Resting orders of a market',
  tags: TAGS,
  parameters: { ...MARKET, includeIndicative: INDICATIVE, slot: SLOT, cause: CAUSE, commitment: COMMITMENT },
  answers: answers(json('every visible resting order', ref('L3Book')), [
    { codes: [...MARKET_FAILURES, ...COMMITMENT_FAILURES, ...SLOT_FAILURES, 'noL3'] },
  ]),
} satisfies RouteContract;

export const BATCH_L2_CONTRACT = {
  summary: 'Price levels of several markets',
  description: `At most ${MAX_MARKETS} markets. One failing market fails the whole request. Of several failures, the answer names the last.`,
  tags: TAGS,
  parameters: BATCH_L2,
  answers: answers(json('books in the order of the request', object({ l2s: list(ref('L2Book')) })), [
    { codes: ['batchLengths', 'batchTooLong'] },
    { codes: MARKET_FAILURES, prefix: FAILURE_PREFIX },
  ]),
} satisfies RouteContract;

const makerAccount = object({
  userAccountPubKey: ref('PublicKey'),
  accountBase64: nullable(
    text(
      `bytes of the account on the chain; null when they cannot be read, and beyond the first ${MAX_ACCOUNTS} makers`,
    ),
  ),
});

export const TOP_MAKERS_CONTRACT = {
  summary: 'Makers of the best resting orders of one side',
  tags: TAGS,
  parameters: TOP_MAKERS,
  answers: answers(
    json('user accounts, best first, each once', {
      anyOf: [list(ref('PublicKey')), list(makerAccount, 'with includeAccounts=true')],
    }),
    [{ codes: [...MARKET_FAILURES, 'sideUnknown', 'limitNotANumber'] }],
  ),
} satisfies RouteContract;

export function bookRoutes(app: FastifyInstance, services: OrderbookServices): void {
  const { reader, accounts, metrics } = services;

  serve(app, '/l2', L2_CONTRACT, async (given, request, reply) => {
    const market = selectMarket(reader.markets, given);
    const slot = given('slot');
    const { slotHistory, ...books } = booksAt(services, given('commitment'));
    if (slot === undefined) return l2Body(books, market, given, '/l2').send(request, reply, JSON_TYPE);
    if (given('includeIndicative')) throw new OrderbookError('slotIndicative');
    if (!slotHistory) throw new OrderbookError('slotGone');
    return reply.type(JSON_TYPE).send(await slotHistory.l2(market, slot, given('depth')));
  });

  serve(app, '/l3', L3_CONTRACT, async (given, request, reply) => {
    const market = selectMarket(reader.markets, given);
    const slot = given('slot');
    const isIndicative = given('includeIndicative');
    const hasCause = given('cause');
    const { slotHistory, ...books } = booksAt(services, given('commitment'));
    if (slot !== undefined) {
      if (isIndicative) throw new OrderbookError('slotIndicative');
      if (!slotHistory) throw new OrderbookError('slotGone');
      return reply.type(JSON_TYPE).send(await slotHistory.l3(market, slot, hasCause));
    }
    const body = books.reader.bodies.l3(market, isIndicative, hasCause);
    metrics?.countLookup('/l3', body !== null);
    if (body === null) throw new OrderbookError('noL3');
    return body.send(request, reply, JSON_TYPE);
  });

  const batches = new BatchBodies();
  for (const path of ['/batchL2', '/batchL2Cache']) {
    serve(app, path, BATCH_L2_CONTRACT, async (given, request, reply) => {
      const books = batchBooks(services, given, path);
      if (books instanceof OrderbookError) {
        return reply.code(400).type('text/plain; charset=utf-8').send(`${FAILURE_PREFIX}${books.message}`);
      }
      return batches.of(request.url, books).send(request, reply, JSON_TYPE);
    });
  }

  serve(app, '/topMakers', TOP_MAKERS_CONTRACT, async (given, _request, reply) => {
    const market = selectMarket(reader.markets, given);
    const side = given('side');
    const limit = given('limit');
    const withAccounts = given('includeAccounts');
    const book = reader.book(market);
    metrics?.countLookup('/topMakers', book !== null);
    const makers = (book?.view.bestMakers(side, limit) ?? []).map(base58);
    reply.type(JSON_TYPE);
    if (!withAccounts) return JSON.stringify(makers);
    const bytes = await accounts.read(makers.slice(0, MAX_ACCOUNTS));
    return JSON.stringify(
      makers.map((userAccountPubKey, index) => ({ userAccountPubKey, accountBase64: bytes[index] ?? null })),
    );
  });
}

type Books = Pick<OrderbookServices, 'reader' | 'slotHistory' | 'metrics'>;

/** The books of a commitment. Throws OrderbookError with the code noProcessedBooks. */
function booksAt(services: OrderbookServices, commitment: Commitment): Books {
  if (commitment === 'confirmed') return services;
  if (!services.processed) throw new OrderbookError('noProcessedBooks');
  return { ...services, ...services.processed };
}

/** `path` is the metric label of the route. */
function l2Body(
  { reader, metrics }: Pick<Books, 'reader' | 'metrics'>,
  market: MarketView,
  given: Given<typeof BOOK>,
  path: string,
): PreparedBody {
  metrics?.countLookup(path, reader.book(market) !== null);
  return reader.bodies.l2(market, given('depth'), given('includeIndicative'));
}

/** The books of a batch, or the failure of the last market that fails. */
function batchBooks(
  services: OrderbookServices,
  given: Given<typeof BATCH_L2>,
  path: string,
): readonly PreparedBody[] | OrderbookError {
  let failure: OrderbookError | null = null;
  const books: PreparedBody[] = [];
  for (const query of batchQueries(BATCH_L2, given)) {
    try {
      const one = givenParameters(BATCH_BOOK, query);
      books.push(l2Body(services, selectMarket(services.reader.markets, one), one, path));
    } catch (error) {
      if (!(error instanceof OrderbookError)) throw error;
      failure = error;
    }
  }
  return failure ?? books;
}

interface CachedBatch {
  readonly books: readonly PreparedBody[];
  readonly body: PreparedBody;
}

/** Caches answers while none of their books changes: pollers ask for the same batch several times a second. */
class BatchBodies {
  readonly #cache = new LRUCache<string, CachedBatch>({ max: MAX_CACHED_BATCHES });

  of(url: string, books: readonly PreparedBody[]): PreparedBody {
    const cached = this.#cache.get(url);
    if (cached && isSame(cached.books, books)) return cached.body;
    const body = new PreparedBody(`{"l2s":[${books.map(({ text }) => text).join(',')}]}`);
    if (body.text.length <= MAX_CACHED_BATCH_CHARS) this.#cache.set(url, { books, body });
    else this.#cache.delete(url);
    return body;
  }
}

function isSame(cached: readonly PreparedBody[], books: readonly PreparedBody[]): boolean {
  return cached.length === books.length && books.every((book, at) => book === cached[at]);
}
