// The built page (web/dist), held in memory and compressed once.

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { COMPRESS_FROM_BYTES, type Encoding } from '../http/encodings.ts';

const PAGE_FOLDER = fileURLToPath(new URL('../../web/dist/', import.meta.url));
const INDEX = 'index.html';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json; charset=utf-8',
};

export interface PageFile {
  readonly type: string;
  readonly body: Buffer;
  readonly etag: string;
  /** The name contains a hash of the contents. */
  readonly isImmutable: boolean;
  /** The body in an encoding; identity for types and sizes that are not worth it. */
  encoded(wanted: Encoding): { readonly encoding: Encoding; readonly body: Buffer };
}

export interface PageFiles {
  /** Null while the page is not built. */
  readonly index: string | null;
  /** A file by its path below the page, for example `assets/index-3f2a.js`. */
  file(name: string): PageFile | undefined;
}

/** Reads the built page. A missing folder gives no files. */
export function readPageFiles(folder = PAGE_FOLDER): PageFiles {
  if (!existsSync(path.join(folder, INDEX))) return { index: null, file: () => undefined };
  const files = new Map<string, PageFile>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const full = path.join(entry.parentPath, entry.name);
    const type = TYPES[path.extname(entry.name)];
    if (type)
      files.set(path.relative(folder, full).replaceAll(path.sep, '/'), pageFile(readFileSync(full), type, full));
  }
  return { index: readFileSync(path.join(folder, INDEX), 'utf8'), file: (name) => files.get(name) };
}

function pageFile(body: Buffer, type: string, full: string): PageFile {
  const made = new Map<Encoding, Buffer>();
  const encoded: PageFile['encoded'] = (wanted) => {
    if (body.length < COMPRESS_FROM_BYTES || (wanted !== 'br' && wanted !== 'gzip'))
      return { encoding: 'identity', body };
    const known = made.get(wanted) ?? (wanted === 'br' ? brotliCompressSync(body) : gzipSync(body));
    made.set(wanted, known);
    return { encoding: wanted, body: known };
  };
  const etag = `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"`;
  return { type, body, etag, isImmutable: full.includes(`${path.sep}assets${path.sep}`), encoded };
}
