// Weak entity tags and 304 answers, on the routes where the predecessor's framework made them.
// Source: docs/internals/order-book-server.md, "HTTP conventions".

import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The answer carries a weak `ETag`. */
    readonly hasWeakEtag?: boolean;
  }
}

const NOT_MODIFIED = 304;
const DIGEST_CHARS = 27;

function weakEtag(body: string): string {
  const digest = createHash('sha1').update(body, 'utf8').digest('base64').slice(0, DIGEST_CHARS);
  return `W/"${Buffer.byteLength(body).toString(16)}-${digest}"`;
}

/** Weak comparison of RFC 9110, 13.1.2: ignores the `W/` prefix. */
function matches(ifNoneMatch: string | undefined, tag: string): boolean {
  if (ifNoneMatch === undefined) return false;
  const opaque = (text: string): string => text.trim().replace(/^W\//, '');
  return ifNoneMatch.trim() === '*' || ifNoneMatch.split(',').some((text) => opaque(text) === opaque(tag));
}

/** An `onSend` hook. Must run before the compressor. */
export async function addWeakEtag(request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> {
  if (request.routeOptions.config.hasWeakEtag !== true || reply.statusCode !== 200 || typeof payload !== 'string') {
    return payload;
  }
  const tag = weakEtag(payload);
  reply.header('etag', tag);
  if (!matches(request.headers['if-none-match'], tag)) return payload;
  reply.code(NOT_MODIFIED).removeHeader('content-type');
  return '';
}
