// Plays a capture as a source: as fast as the reader takes it, or at a multiple of the recorded pace.

import { basename } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { PARKED_BYTES_MAX } from '../dead-letter.ts';
import type { ResumePoint, Source, SourceUpdate, TransactionLogs } from '../source.ts';
import { captureFiles, linesOf } from './files.ts';
import { CaptureError, type CaptureLine, parseLine } from './format.ts';

/** Lines per batch, and lines between two progress notices. */
const BATCH_LINES = 500;

export interface CaptureOptions {
  /** 1 plays at the recorded pace, 10 at ten times that pace. 0 (default) plays without pauses. */
  readonly speed?: number;
}

export class CaptureSource implements Source {
  readonly #path: string;
  readonly #speed: number;

  constructor(path: string, options: CaptureOptions = {}) {
    this.#path = path;
    this.#speed = options.speed ?? 0;
  }

  /** Plays accounts from the start and transactions from the resume point. Ends with the recording. */
  async *updates(resume: ResumePoint | null, signal: AbortSignal): AsyncIterable<readonly SourceUpdate[]> {
    const chain = `capture:${basename(this.#path)}`;
    const skipTo = resume?.chain === chain ? (resume.line ?? 0) : 0;
    const startMs = performance.now();
    let batch: SourceUpdate[] = [];
    let line = 0;
    let newest = 0;
    let newestSlotLine = 0;
    const progress = (): SourceUpdate => ({
      kind: 'progress',
      resume: { slot: newest, signatures: {}, chain, line: Math.max(line, skipTo) },
    });
    for (const file of await captureFiles(this.#path)) {
      for await (const text of linesOf(file)) {
        if (signal.aborted) return;
        line += 1;
        if (text.trim() === '') continue;
        const { update, atMs } = readLine(text, `${basename(file)}:${line}`);
        if (atMs !== null && this.#speed > 0) {
          const waitMs = atMs / this.#speed - (performance.now() - startMs);
          if (waitMs > 1) {
            if (batch.length > 0) yield batch;
            batch = [];
            await delay(waitMs, undefined, { signal }).catch(() => {});
          }
        }
        if ('slot' in update) newest = Math.max(newest, update.slot);
        if (update.kind === 'slot') newestSlotLine = Math.max(newestSlotLine, update.slot);
        if (update.kind === 'transaction' && line <= skipTo) continue;
        batch.push(update);
        if (batch.length >= BATCH_LINES) {
          yield [...batch, progress()];
          batch = [];
        }
      }
    }
    // A recording without slot lines still reaches the slot of its last update.
    if (newest > newestSlotLine) batch.push({ kind: 'slot', slot: newest });
    yield [...batch, progress()];
  }

  /** A capture holds each transaction once and has no second copy to fetch. */
  async transaction(): Promise<TransactionLogs | null> {
    return null;
  }
}

function readLine(text: string, origin: string): CaptureLine {
  try {
    return parseLine(text);
  } catch (error) {
    if (!(error instanceof CaptureError)) throw error;
    const bytes = Buffer.from(text.slice(0, PARKED_BYTES_MAX));
    return { update: { kind: 'garbage', reason: 'garbage_line', detail: error.message, origin, bytes }, atMs: null };
  }
}
