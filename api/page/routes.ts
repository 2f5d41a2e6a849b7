// Routes of the page: the document with the addresses of the services, its files, and the metrics of the status view.

import type { FastifyInstance, FastifyReply, FastifyRequest, FastifySchema, RouteShorthandOptions } from 'fastify';
import type { Config, Registry } from '../../platform/index.ts';
import { encodingFor } from '../http/encodings.ts';
import { contentPolicy, pageAddresses } from './addresses.ts';
import { type PageFile, type PageFiles, readPageFiles } from './files.ts';
import { metricsTexts } from './metrics-texts.ts';

export interface PageServices {
  readonly config: Config;
  readonly metrics: Registry;
  /** Default: web/dist. */
  readonly files?: PageFiles;
}

const NOT_BUILT = 'The page is not built. Run: npm run build';
const NOT_FOUND = 'Not found';
const TEXT_TYPE = 'text/plain; charset=utf-8';
const IMMUTABLE = 'public, max-age=31536000, immutable';
/** The placeholder in web/index.html. */
const ADDRESSES = '%SLOTBOOK_ADDRESSES%';
const NOT_AVAILABLE_STATUS = 503;
/** The routes are no part of the published contract. The type of a schema does not know `hide`. */
const HIDDEN: RouteShorthandOptions = { schema: { hide: true } as FastifySchema };

const SAFETY_HEADERS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
};

/** Registers the routes below `prefix`: empty, or a path such as `/ui`. */
export function pageRoutes(app: FastifyInstance, services: PageServices, prefix = ''): void {
  const files = services.files ?? readPageFiles();
  const document = (request: FastifyRequest, reply: FastifyReply) => sendDocument(services, files, request, reply);
  app.get(`${prefix}/`, HIDDEN, (request, reply) => {
    const path = request.originalUrl.split('?', 1)[0] ?? '';
    // The document names its files relative to its folder.
    return path.endsWith('/') ? document(request, reply) : reply.redirect(`${path.slice(path.lastIndexOf('/') + 1)}/`);
  });
  app.get(`${prefix}/metrics.json`, HIDDEN, async (_request, reply) =>
    reply
      .header('cache-control', 'no-store')
      .send({ processes: await metricsTexts(services.config.pageMetricsUrls, services.metrics) }),
  );
  app.get<{ Params: { '*': string } }>(`${prefix}/*`, HIDDEN, (request, reply) => {
    const file = files.file(request.params['*']);
    if (file) return sendFile(file, request, reply);
    return reply.code(404).type(TEXT_TYPE).send(NOT_FOUND);
  });
}

function sendDocument(
  { config }: PageServices,
  { index }: PageFiles,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  if (index === null) return reply.code(NOT_AVAILABLE_STATUS).type(TEXT_TYPE).send(NOT_BUILT);
  const addresses = pageAddresses(config, request.headers.host);
  const text = JSON.stringify(addresses).replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
  return reply
    .headers({ ...SAFETY_HEADERS, 'content-security-policy': contentPolicy(addresses), 'cache-control': 'no-cache' })
    .type('text/html; charset=utf-8')
    .send(index.replace(ADDRESSES, text));
}

function sendFile(file: PageFile, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  reply.headers({
    ...SAFETY_HEADERS,
    etag: file.etag,
    'cache-control': file.isImmutable ? IMMUTABLE : 'no-cache',
  });
  if (request.headers['if-none-match'] === file.etag) return reply.code(304).send();
  const { encoding, body } = file.encoded(encodingFor(request.raw.headers['accept-encoding']));
  if (encoding !== 'identity') reply.header('content-encoding', encoding);
  return reply.type(file.type).header('vary', 'accept-encoding').send(body);
}
