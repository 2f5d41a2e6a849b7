// Reads ranges of blocks again while live data goes on: requests of operators, and holes that the coverage names. A
// request is a record of the log, and so is its progress: the next process continues it.

import { BackfillTail, CoverageTail, type EventLog, errorText, type Logger } from '../../platform/index.ts';
import { type Backfill, encodeMessage, TOPICS } from '../../schemas/index.ts';
import type { Pipeline } from '../pipeline.ts';
import { type Clock, REAL_CLOCK } from '../rpc/clock.ts';
import { type BlockReader, RESUME_MARGIN_SLOTS, type SlotRange, type Source } from '../source.ts';
import { knownEvents } from './known-events.ts';
import { AGAIN_MAX_MS, AGAIN_MIN_MS, holesId, isForHoles, nextRequest, rangesToCover } from './requests.ts';

const POLL_MS = 1_000;
/** Slots between two records of progress. */
const CHUNK_SLOTS = 20;
/** Attempts for one chunk before the request fails. */
const CHUNK_TRIES = 6;
const TRY_AGAIN_MS = 2_000;

export interface BackfillParts {
  readonly log: EventLog;
  readonly logger: Logger;
  readonly source: Source;
  readonly pipeline: Pick<Pipeline, 'backfill' | 'backfilled' | 'resume'>;
  readonly blocksPerSecond: number;
  readonly signal: AbortSignal;
  /** Replaced in tests. */
  readonly clock?: Clock;
}

/** A request that failed in this process. */
interface Failed {
  readonly times: number;
  /** When it is asked again, by the clock. */
  readonly againMs: number;
  /** This process has read the slots from here, and found these cut. */
  readonly startSlot: number;
  readonly cut: readonly SlotRange[];
}

export class BackfillRunner {
  readonly #parts: BackfillParts;
  readonly #requests: BackfillTail;
  readonly #coverage: CoverageTail;
  readonly #clock: Clock;
  readonly #failed = new Map<string, Failed>();

  constructor(parts: BackfillParts) {
    this.#parts = parts;
    this.#requests = new BackfillTail(parts.log);
    this.#coverage = new CoverageTail(parts.log);
    this.#clock = parts.clock ?? REAL_CLOCK;
  }

