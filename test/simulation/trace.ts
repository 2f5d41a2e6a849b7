// Everything that happened in a run, as one hash: two runs of a seed have the same.

import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';

const CLIPPED_CHARACTERS = 160;
const VERBOSE_CHARACTERS = 3_000;
const CHUNK_CHARACTERS = 64 * 1024;
/** Newest lines for a report. */
const LINES_MAX = 400;

export class Trace {
  readonly #hash = createHash('sha256');
  readonly #keepAll: boolean;
  #lines: string[] = [];
  /** Lines that are not in the hash yet. */
  #pending = '';

  constructor(keepAll = false) {
    this.#keepAll = keepAll;
  }

  /** The part of a long text that a line shows. */
  clip(text: string): string {
    return text.slice(0, this.#keepAll ? VERBOSE_CHARACTERS : CLIPPED_CHARACTERS);
  }

  add(line: string): void {
    this.#pending += `${line}\n`;
    if (this.#pending.length > CHUNK_CHARACTERS) this.#flush();
    this.#lines.push(line);
    if (!this.#keepAll && this.#lines.length > 2 * LINES_MAX) this.#lines = this.#lines.slice(-LINES_MAX);
  }

  /** A line for readers of a verbose run, apart from the hash. */
  note(line: string): void {
    this.#lines.push(`  ${this.clip(line)}`);
  }

  /** Adds bytes without a line. */
  bytes(bytes: Uint8Array): void {
    this.#pending += `${crc32(bytes)} ${bytes.length}\n`;
  }

  get lines(): readonly string[] {
    return this.#lines;
  }

  /** The hash. Nothing may be added afterwards. */
  end(): string {
    this.#flush();
    return this.#hash.digest('hex');
  }

  #flush(): void {
    this.#hash.update(this.#pending);
    this.#pending = '';
  }
}
