// Reads and writes capture files: plain, gzip or zstd by file ending. A folder is its files in order of names.

import { createReadStream, createWriteStream, type WriteStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Transform } from 'node:stream';
import { createGunzip, createGzip, createZstdCompress, createZstdDecompress } from 'node:zlib';

const NAME = /\.(ndjson|jsonl)(\.gz|\.zst)?$/;

/** Paths of the capture files at `path`. Throws when the path does not exist or has no capture file. */
export async function captureFiles(path: string): Promise<readonly string[]> {
  if (path === '') throw new Error('no capture path given');
  if (!(await stat(path)).isDirectory()) return [path];
  const names = (await readdir(path)).filter((name) => NAME.test(name)).sort();
  if (names.length === 0) throw new Error(`no .ndjson files in ${path}`);
  return names.map((name) => join(path, name));
}

/** Lines of one file. */
export async function* linesOf(file: string): AsyncGenerator<string> {
  const raw = createReadStream(file);
  const unpack = file.endsWith('.gz') ? createGunzip() : file.endsWith('.zst') ? createZstdDecompress() : null;
  if (unpack) raw.on('error', (error) => unpack.destroy(error));
  const input = unpack ? raw.pipe(unpack) : raw;
  try {
    yield* createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
  } finally {
    raw.destroy();
  }
}

export interface LineWriter {
  /** Resolves when the stream accepts the next line. */
  write(line: string): Promise<void>;
  end(): Promise<void>;
}

/** Opens a new file for lines. The file ending selects the compression. */
export function openLineWriter(file: string): LineWriter {
  const out: WriteStream = createWriteStream(file);
  const pack: Transform | null = file.endsWith('.gz')
    ? createGzip()
    : file.endsWith('.zst')
      ? createZstdCompress()
      : null;
  const target = pack ?? out;
  const finished = new Promise<void>((resolve, reject) => {
    out.on('close', resolve);
    out.on('error', reject);
    pack?.on('error', reject);
  });
  pack?.pipe(out);
  finished.catch(() => {});
  return {
    write: (line) => {
      if (target.write(`${line}\n`)) return Promise.resolve();
      return Promise.race([new Promise<void>((resolve) => target.once('drain', resolve)), finished]);
    },
    end: () => {
      target.end();
      return finished;
    },
  };
}
