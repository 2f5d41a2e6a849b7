// Requests that no client should send, made by fast-check from a seed. They are near misses of real requests, values of the
// wrong kind, values on and beyond limits, and random bytes.

import fc from 'fast-check';
import { ODD_NUMBERS } from '../support/api/odd-numbers.ts';
import { CROSSED, SECRET, SPOT } from './full-stage.ts';

export interface RestInput {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
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
  '/guarantees',
  '/quality',
  '/health',
  '/startup',
  '/',
  '/ws',
  '/openapi.json',
  '/asyncapi.json',
  '/L2',
  '/topmakers/',
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
  fc.constantFrom(...ODD_NUMBERS, '-0', '1e9', '9007199254740993', '18446744073709551616', '-1', '.5'),
  fc.bigInt({ min: -(2n ** 130n), max: 2n ** 130n }).map(String),
  fc.double().map(String),
);
const word = fc.constantFrom(
  'M0-PERP',
  'm1-perp',
  'M9-PERP',
  SPOT.symbol,
  CROSSED.symbol,
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
const junk = fc.oneof(fc.string({ maxLength: 40 }), fc.string({ unit: 'binary', maxLength: 40 }));
const list = fc.array(fc.oneof(number, word), { maxLength: 150 }).map((values) => values.join(','));
export const value = fc.oneof({ weight: 3, arbitrary: number }, { weight: 5, arbitrary: word }, junk, list);

/** Percent-encoded, or so broken that decoding fails, but always valid in a request line. */
const encoded = fc.oneof(
  { weight: 9, arbitrary: value.map((text) => encodeURIComponent(text)) },
  fc.constantFrom('%', '%zz', '%C3%28', '%00', '%F0%9F', '+', '&&', '=', '[]', ';', 'a'.repeat(3_000)),
);
const pair = fc
  .tuple(
    fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom(...PARAMETERS) },
      junk.map((text) => encodeURIComponent(text)),
    ),
    fc.constantFrom('', '', '', '[]', '[0]'),
    encoded,
  )
  .map(([name, suffix, text]) => `${name}${suffix}=${text}`);
/** Parameters of successful requests, so that many pass the first check. */
const sound = fc.constantFrom(
  'marketName=M0-PERP',
  'marketIndex=0&marketType=perp',
  'marketIndex=0&marketType=perp&direction=long&amount=1000000000&assetType=base',
  `marketIndex=${CROSSED.marketIndex}&marketType=perp&direction=long&amount=1000000000&assetType=base&version=2`,
  `marketName=${SPOT.symbol}`,
  `marketIndex=${SPOT.marketIndex}&marketType=spot`,
  'marketIndex=0,1,0&marketType=perp,perp,spot',
  'feedIds=1,6',
  'feedIds=6,404',
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

const oddHeaders = fc.record(
  {
    'accept-encoding': fc.constantFrom(
      'gzip',
      'deflate, gzip;q=0',
      'br',
      'zstd;q=0.9, br;q=0.1',
      '*',
      'identity;q=0',
      ',,;q=x',
    ),
    'content-type': fc.constantFrom(
      'application/json',
      'text/plain',
      'multipart/form-data',
      'x',
      'application/json; charset=x',
    ),
    origin: fc.constantFrom('http://localhost', 'null', 'x'),
    'x-forwarded-for': fc.constantFrom('1.2.3.4', 'x'.repeat(500), ',,,'),
    'if-none-match': fc.constantFrom('*', 'W/"x"', ',,'),
    range: fc.constantFrom('bytes=0-1', 'bytes=-1', 'x'),
    'access-control-request-method': fc.constantFrom('GET', 'X'),
  },
  { requiredKeys: [] },
);

/** Half of all requests have the secret that opens /oracleLazer. */
const authorization = fc.oneof(fc.constant(SECRET), fc.constantFrom(null, null, '', 'x', `Bearer ${SECRET}`));
const headers = fc
  .tuple(oddHeaders, authorization)
  .map(([odd, secret]) => (secret === null ? odd : { ...odd, authorization: secret }));

export const restInput: fc.Arbitrary<RestInput> = fc.record({
  method: fc.oneof(
    { weight: 12, arbitrary: fc.constant('GET') },
    fc.constantFrom('POST', 'PUT', 'DELETE', 'OPTIONS', 'HEAD'),
  ),
  path,
  headers: headers as fc.Arbitrary<Record<string, string>>,
  body: fc.oneof({ weight: 5, arbitrary: fc.constant(null) }, fc.constantFrom('{}', '{', 'x'.repeat(2_000)), fc.json()),
});
