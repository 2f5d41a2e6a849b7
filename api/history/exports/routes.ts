// /authority/{authorityId}/exports: asks for a statement, lists a wallet's jobs with download URLs. /exports/files/{name}: files
// of the data directory.

import bs58 from 'bs58';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { readJsonBodies } from '../../http/edge-errors.ts';
import { HISTORY_ERRORS, HistoryError } from '../../http/errors.ts';
import { strictValidator } from '../../http/request-validators.ts';
import { answerOf, listOf, objectOf, orNull, SECONDS, TEXT, WHOLE } from '../answer-schemas.ts';
import { attachment } from '../attachment.ts';
import { ownedAccounts } from '../queries/owned-accounts.ts';
import {
  bodyResponses,
  described,
  errorResponses,
  PAGE,
  PUBLIC_KEY,
  SYMBOL,
  signedResponses,
  TS,
  WALLET_OR_OPEN,
} from '../route-schemas.ts';
import { type HistoryServices, keyOf, marketOf, walletsOf } from '../services.ts';
import type { ExportAccess } from './access.ts';
import { FILE_TYPE_NAMES, FILE_TYPES, type FileType, type FileTypeName } from './file-types.ts';
import { type ExportJob, statusOf } from './jobs.ts';
import { ACCOUNTS_MAX, PAGE_JOBS, RANGE_MAX_S } from './limits.ts';
import { decodePageToken, encodePageToken } from './page-token.ts';
import { DOWNLOAD_PATH } from './stores/folder.ts';

/** The action that a signed request must name (docs/internals/exports.md). */
const REQUEST_ACTION = 'requestExport';

interface ExportBody {
  readonly fileType: FileTypeName;
  readonly from: number;
  readonly to: number;
  readonly userPublicKeys: readonly string[];
  readonly market?: string;
}

interface WalletParams {
  readonly authorityId: string;
}

export function exportRoutes(app: FastifyInstance, services: HistoryServices): void {
  readJsonBodies(app);
  requestRoute(app, services);
  listRoute(app, services);
  downloadRoute(app, services);
}

const params = { type: 'object', required: ['authorityId'], properties: { authorityId: PUBLIC_KEY } };
const failure = (name: keyof typeof HISTORY_ERRORS) => ({
  ...errorResponses[400],
  description: HISTORY_ERRORS[name].message ?? HISTORY_ERRORS[name].error,
});

const BODY = {
  type: 'object',
  required: ['fileType', 'from', 'to', 'userPublicKeys'],
  additionalProperties: false,
  properties: {
    fileType: {
      type: 'string',
      enum: FILE_TYPE_NAMES,
      description: FILE_TYPE_NAMES.map((name) => `${name}: ${FILE_TYPES[name].summary}`).join('; '),
    },
    from: { ...TS, description: 'oldest row, unix seconds, inclusive' },
    to: { ...TS, description: `newest row, unix seconds, inclusive; after from, by at most ${RANGE_MAX_S} seconds` },
    userPublicKeys: {
      type: 'array',
      items: PUBLIC_KEY,
      minItems: 1,
      maxItems: ACCOUNTS_MAX,
      uniqueItems: true,
      description:
        'sub-accounts of the authority. marketTrades, fundingRates and insuranceFundStake have the same rows for any',
    },
    market: { ...SYMBOL, description: 'only rows of this market; required by marketTrades and fundingRates' },
  },
};

