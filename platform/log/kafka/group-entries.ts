// Entries of one consumer group, from the records of its partition. A record of a superseded writer does not count: behind a
// record with a later epoch of the same role, wherever the broker stored it late. Records without an epoch always count.

import type { Fence } from '../port.ts';
import type { RawRecord } from './reader.ts';

const EPOCH_HEADER = 'epoch';

export type Epoch = Pick<Fence, 'role' | 'epoch'>;

export class GroupEntries {
  /** Values that count, by record key. */
  readonly values = new Map<string, Buffer>();
  /** Keys whose newest record does not count, with its role. Compaction would remove the record that counts. */
  readonly shadowed = new Map<string, string>();
  readonly #newest = new Map<string, bigint>();
  #bytes = 0;

  /** Of keys and values that count. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The newest epoch of a role; null when it has none. */
  newest(role: string): bigint | null {
    return this.#newest.get(role) ?? null;
  }

  /** Takes the next record of the group. */
  take({ key, value, headers }: Pick<RawRecord, 'key' | 'value' | 'headers'>): void {
    const by = epochIn(headers);
    if (by !== null) {
      if (by.epoch < (this.newest(by.role) ?? 0n)) {
        this.shadowed.set(key, by.role);
        return;
      }
      this.#newest.set(by.role, by.epoch);
    }
    this.shadowed.delete(key);
    const previous = this.values.get(key);
    if (previous !== undefined) this.#bytes -= key.length + previous.length;
    if (value === null) {
      this.values.delete(key);
      return;
    }
    this.#bytes += key.length + value.length;
    // A copy, because the value is a part of a whole answer of the broker.
    this.values.set(key, Buffer.from(value));
  }
}

export function epochHeaders({ role, epoch }: Epoch): RawRecord['headers'] & Record<string, Buffer> {
  return { [EPOCH_HEADER]: Buffer.from(`${epoch}/${role}`) };
}

function epochIn(headers: RawRecord['headers']): Epoch | null {
  const text = headers[EPOCH_HEADER]?.toString();
  if (text === undefined) return null;
  const at = text.indexOf('/');
  return { epoch: BigInt(text.slice(0, at)), role: text.slice(at + 1) };
}
