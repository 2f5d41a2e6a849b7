// Marks in topic `writers`: which process asks to write for a role, keeps writing, has begun or has ended.

import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { encodeMessage, readableMessage, type WriterMark } from '../../../schemas/index.ts';
import { STARTED_MS, VERSION } from '../../version.ts';
import type { LogRecord, NewRecord } from '../port.ts';

export type MarkKind = 'asks' | 'keeps' | 'began' | 'ended';

/** A process that writes or wants to, as named in its marks. */
export type Candidate = Pick<WriterMark, 'host' | 'pid' | 'version' | 'startedMs' | 'machine'>;

export const THIS_PROCESS: Candidate = {
  host: hostname(),
  pid: process.pid,
  version: VERSION,
  startedMs: STARTED_MS,
  machine: machineName(),
};

/** Null except on Linux. */
function machineName(): string | null {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot}/${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return null;
  }
}

/** True when a process of this machine is dead; false when it lives or that is unknown. */
export function isGone(by: Candidate | null): boolean {
  if (by === null || by.machine === null || by.machine !== THIS_PROCESS.machine) return false;
  try {
    process.kill(by.pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

/** Number of remembered marks of one kind and role; more never matter at once. */
const REMEMBERED = 64;

export interface Begun {
  readonly epoch: bigint;
  /** Null for an unreadable mark, which still counts by its key and offset. */
  readonly by: Candidate | null;
}

export interface Asked {
  readonly offset: bigint;
  readonly by: Candidate | null;
  /** Monotonic milliseconds at which this process read it. */
  readonly readAtMs: number;
}

/** The marks of one role that were read so far. */
export class RoleMarks {
  readonly #begun: Begun[] = [];
  readonly #asked: Asked[] = [];
  readonly #kept: { readonly offset: bigint; readonly upTo: bigint }[] = [];
  readonly #ended: bigint[] = [];

  /** The process that began last and has not ended; null without one. */
  get writer(): Begun | null {
    const last = this.#begun.at(-1);
    return last === undefined || this.hasEnded(last.epoch) ? null : last;
  }

  /** Offset of the newest `asks`; -1 without one. */
  get newestAsk(): bigint {
    return this.#asked.at(-1)?.offset ?? -1n;
  }

  get asked(): readonly Asked[] {
    return this.#asked;
  }

  before(epoch: bigint): Begun | null {
    return this.#begun.findLast((one) => one.epoch < epoch) ?? null;
  }

  /** The newest process that began after an epoch. */
  after(epoch: bigint): Begun | null {
    return this.#begun.findLast((one) => one.epoch > epoch) ?? null;
  }

  hasEnded(epoch: bigint): boolean {
    return this.#ended.includes(epoch);
  }

  /** True when a writer has refused this ask with a mark before `before`. */
  isRefused(ask: bigint, before?: bigint): boolean {
    return this.#kept.some(({ offset, upTo }) => upTo >= ask && (before === undefined || offset < before));
  }

  take(kind: MarkKind, offset: bigint, mark: WriterMark | null, readAtMs: number): void {
    const epoch = mark?.epoch ?? null;
    if (kind === 'began') remember(this.#begun, { epoch: offset, by: mark });
    else if (kind === 'asks') remember(this.#asked, { offset, by: mark, readAtMs });
    else if (epoch !== null && kind === 'keeps') remember(this.#kept, { offset, upTo: BigInt(epoch) });
    else if (epoch !== null && kind === 'ended') remember(this.#ended, BigInt(epoch));
  }
}

function remember<T>(list: T[], one: T): void {
  list.push(one);
  if (list.length > REMEMBERED) list.shift();
}

/** Its key lets compaction keep the newest mark of each kind and role. */
export function markRecord(role: string, kind: MarkKind, epoch: bigint | null, by: Candidate): NewRecord {
  const value = { ...by, role, mark: kind, epoch: epoch === null ? null : Number(epoch) };
  return { key: `${role}/${kind}`, value: encodeMessage('WriterMark', value) };
}

/** Role and kind of a record of the topic. */
export function roleAndKind({ key }: LogRecord): { readonly role: string; readonly kind: string } {
  const end = key.lastIndexOf('/');
  return { role: key.slice(0, end), kind: key.slice(end + 1) };
}

/** Null for an unreadable mark. */
export function markIn({ value }: LogRecord): WriterMark | null {
  return readableMessage('WriterMark', value);
}

export function nameOf(by: Candidate | null): string {
  return by === null
    ? 'a process of another version'
    : `pid ${by.pid} on ${by.host}, version ${by.version ?? 'unknown'}`;
}

/** Positive when `a` is the newer process: by version, then by start. */
export function compareCandidates(a: Candidate | null, b: Candidate | null): number {
  return compareVersions(a?.version ?? null, b?.version ?? null) || (a?.startedMs ?? 0) - (b?.startedMs ?? 0);
}

/** Positive when `a` is the newer version. A missing version is the oldest; 1.0.0-rc comes before 1.0.0. */
export function compareVersions(a: string | null, b: string | null): number {
  if (a === null || b === null) return Number(a !== null) - Number(b !== null);
  const [[release = '', ...preA], [other = '', ...preB]] = [a.split('-'), b.split('-')];
  const numeric = { numeric: true } as const;
  if (release !== other) return release.localeCompare(other, 'en', numeric);
  if (preA.length === 0 || preB.length === 0) return preB.length - preA.length;
  return preA.join('-').localeCompare(preB.join('-'), 'en', numeric);
}