  /** Runs until the signal aborts. No failure here stops ingest. */
  async run(): Promise<void> {
    const { source, signal, logger } = this.#parts;
    const reader = source.blocks?.(signal);
    if (!reader) return;
    while (await this.#pause(POLL_MS)) {
      try {
        await this.#askForHoles();
        await this.#askAgain();
        const requests = [...(await this.#requests.read()).values()];
        const request = nextRequest(requests.filter((one) => this.#isPast(one)));
        if (request === null) continue;
        if (await this.#isMoot(request)) await this.#note({ ...request, state: 'cancelled' });
        else await this.#work(request, reader);
      } catch (error) {
        if (!signal.aborted) logger.warn({ err: error }, 'backfill interrupted');
      }
    }
  }

  /** Live transactions of the range have all been delivered: none of them can come a second time. */
  #isPast({ toSlot }: Backfill): boolean {
    const { resume } = this.#parts.pipeline;
    return resume !== null && toSlot < resume.slot - RESUME_MARGIN_SLOTS;
  }

  /** The records of a hole came by themselves, while a long first sweep was under way for example. */
  async #isMoot({ id, state, fromSlot, toSlot }: Backfill): Promise<boolean> {
    if (!isForHoles({ id }) || state !== 'asked') return false;
    const holes = (await this.#coverage.read()).flatMap((one) => one.holes);
    return !holes.some((hole) => hole.toSlot >= fromSlot && hole.fromSlot <= toSlot);
  }

  async #askForHoles(): Promise<void> {
    const { log, logger } = this.#parts;
    const requests = await this.#requests.read();
    for (const { fromSlot, toSlot } of rangesToCover(await this.#coverage.read(), requests.values())) {
      const id = holesId({ fromSlot, toSlot });
      const counts = { nextSlot: fromSlot, found: 0, lost: 0, atMs: Date.now() };
      const value: Backfill = { id, fromSlot, toSlot, ...counts, state: 'asked', reason: 'holes in numbered records' };
      await log.append(TOPICS.backfills, [{ key: id, value: encodeMessage('Backfill', value) }]);
      logger.warn({ fromSlot, toSlot }, 'numbered records are missing: their blocks are read again');
    }
  }

  /** Failed requests for holes whose pause is over go on at their next slot. Those of an earlier process do at once. */
  async #askAgain(): Promise<void> {
    for (const request of (await this.#requests.read()).values()) {
      const isDue = (this.#failed.get(request.id)?.againMs ?? 0) <= this.#clock.now();
      if (request.state === 'failed' && isForHoles(request) && isDue) await this.#note({ ...request, state: 'asked' });
    }
  }

  #noteFailure(id: string, done: Pick<Failed, 'startSlot' | 'cut'>): void {
    const times = (this.#failed.get(id)?.times ?? 0) + 1;
    const pauseMs = Math.min(AGAIN_MAX_MS, AGAIN_MIN_MS * 2 ** (times - 1));
    this.#failed.set(id, { ...done, times, againMs: this.#clock.now() + pauseMs });
  }

  async #work(request: Backfill, reader: BlockReader): Promise<void> {
    const { log, logger, pipeline, signal } = this.#parts;
    const known = await knownEvents(log, request.fromSlot, request.toSlot, signal);
    let now = await this.#note({ ...request, state: 'running' });
    const failed = this.#failed.get(request.id);
    const startSlot = failed?.startSlot ?? now.nextSlot;
    const cut: SlotRange[] = [...(failed?.cut ?? [])];
    for (let slot = now.nextSlot; slot <= request.toSlot; slot = now.nextSlot) {
      if ((await this.#requests.read()).get(request.id)?.state === 'cancelled') return;
      const toSlot = Math.min(request.toSlot, slot + CHUNK_SLOTS - 1);
      try {
        const { found, lost } = await this.#chunk({ fromSlot: slot, toSlot }, { known, cut }, reader);
        now = await this.#note({ ...now, nextSlot: toSlot + 1, found: now.found + found, lost: now.lost + lost });
      } catch (error) {
        if (signal.aborted) return;
        const reason = errorText(error);
        logger.warn({ err: error, slot }, 'backfill failed');
        this.#noteFailure(request.id, { startSlot, cut });
        await this.#note({ ...now, state: 'failed', reason });
        return;
      }
    }
    // Closes gaps longer than a chunk. The reads of an earlier process do not count: its cut logs are forgotten.
    await pipeline.backfilled({ fromSlot: startSlot, toSlot: request.toSlot }, cut);
    this.#failed.delete(request.id);
    await this.#note({ ...now, state: 'done' });
    logger.info({ ...now, state: 'done' }, 'backfill done');
  }

  /** Adds the slots with missing blocks, transactions or log lines to `cut`. Of these `lost` counts those that no node has whole. */
  async #chunk(
    range: SlotRange,
    { known, cut }: { readonly known: Set<string>; readonly cut: SlotRange[] },
    reader: BlockReader,
  ): Promise<{ found: number; lost: number }> {
    const { pipeline, blocksPerSecond } = this.#parts;
    const { slots, missing } = await this.#retried(() => reader.slots(range));
    let found = 0;
    let lost = 0;
    for (const one of missing) {
      lost += one.toSlot - one.fromSlot + 1;
      addRange(cut, one);
    }
    for (const slot of slots) {
      const block = await this.#retried(() => reader.read(slot));
      if (block === null || block.lacking > 0) {
        lost += 1;
        addRange(cut, { fromSlot: slot, toSlot: slot });
      }
      const written = await pipeline.backfill(block?.transactions ?? [], known);
      found += written.found;
      if (written.isCut) addRange(cut, { fromSlot: slot, toSlot: slot });
      await this.#pause(1_000 / blocksPerSecond);
    }
    await pipeline.backfilled(range, cut);
    return { found, lost };
  }

  /** Repeats a read that fails, a bounded number of times. */
  async #retried<T>(read: () => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await read();
      } catch (error) {
        if (attempt >= CHUNK_TRIES || !(await this.#pause(TRY_AGAIN_MS * attempt))) throw error;
      }
    }
  }

  async #note(request: Backfill): Promise<Backfill> {
    const value = { ...request, atMs: Date.now() };
    await this.#parts.log.append(TOPICS.backfills, [{ key: value.id, value: encodeMessage('Backfill', value) }]);
    return value;
  }

  /** False when the signal aborted. */
  async #pause(ms: number): Promise<boolean> {
    return this.#clock.wait(ms, this.#parts.signal).then(
      () => true,
      () => false,
    );
  }
}

/** Adds a range to others. One that continues the last one makes it longer: a node can lack millions of slots in a row. */
function addRange(ranges: SlotRange[], { fromSlot, toSlot }: SlotRange): void {
  const last = ranges.at(-1);
  if (last && fromSlot >= last.fromSlot && fromSlot <= last.toSlot + 1)
    ranges[ranges.length - 1] = { fromSlot: last.fromSlot, toSlot: Math.max(last.toSlot, toSlot) };
  else ranges.push({ fromSlot, toSlot });
}
