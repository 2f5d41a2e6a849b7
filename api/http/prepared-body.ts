// A text with its encoded bytes, each encoding made once, so that sending it to many clients costs little.

import { promisify } from 'node:util';
import {
  brotliCompress,
  brotliCompressSync,
  constants,
  deflate,
  deflateSync,
  gzip,
  gzipSync,
  zstdCompress,
  zstdCompressSync,
} from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { COMPRESS_FROM_BYTES, type Encoding, encodingFor } from './encodings.ts';

/** Longer texts are encoded on the thread pool. Shorter ones block the event loop only briefly. */
const SYNC_CHARS_MAX = 65_536;
/** Fast enough for the event loop. The default quality takes a hundred times as long. */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };

const brotliAsync = promisify<string, typeof BROTLI, Buffer>(brotliCompress);
const zstdAsync = promisify<string, Buffer>(zstdCompress);
const gzipAsync = promisify<string, Buffer>(gzip);
const deflateAsync = promisify<string, Buffer>(deflate);

const ENCODE_SYNC: Readonly<Record<Encoding, (text: string) => Buffer>> = {
  br: (text) => brotliCompressSync(text, BROTLI),
  zstd: (text) => zstdCompressSync(text),
  gzip: (text) => gzipSync(text),
  deflate: (text) => deflateSync(text),
  identity: (text) => Buffer.from(text),
};

const ENCODE_ASYNC: Readonly<Record<Exclude<Encoding, 'identity'>, (text: string) => Promise<Buffer>>> = {
  br: (text) => brotliAsync(text, BROTLI),
  zstd: zstdAsync,
  gzip: gzipAsync,
  deflate: deflateAsync,
};

export class PreparedBody {
  readonly text: string;
  readonly #bytes = new Map<Encoding, Buffer | Promise<Buffer>>();

  constructor(text: string) {
    this.text = text;
  }

  /** The encoded text, made on the first call. */
  bytes(encoding: Encoding): Buffer | Promise<Buffer> {
    const kept = this.#bytes.get(encoding);
    if (kept) return kept;
    const isSync = encoding === 'identity' || this.text.length <= SYNC_CHARS_MAX;
    const made = isSync ? ENCODE_SYNC[encoding](this.text) : ENCODE_ASYNC[encoding](this.text);
    this.#bytes.set(encoding, made);
    return made;
  }

  /** Sends the text in an encoding that the client accepts. Short texts are sent plain. */
  async send(request: FastifyRequest, reply: FastifyReply, contentType: string): Promise<FastifyReply> {
    const isShort = this.text.length < COMPRESS_FROM_BYTES;
    const encoding = isShort ? 'identity' : encodingFor(request.headers['accept-encoding']);
    const bytes = await this.bytes(encoding);
    reply.header('content-type', contentType).header('vary', 'accept-encoding');
    if (encoding !== 'identity') reply.header('content-encoding', encoding);
    return reply.send(bytes);
  }
}
