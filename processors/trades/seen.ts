// Ids of the newest events: a bounded ring, saved in chunks together with the offset.

const ID_BYTES = 20;
const SIGNATURE_HEAD_BYTES = 16;
const CHUNK_IDS = 256;
const CHUNKS = 16;
/** Ids remembered. Duplicates come from retries and overlaps of backfill, close to their first copy. */
export const SEEN_IDS = CHUNK_IDS * CHUNKS;

export interface SeenChunk {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** Remembers the newest `SEEN_IDS` events by transaction signature and index. */
export class SeenEvents {
  readonly #ids: (string | undefined)[] = new Array(SEEN_IDS);
  readonly #known = new Set<string>();
  readonly #dirty = new Set<number>();
  #cursor = 0;

  /** True when the event is new; it is then remembered. */
  add(signature: Uint8Array, eventIndex: number): boolean {
    return this.#enter(idOf(signature, eventIndex));
  }

  has(signature: Uint8Array, eventIndex: number): boolean {
    return this.#known.has(idOf(signature, eventIndex));
  }

  /** Chunks changed since the last call, each with the index at which the ring writes next. */
  takeChanges(): SeenChunk[] {
    const chunks = [...this.#dirty].map((chunk) => {
      const start = chunk * CHUNK_IDS;
      const text = this.#ids.slice(start, start + CHUNK_IDS).map((id) => id ?? '');
      return { name: String(chunk), bytes: Buffer.from(text.join(''), 'latin1') };
    });
    if (chunks.length === 0) return [];
    this.#dirty.clear();
    return [...chunks, { name: 'cursor', bytes: Buffer.from(String(this.#cursor), 'utf8') }];
  }

  /** Restores chunks of `takeChanges`, in any order. */
  restore(chunks: Iterable<SeenChunk>): void {
    for (const { name, bytes } of chunks) {
      const text = Buffer.from(bytes);
      if (name === 'cursor') {
        this.#cursor = Number(text.toString('utf8')) % SEEN_IDS;
        continue;
      }
      const start = Number(name) * CHUNK_IDS;
      for (let at = 0; at * ID_BYTES < text.length && at < CHUNK_IDS; at++) {
        const id = text.toString('latin1', at * ID_BYTES, (at + 1) * ID_BYTES);
        this.#ids[start + at] = id;
        this.#known.add(id);
      }
    }
  }

  #enter(id: string): boolean {
    if (this.#known.has(id)) return false;
    const oldest = this.#ids[this.#cursor];
    if (oldest !== undefined) this.#known.delete(oldest);
    this.#ids[this.#cursor] = id;
    this.#known.add(id);
    this.#dirty.add(Math.floor(this.#cursor / CHUNK_IDS));
    this.#cursor = (this.#cursor + 1) % SEEN_IDS;
    return true;
  }
}

function idOf(signature: Uint8Array, eventIndex: number): string {
  const id = Buffer.alloc(ID_BYTES);
  id.set(signature.subarray(0, SIGNATURE_HEAD_BYTES));
  id.writeUInt32LE(eventIndex, SIGNATURE_HEAD_BYTES);
  return id.toString('latin1');
}
