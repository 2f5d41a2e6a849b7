// The bytes of an account in a JSON-RPC answer.

import { zstdDecompressSync } from 'node:zlib';
import { ZSTDDecoder } from 'zstddec';
import { RpcError } from './errors.ts';

/** Larger accounts are rare, and the memory of WebAssembly never shrinks. */
const SMALL_BYTES = 256 * 1024;
/** Room for a User account. The default of 16 KB becomes garbage three times as fast as the data. */
const CHUNK_BYTES = 8 * 1024;

let decoder: ZSTDDecoder | null = null;
let opening: Promise<void> | null = null;

/**
 * Loads the decoder of small accounts: it takes 3 microseconds for a User account, where Node's makes a context for each and
 * takes 25 (docs/benchmarks/2026-11-26.md). Until it is loaded, Node's does all.
 */
export function openDecoder(): Promise<void> {
  opening ??= open();
  return opening;
}

async function open(): Promise<void> {
  const opened = new ZSTDDecoder();
  await opened.init();
  decoder = opened;
}

/** `space`: the number of bytes that the node names beside the data. Throws RpcError for an encoding that was not requested. */
export function decodeAccountData([text, encoding]: readonly [string, string], space?: unknown): Buffer {
  const bytes = Buffer.from(text, 'base64');
  if (encoding === 'base64') return bytes;
  if (encoding === 'base64+zstd') return bytes.length === 0 ? bytes : decompress(bytes, Number(space));
  throw new RpcError(`account data encoded as ${encoding}`);
}

function decompress(bytes: Buffer, space: number): Buffer {
  if (decoder !== null && space > 0 && space <= SMALL_BYTES && bytes.length <= SMALL_BYTES) {
    const { buffer, byteOffset, length } = decoder.decode(bytes, space);
    // Another length is an error of the decoder, or `space` is wrong.
    if (length === space) return Buffer.from(buffer as ArrayBuffer, byteOffset, length);
  }
  return zstdDecompressSync(bytes, { chunkSize: CHUNK_BYTES });
}
