// A bounded map whose entries are pieces of state: each change of an entry writes that entry alone.

import type { StatePiece } from '../follow/pieces.ts';

export interface PieceMapOptions<V> {
  /** Begins the names of the pieces. */
  readonly prefix: string;
  /** Largest number of entries; the one that was set longest ago is forgotten first. */
  readonly max: number;
  /** The entry as JSON value, and back. */
  readonly save: (value: V) => unknown;
  readonly load: (saved: unknown) => V;
  /** Called with an entry that is forgotten because there are too many. */
  readonly forgotten?: (key: string, value: V) => void;
}

export class PieceMap<V> {
  readonly #options: PieceMapOptions<V>;
  readonly #entries = new Map<string, V>();
  readonly #changed = new Set<string>();

  constructor(options: PieceMapOptions<V>) {
    this.#options = options;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): V | undefined {
    return this.#entries.get(key);
  }

  has(key: string): boolean {
    return this.#entries.has(key);
  }

  entries(): Iterable<readonly [string, V]> {
    return this.#entries;
  }

  set(key: string, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    this.#changed.add(key);
    if (this.#entries.size > this.#options.max) this.#forget();
  }

  delete(key: string): void {
    if (this.#entries.delete(key)) this.#changed.add(key);
  }

  takeChanges(): StatePiece[] {
    const { prefix, save } = this.#options;
    const pieces = Array.from(this.#changed, (key) => {
      const value = this.#entries.get(key);
      return {
        name: prefix + key,
        bytes: value === undefined ? null : Buffer.from(JSON.stringify(save(value)), 'utf8'),
      };
    });
    this.#changed.clear();
    return pieces;
  }

  /** Restores a piece. Returns its key; null when the piece belongs to another map. */
  restore(name: string, text: string): string | null {
    const { prefix, load } = this.#options;
    if (!name.startsWith(prefix)) return null;
    const key = name.slice(prefix.length);
    this.#entries.set(key, load(JSON.parse(text)));
    return key;
  }

  #forget(): void {
    const [oldest] = this.#entries;
    if (!oldest) return;
    this.delete(oldest[0]);
    this.#options.forgotten?.(...oldest);
  }
}
