// Chooses the encoding of a REST answer from `Accept-Encoding`. Replaces the choice of @fastify/accept-negotiator, which sends
// `br` for `br;q=0, *` and does not know `GZIP`.

import compress from '@fastify/compress';
import type { FastifyInstance } from 'fastify';
import Negotiator from 'negotiator';

/** In order of preference among equal weights: by the measured size of a book of 100 levels. */
const ENCODINGS = ['br', 'gzip', 'zstd', 'deflate', 'identity'] as const;
export type Encoding = (typeof ENCODINGS)[number];

/** The server does not compress shorter bodies. */
export const COMPRESS_FROM_BYTES = 1024;
/** Bound of the cache of headers. Clients send a handful of different ones. */
const MAX_HEADERS = 64;

const known = new Map<string, Encoding>();

/** The encoding of the greatest weight in `Accept-Encoding` (RFC 9110, 12.5.3), and the first of ENCODINGS among equals. */
export function encodingFor(accepted: string | string[] | undefined): Encoding {
  if (accepted === undefined || accepted === '') return 'identity';
  const header = String(accepted);
  const chosen = known.get(header) ?? choose(header);
  if (known.size < MAX_HEADERS) known.set(header, chosen);
  return chosen;
}

/** Compresses the answers of an app. Call it before registering routes. */
export async function compressAnswers(app: FastifyInstance): Promise<void> {
  // The compressor gets a single encoding, so `encodingFor` alone weighs the header.
  app.addHook('onRequest', async ({ raw }, reply) => {
    reply.header('vary', 'accept-encoding');
    const accepted = raw.headers['accept-encoding'];
    if (accepted !== undefined) raw.headers['accept-encoding'] = encodingFor(accepted);
  });
  await app.register(compress, {
    threshold: COMPRESS_FROM_BYTES,
    encodings: [...ENCODINGS],
    // It would refuse a GET with an unknown Content-Encoding, although there is no body.
    globalDecompression: false,
  });
}

/** `x-gzip` is gzip (RFC 9110, 8.4.1.3). Without an acceptable encoding the body goes out plain. */
function choose(header: string): Encoding {
  const headers = { 'accept-encoding': header.replaceAll(/\bx-gzip\b/gi, 'gzip') };
  return new Negotiator({ headers }).encoding(ENCODINGS, { preferred: ENCODINGS }) ?? 'identity';
}
