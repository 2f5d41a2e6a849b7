// A text that many ask for: its bytes are made once in each encoding, so that sending it costs little.

import { promisify } from 'node:util';
import { brotliCompress, brotliCompressSync, constants, deflate, deflateSync, gzip, gzipSync } from 'node:zlib';
import type { FastifyReply } from 'fastify';

export type Encoding = 'br' | 'gzip' | 'deflate' | 'identity';

/** Longer texts are encoded beside the event loop, which shorter ones do not hold up for long. */
const IN_PASSING_CHARS = 65_536;
/** Fast enough to be made in passing; the default of brotli takes a hundred times as long. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };
/** Distinct headers remembered; clients send a handful. */
const MAX_HEADERS = 64;

const brotliAside = promisify<string, typeof BROTLI, Buffer>(brotliCompress);
const gzipAside = promisify<string, Buffer>(gzip);
const deflateAside = promisify<string, Buffer>(deflate);

const IN_PASSING: Readonly<Record<Encoding, (text: string) => Buffer>> = {
  br: (text) => brotliCompressSync(text, BROTLI),
  gzip: (text) => gzipSync(text),
  deflate: (text) => deflateSync(text),
  identity: (text) => Buffer.from(text),
};

const ASIDE: Readonly<Record<Exclude<Encoding, 'identity'>, (text: string) => Promise<Buffer>>> = {
  br: (text) => brotliAside(text, BROTLI),
  gzip: gzipAside,
  deflate: deflateAside,
};

export class PreparedBody {
  readonly text: string;
  readonly #bytes = new Map<Encoding, Buffer | Promise<Buffer>>();

  constructor(text: string) {
    this.text = text;
  }

  /** The text in an encoding, made when it is asked for first. */
  bytes(encoding: Encoding): Buffer | Promise<Buffer> {
    const kept = this.#bytes.get(encoding);
    if (kept) return kept;
    const isShort = encoding === 'identity' || this.text.length <= IN_PASSING_CHARS;
    const made = isShort ? IN_PASSING[encoding](this.text) : ASIDE[encoding](this.text);
    this.#bytes.set(encoding, made);
    return made;
  }

  /** Sends the text in an encoding that the client takes. */
  async send(reply: FastifyReply, contentType: string, encoding: Encoding): Promise<FastifyReply> {
    const bytes = await this.bytes(encoding);
    reply.header('content-type', contentType).header('vary', 'accept-encoding');
    if (encoding !== 'identity') reply.header('content-encoding', encoding);
    return reply.send(bytes);
  }
}

/**
 * Reads `Accept-Encoding` (RFC 9110, 12.5.3): the offered encoding of the greatest weight, by name or by `*`, the first offered of
 * equal ones.
 */
export function encodingChooser(offered: readonly Encoding[]): (accepted: string | string[] | undefined) => Encoding {
  const known = new Map<string, Encoding>();
  return (accepted) => {
    if (accepted === undefined || accepted === '') return 'identity';
    const header = String(accepted);
    const chosen = known.get(header) ?? choose(header, offered);
    if (known.size < MAX_HEADERS) known.set(header, chosen);
    return chosen;
  };
}

/** Other names of encodings that clients may use (RFC 9110, 8.4.1.3). */
const ALIASES: Readonly<Record<string, Encoding>> = { 'x-gzip': 'gzip' };

function choose(header: string, offered: readonly Encoding[]): Encoding {
  const weights = new Map<string, number>();
  for (const part of header.toLowerCase().split(',')) {
    const name = part.split(';', 1)[0]?.trim() ?? '';
    weights.set(ALIASES[name] ?? name, Number(/;\s*q=([\d.]+)\s*$/.exec(part)?.[1] ?? 1));
  }
  const weightOf = (name: Encoding): number => weights.get(name) ?? weights.get('*') ?? 0;
  // What is not named at all may be sent plain, but is liked least.
  let best: Encoding = 'identity';
  let most = weights.get('identity') ?? 0;
  for (const name of offered) {
    const weight = weightOf(name);
    if (weight > most || (weight === most && weight > 0 && best === 'identity')) [best, most] = [name, weight];
  }
  return best;
}
