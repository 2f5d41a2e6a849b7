// An answer that many ask for and that seldom changes: its bytes are kept in every encoding, so that sending costs little.

import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';

type Encoding = 'br' | 'gzip' | 'identity';

/** Fast enough to be made in passing; the default of brotli takes a hundred times as long. */
const BROTLI_QUALITY = 4;

const ENCODERS: Readonly<Record<Encoding, (text: string) => Buffer>> = {
  br: (text) => brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } }),
  gzip: (text) => gzipSync(text),
  identity: (text) => Buffer.from(text),
};

export class PreparedText {
  readonly #contentType: string;
  readonly #bytes = new Map<Encoding, Buffer>();
  #version: number | null = null;

  constructor(contentType: string) {
    this.#contentType = contentType;
  }

  /** Sends the text of `version`; `text` is asked for once per version and encoding. */
  send(request: FastifyRequest, reply: FastifyReply, version: number, text: () => string): FastifyReply {
    if (version !== this.#version) {
      this.#version = version;
      this.#bytes.clear();
    }
    const encoding = encodingFor(request.headers['accept-encoding']);
    let bytes = this.#bytes.get(encoding);
    if (!bytes) {
      bytes = ENCODERS[encoding](text());
      this.#bytes.set(encoding, bytes);
    }
    reply.header('content-type', this.#contentType).header('vary', 'accept-encoding');
    if (encoding !== 'identity') reply.header('content-encoding', encoding);
    return reply.send(bytes);
  }
}

/** The smallest encoding that is accepted by name; weights other than zero are not compared. */
function encodingFor(accepted: string | string[] | undefined): Encoding {
  if (accepted === undefined || accepted === '') return 'identity';
  const names = new Set(
    String(accepted)
      .toLowerCase()
      .split(',')
      .filter((part) => !/;\s*q=0(\.0*)?\s*$/.test(part))
      .map((part) => part.split(';', 1)[0]?.trim()),
  );
  if (names.has('br')) return 'br';
  return names.has('gzip') ? 'gzip' : 'identity';
}
