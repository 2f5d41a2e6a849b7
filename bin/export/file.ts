// Streams an export to a file or to standard output and hashes it. A failed export leaves no file.

import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { open, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';

export interface Written {
  readonly bytes: number;
  /** Lower-case hex. */
  readonly sha256: string;
}

/** Bytes kept from the end of the stream, where a server reports a late failure. */
const TAIL_BYTES = 16_384;

/** Writes to a temporary file and renames it. Leaves nothing behind when it fails. `exceptionTag`: see `failureIn`. */
export async function writeFileFrom(source: Readable, file: string, exceptionTag: string | null): Promise<Written> {
  const draft = path.join(path.dirname(file), `.${path.basename(file)}.${process.pid}.part`);
  const meter = new Meter();
  try {
    await pipeline(source, meter, createWriteStream(draft, { flags: 'wx' }));
    meter.check(exceptionTag);
    await flushed(draft);
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  return meter.written();
}

export async function writeStandardOutput(source: Readable, exceptionTag: string | null): Promise<Written> {
  const meter = new Meter();
  await pipeline(source, meter, process.stdout, { end: false });
  meter.check(exceptionTag);
  return meter.written();
}

/** Writes a small file, whole or not at all. */
export async function writeText(file: string, text: string): Promise<void> {
  const draft = `${file}.${process.pid}.part`;
  await writeFile(draft, text, { flush: true });
  await rename(draft, file);
}

async function flushed(file: string): Promise<void> {
  const handle = await open(file, 'r+');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

class Meter extends Transform {
  readonly #hash = createHash('sha256');
  #bytes = 0;
  #tail: Buffer = Buffer.alloc(0);

  override _transform(chunk: Buffer, _: BufferEncoding, done: (error: null, chunk: Buffer) => void): void {
    this.#hash.update(chunk);
    this.#bytes += chunk.length;
    this.#tail = Buffer.concat([this.#tail, chunk.subarray(-TAIL_BYTES)]).subarray(-TAIL_BYTES);
    done(null, chunk);
  }

  /** Throws when the server ended its answer with an error. */
  check(exceptionTag: string | null): void {
    const failure = exceptionTag === null ? null : failureIn(this.#tail.toString('latin1'), exceptionTag);
    if (failure !== null) throw new Error(`ClickHouse failed during the export: ${failure}`);
  }

  written(): Written {
    return { bytes: this.#bytes, sha256: this.#hash.digest('hex') };
  }
}

/** A server that fails after the first byte appends the error between marks with the tag of its response header. */
export function failureIn(tail: string, exceptionTag: string): string | null {
  const mark = `__exception__\r\n${exceptionTag}\r\n`;
  const at = tail.lastIndexOf(mark);
  if (at < 0) return null;
  return (
    tail
      .slice(at + mark.length)
      .split('\r\n', 1)[0]
      ?.split(exceptionTag, 1)[0]
      ?.trim() ?? ''
  );
}