function requestRoute(app: FastifyInstance, services: HistoryServices): void {
  app.post<{ Params: WalletParams; Body: ExportBody }>(
    '/authority/:authorityId/exports',
    {
      validatorCompiler: strictValidator,
      schema: described({
        summary: 'Ask for a statement: a CSV file of one kind of rows, gzip',
        description:
          'Answers at once; the list of exports has the state of the job, and a download URL once the file is ready. Requests ' +
          `without wallet headers are accepted unless the deployment requires them. A signed message names \`${REQUEST_ACTION}\` ` +
          'as its action, and its signer is the authority or a delegate.',
        tags: ['Authority'],
        params,
        body: BODY,
        security: WALLET_OR_OPEN,
        response: {
          200: answerOf('the job', { requestId: TEXT, status: { type: 'string', const: 'pending' } }),
          ...signedResponses,
          ...bodyResponses,
          409: failure('exportsFull'),
        },
      }),
    },
    async ({ params: { authorityId }, body, raw }) => {
      const access = accessOf(services);
      const authority = keyOf(authorityId);
      const users = checkBody(services, body);
      await checkSigner(services, authority, raw, true);
      await checkOwner(services, authority, body.fileType, users);
      const { fileType, from: fromTs, to: toTs, market = null } = body;
      const requestId = await access.request(authority, {
        authority: bs58.decode(authority),
        users: users.map((user) => bs58.decode(user)),
        fileType,
        fromTs,
        toTs,
        market,
        atMs: services.now() * 1000,
      });
      return { success: true, requestId, status: 'pending' };
    },
  );
}

/** The sub-accounts. Throws a validation HistoryError for a range or a market that the file type does not have. */
function checkBody(services: HistoryServices, { fileType, from, to, userPublicKeys, market }: ExportBody): string[] {
  if (from >= to) throw new HistoryError('validation', 'body/from must be before body/to');
  if (to - from > RANGE_MAX_S) {
    throw new HistoryError('validation', `the range must be at most ${RANGE_MAX_S} seconds (366 days)`);
  }
  const { of, only }: FileType = FILE_TYPES[fileType];
  if (market !== undefined) marketOf(services, market, only);
  else if (of === 'market') throw new HistoryError('validation', `body/market is required for ${fileType}`);
  return userPublicKeys.map(keyOf);
}

/** Throws the HistoryError of a bad or missing signature. */
async function checkSigner(
  services: HistoryServices,
  authority: string,
  request: FastifyRequest['raw'],
  writes: boolean,
): Promise<void> {
  const isRequired = accessOf(services).settings.exportSignatures === 'required';
  if (!isRequired && !services.wallets?.isSigned(request)) return;
  const check = { writes, ...(writes ? { action: REQUEST_ACTION } : {}) };
  await walletsOf(services).authenticateFor(authority, request, check);
}

/** Throws a validation HistoryError for an account of another wallet. A staker may have no account at all. */
async function checkOwner(
  { store, builtParts }: HistoryServices,
  authority: string,
  fileType: FileTypeName,
  users: readonly string[],
): Promise<void> {
  await builtParts.require('events');
  if (FILE_TYPES[fileType].of === 'wallet') return;
  const owned = await ownedAccounts(store, authority, users);
  const foreign = users.find((user) => !owned.has(user));
  if (foreign !== undefined) {
    throw new HistoryError('validation', `${foreign} is not a sub-account of ${authority}`);
  }
}

const RECORD = objectOf({
  requestId: TEXT,
  status: { type: 'string', enum: ['pending', 'processing', 'ready', 'failed', 'empty'] },
  fileType: TEXT,
  from: SECONDS,
  to: SECONDS,
  userPublicKeys: listOf(TEXT, 'sub-accounts'),
  market: orNull(TEXT),
  createdAt: SECONDS,
  completedAt: orNull(SECONDS),
  recordCount: { ...orNull(WHOLE), description: 'rows of the file; null unless ready or empty' },
  errorReason: { ...orNull(TEXT), description: 'why it failed' },
  downloadUrl: { ...orNull(TEXT), description: 'anyone may download with it; new in each answer; null unless ready' },
});

