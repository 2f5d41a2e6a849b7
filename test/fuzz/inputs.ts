// Inputs that no client should send, made by fast-check from a seed: near misses of real requests, values of the wrong kind,
// limits and what lies past them, and plain noise.

import fc from 'fast-check';

export interface RestInput {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

export interface SocketInput {
  readonly bytes: Buffer;
  readonly isText: boolean;
}

const ROUTES = [
  '/l2',
  '/l3',
  '/batchL2',
  '/batchL2Cache',
  '/topMakers',
  '/priorityFees',
  '/batchPriorityFees',
  '/unsettledPnlUsers',
  '/auctionParams',
  '/oracleLazer',
  '/quality',
  '/health',
  '/startup',
  '/',
  '/ws',
  '/openapi.json',
  '/asyncapi.json',
];
const PARAMETERS = [
  'marketName',
  'marketIndex',
  'marketType',
  'depth',
  'slot',
  'side',
  'limit',
  'includeAccounts',
  'includeVamm',
  'includeOracle',
  'includeIndicative',
  'numVammOrders',
  'grouping',
  'marketNames',
  'marketIndexes',
  'marketIndices',
  'marketTypes',
  'n',
  'direction',
  'amount',
  'assetType',
  'maxLeverageSelected',
  'maxLeverageOrderSize',
  'auctionDuration',
  'auctionStartPriceOffset',
  'auctionEndPriceOffset',
  'auctionStartPriceOffsetFrom',
  'auctionEndPriceOffsetFrom',
  'slippageTolerance',
  'reduceOnly',
  'allowInfSlippage',
  'orderType',
  'userOrderId',
  'isOracleOrder',
  'additionalEndPriceBuffer',
  'version',
  'feedId',
  'feedIds',
  'forceUpToSlippage',
  '__proto__',
  'constructor',
];

const number = fc.oneof(
  fc.integer({ min: -3, max: 200 }).map(String),
  fc.constantFrom(
    '-0',
    '1e9',
    '1e400',
    'NaN',
    'Infinity',
    '0x10',
    '9007199254740993',
    '18446744073709551616',
    '-1',
    '.5',
  ),
  fc.bigInt({ min: -(2n ** 130n), max: 2n ** 130n }).map(String),
  fc.double().map(String),
);
const word = fc.constantFrom(
  'M0-PERP',
  'm1-perp',
  'M9-PERP',
  'M0-PERP,M1-PERP',
  'M0-PERP,,M1-PERP,nonsense',
  'perp',
  'PERP',
  'spot',
  'perp,spot',
  'long',
  'short',
  'bid',
  'ask',
  'true',
  'false',
  'base',
  'quote',
  'best',
  'worst',
  'oracle',
  'mark',
  'marketLimit',
  'dynamic',
  'null',
  'undefined',
  '[object Object]',
  '',
);
const noise = fc.oneof(fc.string({ maxLength: 40 }), fc.string({ unit: 'binary', maxLength: 40 }));
const list = fc.array(fc.oneof(number, word), { maxLength: 150 }).map((values) => values.join(','));
const value = fc.oneof({ weight: 3, arbitrary: number }, { weight: 5, arbitrary: word }, noise, list);

/** Percent-encoded, or left so broken that decoding it fails, but always something a request line can carry. */
const encoded = fc.oneof(
  { weight: 9, arbitrary: value.map((text) => encodeURIComponent(text)) },
  fc.constantFrom('%', '%zz', '%C3%28', '%00', '%F0%9F', '+', '&&', '=', '[]', ';', 'a'.repeat(3_000)),
);
const pair = fc
  .tuple(
    fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...PARAMETERS) },
      noise.map((text) => encodeURIComponent(text)),
    ),
    fc.constantFrom('', '', '', '[]', '[0]'),
    encoded,
  )
  .map(([name, suffix, text]) => `${name}${suffix}=${text}`);
