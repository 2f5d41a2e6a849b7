// Chooses the encoding of a REST answer from `Accept-Encoding`. Own code, because @fastify/accept-negotiator sends `br` for
// `br;q=0, *` and knows neither `GZIP` nor `x-gzip`.

import compress from '@fastify/compress';
import type { FastifyInstance } from 'fastify';

/** In order of preference among equal weights: by the measured size of a book of 100 levels. */
const OFFERED = ['br', 'gzip', 'zstd', 'deflate'] as const;
export type Encoding = (typeof OFFERED)[number] | 'identity';

/** The server does not compress shorter bodies. */
export const COMPRESS_FROM_BYTES = 1024;
/** Bound of the cache of headers. Clients send a handful of different ones. */
const MAX_HEADERS = 64;

const known = new Map<string, Encoding>();

/**
 * Reads `Accept-Encoding` (RFC 9110, 12.5.3). Chooses the offered encoding of the greatest weight, by name or by `*`, and the
 * first offered one of equal weights.
 */
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
    encodings: [...OFFERED, 'identity'],
    // It would refuse a GET with an unknown Content-Encoding, although there is no body.
    globalDecompression: false,
  });
}

/** Other names of encodings (RFC 9110, 8.4.1.3). */
const ALIASES: Readonly<Record<string, Encoding>> = { 'x-gzip': 'gzip' };

function choose(header: string): Encoding {
  const weights = new Map<string, number>();
  for (const part of header.toLowerCase().split(',')) {
    const name = part.split(';', 1)[0]?.trim() ?? '';
    weights.set(ALIASES[name] ?? name, Number(/;\s*q=([\d.]+)\s*$/.exec(part)?.[1] ?? 1));
  }
  const weightOf = (name: Encoding): number => weights.get(name) ?? weights.get('*') ?? 0;
  // Unless the header names it, identity is acceptable but comes last.
  let best: Encoding = 'identity';
  let most = weights.get('identity') ?? 0;
  for (const name of OFFERED) {
    const weight = weightOf(name);
    if (weight > most || (weight === most && weight > 0 && best === 'identity')) [best, most] = [name, weight];
  }
  return best;
}