function listRoute(app: FastifyInstance, services: HistoryServices): void {
  app.get<{ Params: WalletParams; Querystring: { page?: string } }>(
    '/authority/:authorityId/exports',
    {
      schema: described({
        summary: 'Statements that a wallet asked for, newest first',
        description:
          'Jobs and files expire. Wallet headers are checked where they are sent, or where the deployment requires them.',
        tags: ['Authority'],
        params,
        querystring: { type: 'object', properties: { page: PAGE } },
        security: WALLET_OR_OPEN,
        response: {
          200: answerOf(`${PAGE_JOBS} jobs a page`, {
            records: listOf(RECORD),
            meta: objectOf({ nextPage: { ...orNull(TEXT), description: 'opaque cursor; null when no more jobs' } }),
          }),
          ...signedResponses,
        },
      }),
    },
    async (request, reply) => {
      const access = accessOf(services);
      const authority = keyOf(request.params.authorityId);
      const path = `/authority/${authority}/exports`;
      const { page } = request.query;
      const after = page === undefined ? null : decodePageToken(path, page);
      await checkSigner(services, authority, request.raw, false);
      const nowS = services.now();
      const jobs = await access.list(authority, after, PAGE_JOBS + 1, nowS);
      const listed = jobs.slice(0, PAGE_JOBS);
      const last = listed.at(-1);
      const origin = access.settings.exportDownloadOrigin || originOf(request);
      const records = await Promise.all(
        listed.map(async (job) => recordOf(job, await access.urlOf(job, origin, nowS), nowS)),
      );
      const nextPage = last && jobs.length > PAGE_JOBS ? encodePageToken(path, last.offset) : null;
      // The answer contains download URLs, so no cache may keep it.
      return reply.header('cache-control', 'no-store').send({ success: true, records, meta: { nextPage } });
    },
  );
}

function recordOf(job: ExportJob, downloadUrl: string | null, nowS: number) {
  const { requestId, fileType, from, to, users, market, requestedMs, end } = job;
  return {
    requestId,
    status: statusOf(job, nowS * 1000),
    fileType,
    from,
    to,
    userPublicKeys: users,
    market,
    createdAt: Math.floor(requestedMs / 1000),
    completedAt: end && Math.floor(end.atMs / 1000),
    recordCount: end && end.outcome !== 'failed' ? end.rows : null,
    errorReason: end?.reason ?? null,
    downloadUrl,
  };
}

/** The address that the client used. */
const originOf = ({ protocol, host }: FastifyRequest): string => `${protocol}://${host}`;

const GZIP_TYPE = 'application/gzip';
const SIGNATURE_CHARS = 64;
const NAME_CHARS = 128;

function downloadRoute(app: FastifyInstance, services: HistoryServices): void {
  app.get<{ Params: { name: string }; Querystring: { expires?: number; signature?: string } }>(
    `${DOWNLOAD_PATH}/:name`,
    {
      schema: described({
        summary: 'Download a statement by the URL of the list of exports',
        description: 'Only where the deployment keeps files itself; otherwise the URLs are those of its file storage.',
        tags: ['Authority'],
        params: {
          type: 'object',
          required: ['name'],
          properties: { name: { type: 'string', maxLength: NAME_CHARS, description: 'name of the file' } },
        },
        querystring: {
          type: 'object',
          properties: {
            expires: { ...TS, description: 'end of the URL, unix seconds' },
            signature: { type: 'string', maxLength: SIGNATURE_CHARS, description: 'signature of the service' },
          },
        },
        response: {
          200: { description: 'gzip of a CSV file', mediaType: GZIP_TYPE, type: 'string', format: 'binary' },
          ...errorResponses,
          403: failure('urlUnsigned'),
          404: failure('exportGone'),
        },
      }),
    },
    async ({ params: { name }, query: { expires = 0, signature = '' } }, reply) => {
      // Without exports no URL is signed.
      if (!services.exports) throw new HistoryError('urlUnsigned');
      const file = await services.exports.read(name, expires, signature, services.now());
      return reply
        .type(GZIP_TYPE)
        .header('content-length', file.bytes)
        .header('content-disposition', attachment(file.saveAs))
        .header('cache-control', 'private, no-store')
        .header('x-content-type-options', 'nosniff')
        .send(file.body);
    },
  );
}

/** Throws HistoryError notBuilt where the service runs without exports. */
function accessOf({ exports }: HistoryServices): ExportAccess {
  if (!exports) throw new HistoryError('notBuilt');
  return exports;
}