/** What a request that succeeds has, so that many get past the first check. */
const sound = fc.constantFrom(
  'marketName=M0-PERP',
  'marketIndex=0&marketType=perp',
  'marketIndex=0&marketType=perp&direction=long&amount=1000000000&assetType=base',
  'marketName=M1-PERP&side=bid&limit=4',
  'marketType=perp&n=5',
  '',
);
const path = fc
  .tuple(
    fc.constantFrom('', '', '', '', '', '', '/dlob', '/dlob', '/dlob/dlob', '//'),
    fc.oneof(
      { weight: 12, arbitrary: fc.constantFrom(...ROUTES) },
      fc.string({ maxLength: 30 }).map((text) => `/${encodeURIComponent(text)}`),
    ),
    sound,
    fc.array(pair, { maxLength: 5 }),
  )
  .map(([prefix, route, base, pairs]) => {
    const query = [base, ...pairs].filter((text) => text !== '').join('&');
    return `${prefix}${route}${query === '' ? '' : '?'}${query}`;
  });

const headers = fc.record(
  {
    'accept-encoding': fc.constantFrom('gzip', 'deflate, gzip;q=0', 'br', '*', 'identity;q=0', ',,;q=x'),
    'content-type': fc.constantFrom(
      'application/json',
      'text/plain',
      'multipart/form-data',
      'x',
      'application/json; charset=x',
    ),
    origin: fc.constantFrom('http://localhost', 'null', 'x'),
    'x-forwarded-for': fc.constantFrom('1.2.3.4', 'x'.repeat(500), ',,,'),
    range: fc.constantFrom('bytes=0-1', 'bytes=-1', 'x'),
    'access-control-request-method': fc.constantFrom('GET', 'X'),
  },
  { requiredKeys: [] },
);

export const restInput: fc.Arbitrary<RestInput> = fc.record({
  method: fc.oneof(
    { weight: 12, arbitrary: fc.constant('GET') },
    fc.constantFrom('POST', 'PUT', 'DELETE', 'OPTIONS', 'HEAD'),
  ),
  path,
  headers: headers as fc.Arbitrary<Record<string, string>>,
  body: fc.oneof({ weight: 5, arbitrary: fc.constant(null) }, fc.constantFrom('{}', '{', 'x'.repeat(2_000)), fc.json()),
});

const member = fc.oneof(
  value,
  fc.integer(),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
  fc.jsonValue({ maxDepth: 3 }),
);
const orMember = (known: fc.Arbitrary<unknown>) => fc.oneof({ weight: 4, arbitrary: known }, member);
const message = fc
  .record(
    {
      type: orMember(fc.constantFrom('subscribe', 'unsubscribe', 'SUBSCRIBE', 'ping', '')),
      channel: orMember(
        fc.constantFrom('orderbook', 'orderbook_indicative', 'trades', 'priorityfees', 'book', 'BOOK', 'candles', ''),
      ),
      market: orMember(fc.constantFrom('M0-PERP', 'm1-perp', '*', 'M9-PERP', '')),
      marketType: orMember(fc.constantFrom('perp', 'PERP', 'spot', '*', 'future')),
      grouping: orMember(fc.constantFrom(1, 10, 100, 500, 1000, '100', '100abc')),
      level: orMember(fc.constantFrom('l2', 'l3', 'L2')),
      depth: orMember(fc.constantFrom(1, 20, 1000, 1001, 0, -1)),
      conflation: orMember(fc.constantFrom(0, 50, 100, 400, 1000, 75)),
      checksum: orMember(fc.constantFrom(true, false, 10, 100, 101)),
      resume: orMember(fc.record({ epoch: orMember(fc.nat()), seq: orMember(fc.nat()) })),
      id: member,
    },
    { requiredKeys: ['type', 'channel'] },
  )
  .map((value) => JSON.stringify(value));
const text = fc.oneof(
  { weight: 8, arbitrary: message },
  fc.json({ maxDepth: 4 }),
  message.chain((whole) => fc.nat({ max: whole.length }).map((end) => whole.slice(0, end))),
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.constantFrom(
    '',
    'null',
    '[]',
    '"x"',
    '1e999',
    '['.repeat(5_000),
    `{"type":"${'s'.repeat(16_000)}"}`,
    'x'.repeat(20_000),
  ),
);

export const socketInput: fc.Arbitrary<SocketInput> = fc.oneof(
  { weight: 12, arbitrary: text.map((value) => ({ bytes: Buffer.from(value), isText: true })) },
  {
    weight: 1,
    arbitrary: fc.uint8Array({ maxLength: 300 }).map((value) => ({ bytes: Buffer.from(value), isText: true })),
  },
  {
    weight: 1,
    arbitrary: fc.uint8Array({ maxLength: 300 }).map((value) => ({ bytes: Buffer.from(value), isText: false })),
  },
);
