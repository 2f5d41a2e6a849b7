// Signals between processes: one file per topic, written after each commit with records of the topic. A process watches only
// the topics that it waits for, because each wake-up takes processor time from the work that it announces.

import { closeSync, constants, type FSWatcher, mkdirSync, openSync, watch, writeSync } from 'node:fs';
import { join } from 'node:path';

const SIGNAL_BYTES = Buffer.from('.');

export class CommitSignals {
  readonly #folder: string;
  readonly #received: () => void;
  /** Descriptors of the files, by topic. */
  readonly #files = new Map<number, number>();
  /** By topic; null where watching is impossible. */
  readonly #watchers = new Map<number, FSWatcher | null>();
  #isComplete = true;

  /** `received`: another process, or this one, has committed records of a watched topic. */
  constructor(folder: string, received: () => void) {
    this.#folder = folder;
    this.#received = received;
  }

  /** False when a watched topic may bring no signal. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  /** Call it when readers can see the commit. Without a signal other processes find it by polling. */
  send(topics: Iterable<number>): void {
    for (const topic of topics) {
      try {
        writeSync(this.#file(topic), SIGNAL_BYTES, 0, SIGNAL_BYTES.length, 0);
      } catch {
        // The commit is valid without the signal.
      }
    }
  }

  watch(topic: number): void {
    if (this.#watchers.has(topic)) return;
    try {
      this.#file(topic);
      const watcher = watch(this.#path(topic), { persistent: false }, () => this.#received());
      watcher.on('error', () => {
        watcher.close();
        this.#cannotWatch(topic);
      });
      this.#watchers.set(topic, watcher);
    } catch {
      this.#cannotWatch(topic);
    }
  }

  close(): void {
    for (const watcher of this.#watchers.values()) watcher?.close();
    for (const file of this.#files.values()) closeSync(file);
    this.#watchers.clear();
    this.#files.clear();
  }

  #cannotWatch(topic: number): void {
    this.#watchers.set(topic, null);
    this.#isComplete = false;
  }

  #file(topic: number): number {
    const known = this.#files.get(topic);
    if (known !== undefined) return known;
    mkdirSync(this.#folder, { recursive: true });
    const file = openSync(this.#path(topic), constants.O_RDWR | constants.O_CREAT);
    this.#files.set(topic, file);
    return file;
  }

  #path(topic: number): string {
    return join(this.#folder, String(topic));
  }
}
