// The bytes of an account in a JSON-RPC answer.

import { zstdDecompressSync } from 'node:zlib';
import { RpcError } from './errors.ts';

/** Room for a User account. The default of 16 KB becomes garbage three times as fast as the data. */
const CHUNK_BYTES = 8 * 1024;

/** Throws RpcError for an encoding that was not requested. */
export function decodeAccountData([text, encoding]: readonly [string, string]): Buffer {
  const bytes = Buffer.from(text, 'base64');
  if (encoding === 'base64') return bytes;
  if (encoding === 'base64+zstd')
    return bytes.length === 0 ? bytes : zstdDecompressSync(bytes, { chunkSize: CHUNK_BYTES });
  throw new RpcError(`account data encoded as ${encoding}`);
}
