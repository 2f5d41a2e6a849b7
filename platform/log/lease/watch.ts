// Reads topic `writers` for all roles of a process, several times a second.

import { TOPICS } from '../../../schemas/index.ts';
import type { EventLog, NewRecord } from '../port.ts';
import { TopicTail } from '../topic-tail.ts';
import { markIn, RoleMarks, roleAndKind } from './marks.ts';

const KINDS = ['asks', 'keeps', 'began', 'ended'] as const;

/** Called after each successful check with its start in monotonic milliseconds. */
type Listener = (beganMs: number) => void;

export class MarkWatch {
  readonly log: EventLog;
  readonly #roles = new Map<string, RoleMarks>();
  readonly #listeners = new Set<Listener>();
  readonly #tail: TopicTail;
  readonly #timer: NodeJS.Timeout;
  #look: Promise<void> | null = null;

  private constructor(log: EventLog, lookMs: number) {
    this.log = log;
    this.#tail = new TopicTail(log, TOPICS.writers);
    this.#timer = setInterval(() => void this.look().catch(() => {}), lookMs).unref();
  }

  /** Checks every `lookMs` until closed. Rejects when the log cannot be read. */
  static async open(log: EventLog, lookMs: number): Promise<MarkWatch> {
    const watch = new MarkWatch(log, lookMs);
    try {
      await watch.look();
    } catch (error) {
      watch.close();
      throw error;
    }
    return watch;
  }

  of(role: string): RoleMarks {
    const marks = this.#roles.get(role) ?? new RoleMarks();
    this.#roles.set(role, marks);
    return marks;
  }

  /** Reads new marks. Concurrent calls share a check. Rejects when the log cannot be read. */
  look(): Promise<void> {
    this.#look ??= this.#read().finally(() => {
      this.#look = null;
    });
    return this.#look;
  }

  /** A check that begins after the call. */
  async fresh(): Promise<void> {
    await this.#look?.catch(() => {});
    await this.look();
  }

  /** Appends a mark and returns its offset. */
  async put(record: NewRecord): Promise<bigint> {
    const [appended] = await this.log.append(TOPICS.writers, [record]);
    if (!appended) throw new Error('the log returned no offset');
    return appended.first;
  }

  /** Returns a function that ends the subscription. */
  onLook(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #read(): Promise<void> {
    const beganMs = performance.now();
    await this.#tail.read((record) => {
      const { role, kind: name } = roleAndKind(record);
      const kind = KINDS.find((one) => one === name);
      if (kind) this.of(role).take(kind, record.offset, markIn(record), performance.now());
    });
    for (const listener of [...this.#listeners]) listener(beganMs);
  }
}
