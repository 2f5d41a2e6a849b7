// Stores the restart point: a resume point of the source, and offsets of `events`. The events of transactions that the source
// repeats, or that are not compared with the final chain yet, lie at or after these offsets.

import type { EventLog } from '../platform/index.ts';
import { RESUME_MARGIN_SLOTS, type ResumePoint } from './source.ts';
import type { NextOffsets } from './writer.ts';

const INGEST_GROUP = 'ingest';
const STATE_KEY = 'position';
/** Minimum number of slots between two notes of the offsets. */
const NOTE_SLOTS = 8;

export interface ResumeState {
  readonly resume: ResumePoint | null;
  readonly ends: NextOffsets;
  /** Oldest slot that is not compared with the final chain yet; infinite without any. */
  readonly oldestWaiting: number;
}

/** As JSON. Versions up to 2026-11 saved no `oldestWaiting`. */
interface SavedState {
  readonly resume: ResumePoint | null;
  readonly ends: Readonly<Record<string, string>>;
  readonly oldestWaiting?: number | null;
}

/** Loads the state of an earlier process; without one, an empty state. */
export async function loadResumeState(log: EventLog): Promise<ResumeState> {
  const { state } = await log.load(INGEST_GROUP);
  const bytes = state.get(STATE_KEY);
  if (bytes === undefined) return { resume: null, ends: new Map(), oldestWaiting: Number.POSITIVE_INFINITY };
  const { resume, ends, oldestWaiting } = JSON.parse(Buffer.from(bytes).toString('utf8')) as SavedState;
  return {
    resume,
    ends: new Map(Object.entries(ends).map(([partition, end]) => [Number(partition), BigInt(end)])),
    oldestWaiting: oldestWaiting ?? Number.POSITIVE_INFINITY,
  };
}

export async function saveResumeState(log: EventLog, { resume, ends, oldestWaiting }: ResumeState): Promise<void> {
  const saved: SavedState = {
    resume,
    ends: Object.fromEntries([...ends].map(([partition, end]) => [partition, String(end)])),
    oldestWaiting: Number.isFinite(oldestWaiting) ? oldestWaiting : null,
  };
  await log.commit(INGEST_GROUP, { state: [{ key: STATE_KEY, value: Buffer.from(JSON.stringify(saved)) }] });
}

/**
 * Notes the next offsets of `events` by slot. After a restart the source repeats up to RESUME_MARGIN_SLOTS before its
 * resume point. Repeated events never lie before the offset noted for an older slot.
 */
export class OffsetHistory {
  #notes: { readonly slot: number; readonly ends: NextOffsets }[];
  #newest: number;

  /**
   * `start` holds the offsets at which this process searched for earlier events, `newestSlot` the newest slot it found.
   * The source repeats these events, but they lie before any offset that this process notes.
   */
  constructor(start: NextOffsets, newestSlot: number) {
    this.#notes = [{ slot: -1, ends: start }];
    this.#newest = newestSlot;
  }

  /** Call before appending events of a transaction of this slot. `ends` returns the next offsets before the append. */
  reached(slot: number, ends: () => NextOffsets): void {
    if (slot <= this.#newest) return;
    const last = this.#notes.at(-1);
    if (last === undefined || this.#newest >= last.slot + NOTE_SLOTS) {
      this.#notes.push({ slot: this.#newest, ends: ends() });
    }
    this.#newest = slot;
  }

  /**
   * Offsets for a resume point. `oldestWaiting` is the oldest slot that is not compared with the final chain yet. Drops notes that
   * no later resume point needs.
   */
  offsetsFor(resume: ResumePoint, oldestWaiting: number): NextOffsets {
    const limit = Math.min(resume.slot - RESUME_MARGIN_SLOTS, oldestWaiting);
    const at = this.#notes.findLastIndex((note) => note.slot < limit);
    if (at > 0) this.#notes = this.#notes.slice(at);
    return this.#notes[0]?.ends ?? new Map();
  }
}
