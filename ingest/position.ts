// Where to begin after a restart: a resume point of the source, and offsets of `events` from which on everything lies
// that the source will hand over again.

import type { EventLog } from '../platform/index.ts';
import { RESUME_MARGIN_SLOTS, type ResumePoint } from './source.ts';
import type { EventEnds } from './writer.ts';

const INGEST_GROUP = 'ingest';
const STATE_KEY = 'position';
/** Offsets are noted at most once per this many slots. */
const NOTE_SLOTS = 8;

export interface Position {
  readonly resume: ResumePoint | null;
  readonly ends: EventEnds;
}

/** The position that an earlier process left; an empty one when there is none. */
export async function loadPosition(log: EventLog): Promise<Position> {
  const { state } = await log.load(INGEST_GROUP);
  const bytes = state.get(STATE_KEY);
  if (bytes === undefined) return { resume: null, ends: new Map() };
  const { resume, ends } = JSON.parse(Buffer.from(bytes).toString('utf8')) as {
    readonly resume: ResumePoint;
    readonly ends: Readonly<Record<string, string>>;
  };
  return { resume, ends: new Map(Object.entries(ends).map(([partition, end]) => [Number(partition), BigInt(end)])) };
}

export async function savePosition(log: EventLog, { resume, ends }: Position): Promise<void> {
  const text = JSON.stringify({
    resume,
    ends: Object.fromEntries([...ends].map(([partition, end]) => [partition, String(end)])),
  });
  await log.commit(INGEST_GROUP, { state: [{ key: STATE_KEY, value: Buffer.from(text) }] });
}

/**
 * Remembers how far `events` reached at which slot. The source hands over again what lies up to RESUME_MARGIN_SLOTS
 * before its resume point; all of that stands behind offsets noted while only older slots had been seen.
 */
export class EndHistory {
  #notes: { readonly slot: number; readonly ends: EventEnds }[];
  #newest: number;

  /**
   * `start` is where this process looked for events of earlier ones, `newestSlot` the newest slot it found there: the
   * source hands these over again, but they lie before offsets noted now.
   */
  constructor(start: EventEnds, newestSlot: number) {
    this.#notes = [{ slot: -1, ends: start }];
    this.#newest = newestSlot;
  }

  /** Events of a transaction of this slot are about to be appended; `ends` is where the log ends before them. */
  reached(slot: number, ends: () => EventEnds): void {
    if (slot <= this.#newest) return;
    const last = this.#notes.at(-1);
    if (last === undefined || this.#newest >= last.slot + NOTE_SLOTS) {
      this.#notes.push({ slot: this.#newest, ends: ends() });
    }
    this.#newest = slot;
  }

  /** Offsets that go with a resume point; forgets what no later resume point needs. */
  endsFor(resume: ResumePoint): EventEnds {
    const limit = resume.slot - RESUME_MARGIN_SLOTS;
    const at = this.#notes.findLastIndex((note) => note.slot < limit);
    if (at > 0) this.#notes = this.#notes.slice(at);
    return this.#notes[0]?.ends ?? new Map();
  }
}
