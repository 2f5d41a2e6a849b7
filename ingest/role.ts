// The ingest role: one loop from the source to the log, which saves its resume point about once a second. A lease allows
// one process at a time, because interleaved states of two processes would make wrong books.

import { PublicKey } from '@solana/web3.js';
import bs58 from 'bs58';
import {
  type EventLog,
  hasProcessedBooks,
  type Logger,
  type RoleContext,
  type RunningRole,
} from '../platform/index.ts';
import { type ChainDefinition, keyText, loadDefinition, TOPICS, withVaultProgram } from '../schemas/index.ts';
import { BackfillRunner } from './backfill/runner.ts';
import { compileEvents, type EventDecoder } from './decode/events.ts';
import { type DeriveUser, Differ } from './differ.ts';
import { FinalityCheck } from './finality/check.ts';
import { recordedRetractions, signaturesOf, writeLanded } from './finality/records.ts';
import { ProcessedBooks } from './forks/books.ts';
import { followForks, type OpenConnection } from './forks/feed.ts';
import { createForkMetrics } from './forks/metrics.ts';
import { ProcessedTrades } from './forks/trades.ts';
import { GapList } from './gaps.ts';
import { createIngestMetrics, reportSources } from './metrics.ts';
import { openForks, openSource } from './open.ts';
import { Pipeline } from './pipeline.ts';
import { compileReaders, type Readers } from './readers.ts';
import { loadResumeState, OffsetHistory, saveResumeState } from './resume-state.ts';
import { ShadowCheck } from './shadow/check.ts';
import { IngestQuality } from './shadow/quality.ts';
import { ShadowRunner } from './shadow/runner.ts';
import type { Source } from './source.ts';
import { LogWriter } from './writer.ts';

const SAVE_INTERVAL_MS = 1_000;
const QUALITY_INTERVAL_MS = 1_000;
/** Cached User addresses. A derivation costs a fraction of a millisecond, and the shadow check repeats all of them. */
const ADDRESS_CACHE_MAX = 500_000;

export interface IngestParts {
  readonly definition: ChainDefinition;
  readonly source: Source;
  /** The stream at commitment processed; default: none, as `source` is not a configured one. */
  readonly forks?: OpenConnection;
  /** Readers that were compiled from the definition earlier; compiling them takes tens of milliseconds. */
  readonly readers?: Readers;
  /** Addresses of User accounts; default: derived from their seeds. */
  readonly deriveUser?: DeriveUser;
}

/**
 * Starts ingesting. Resolves when the resume state is loaded and the source is running. `parts` replace the configured
 * definition and source.
 */
export async function startIngest(context: RoleContext, parts?: IngestParts): Promise<RunningRole> {
  const { config, log, logger } = context;
  const definition = parts?.definition ?? withVaultProgram(loadDefinition(config.definition), config.vaultProgram);
  const source = parts?.source ?? openSource(config, definition, logger);
  await log.ensureTopics([
    TOPICS.events,
    TOPICS.book,
    TOPICS.positions,
    TOPICS.userOrders,
    TOPICS.vaults,
    TOPICS.accountStates,
    TOPICS.margin,
    TOPICS.qualityViews,
    TOPICS.counters,
    TOPICS.coverageViews,
    TOPICS.backfills,
    TOPICS.finality,
    TOPICS.retractions,
    TOPICS.deadLetters,
  ]);
  // The lease ensures that the earlier process has stopped writing, so its resume state and events are complete. All accounts
  // are read again after this, which makes the books right. Should a late write slip through (see WriterLease), the shadow
  // check repairs the book, and a duplicate event counts once.
  const stopped = new AbortController();
  const { signal } = stopped;
  const { resume, ends, oldestWaiting } = await loadResumeState(log);
  const writer = new LogWriter(log, logger, signal);
  const metrics = createIngestMetrics(context.metrics);
  const reader = source.finality?.(signal);
  const finality: FinalityCheck | null = reader
    ? new FinalityCheck({
        reader,
        logger,
        retract: (slot, signatures) => pipeline.retract(slot, signatures),
        write: writeLanded({ log, source, pipeline: () => pipeline, signal }),
        unchecked: (transactions) => metrics.unchecked.inc(transactions),
      })
    : null;
  finality?.resumeAt(oldestWaiting);
  await writer.loadKnown(ends, ({ slot, signature }) => finality?.stored({ slot, signature: bs58.encode(signature) }));
  for await (const one of recordedRetractions(log)) finality?.retracted(one.slot, signaturesOf(one));
  const history = new OffsetHistory(writer.startOffsets, writer.newestSlot);
  const quality = new IngestQuality(log, logger);
  await quality.load();
  // No process was connected since the last one stopped. A recording cannot miss anything.
  if (resume !== null && source.accounts) quality.disconnected();
  const gaps = new GapList(log);
  await gaps.load();
  const readers = parts?.readers ?? compileReaders(definition);
  const derive = parts?.deriveUser ?? memoized(userAddress(definition));
  const newDiffer = () => new Differ(readers, derive);
  const differ = newDiffer();
  const shadow =
    source.accounts && config.shadowCheckMs > 0
      ? new ShadowRunner({
          check: new ShadowCheck(differ, newDiffer),
          source,
          log,
          logger,
          quality,
          differences: metrics.shadowDifferences,
          checks: metrics.shadowChecks,
          everyMs: config.shadowCheckMs,
          signal,
        })
      : null;
  const forks = parts ? parts.forks : hasProcessedBooks(config) ? openForks(config, definition) : undefined;
  const decoder = compileEvents(definition);
  const processed = forks
    ? await startProcessed({ context, open: forks, differ, newDiffer, decoder, writer, signal })
    : null;
  const pipeline: Pipeline = new Pipeline({
    source,
    differ,
    decoder,
    writer,
    ends: history,
    gaps,
    metrics,
    logger,
    quality,
    sampleSlots: config.sampleSlots,
    resumeSlot: resume?.slot ?? null,
    finality,
    shadow,
    confirmed: (events) => processed?.trades.confirmed(events),
    applied: (update) => processed?.books.applied(update) ?? null,
    corrected: () => processed?.books.corrected() ?? null,
  });
  logger.info({ resume, definition: definition.name, source: config.source }, 'ingesting');
  const saver = new Saver({ log, logger, pipeline, history, finality });
  const flushing = setInterval(() => {
    const sources = source.reports?.() ?? [];
    quality.sources(sources);
    reportSources(metrics, sources);
    void quality.flush();
  }, QUALITY_INTERVAL_MS);
  void shadow?.run();
  void finality?.run(signal);
  const { rpcBackfillBlocksPerSecond: blocksPerSecond } = config;
  void new BackfillRunner({ log, logger, source, pipeline, blocksPerSecond, signal }).run();
  const run = async (): Promise<void> => {
    try {
      for await (const batch of source.updates(resume, signal)) {
        await pipeline.take(batch);
        processed?.books.written();
        processed?.trades.resolved(batch);
        saver.due();
      }
      logger.info('the source has ended');
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      clearInterval(flushing);
      await quality.flush();
      await saver.finish();
    }
  };
  const done = run();
  done.catch(() => {});
  return {
    name: 'ingest',
    endpoints: {},
    done,
    stop: async () => {
      stopped.abort();
      await done.catch(() => {});
    },
  };
}

interface ProcessedParts {
  readonly context: RoleContext;
  readonly open: OpenConnection;
  /** Has the confirmed states. */
  readonly differ: Differ;
  readonly newDiffer: () => Differ;
  readonly decoder: EventDecoder;
  readonly writer: LogWriter;
  readonly signal: AbortSignal;
}

/** The readers of the node's fork. */
interface Processed {
  readonly books: ProcessedBooks;
  readonly trades: ProcessedTrades;
}

/** Follows the node's fork beside the confirmed stream, until the signal aborts. */
async function startProcessed({ context, open, differ, decoder, ...parts }: ProcessedParts): Promise<Processed> {
  const { config, log, logger } = context;
  await log.ensureTopics([TOPICS.processedBook, TOPICS.processedFills]);
  const metrics = createForkMetrics(context.metrics);
  const moved = (): void => trades.moved();
  const books = new ProcessedBooks({ confirmed: differ, metrics, logger, moved, ...parts });
  const trades = new ProcessedTrades({ fork: books.fork, decoder, metrics, writer: parts.writer });
  void followForks({ open, books, trades, metrics, logger, silenceMs: config.slotStallMs, signal: parts.signal });
  return { books, trades };
}

interface SaverParts {
  readonly log: EventLog;
  readonly logger: Logger;
  readonly pipeline: Pipeline;
  readonly history: OffsetHistory;
  readonly finality: FinalityCheck | null;
}

/** Saves the newest resume point whose updates are in the log, at most once per interval. */
class Saver {
  readonly #parts: SaverParts;
  #savedAtMs = 0;
  #saved: unknown = null;
  #saving: Promise<void> | null = null;

  constructor(parts: SaverParts) {
    this.#parts = parts;
  }

  /** Starts a save when one is due. The loop does not wait for it. */
  due(): void {
    const nowMs = performance.now();
    if (this.#saving || nowMs - this.#savedAtMs < SAVE_INTERVAL_MS) return;
    this.#savedAtMs = nowMs;
    this.#saving = this.#save().finally(() => {
      this.#saving = null;
    });
  }

  async finish(): Promise<void> {
    await this.#saving;
    await this.#save();
  }

  /** A failed save is repeated with the next one. A restart meanwhile begins a little earlier. */
  async #save(): Promise<void> {
    const { log, logger, pipeline, history, finality } = this.#parts;
    const { resume } = pipeline;
    if (resume === null || resume === this.#saved) return;
    try {
      const oldestWaiting = finality?.oldestSlot ?? Number.POSITIVE_INFINITY;
      await saveResumeState(log, { resume, ends: history.offsetsFor(resume, oldestWaiting), oldestWaiting });
      this.#saved = resume;
    } catch (error) {
      logger.warn({ err: error }, 'resume point not saved');
    }
  }
}

/** PDA of (authority, sub-account id) under the exchange program (docs/internals/accounts.md, "Addresses"). */
export function userAddress(definition: ChainDefinition): DeriveUser {
  const exchange = definition.programs.find((program) => program.accounts.has('User'));
  const program = new PublicKey(exchange?.programId ?? PublicKey.default);
  return (authority, subAccountId) => {
    const id = Buffer.alloc(2);
    id.writeUInt16LE(subAccountId);
    return PublicKey.findProgramAddressSync([Buffer.from('user'), authority, id], program)[0].toBytes();
  };
}

function memoized(derive: DeriveUser): DeriveUser {
  const known = new Map<string, Uint8Array>();
  return (authority, subAccountId) => {
    const key = `${keyText(authority)}${subAccountId}`;
    const address = known.get(key) ?? derive(authority, subAccountId);
    if (known.size >= ADDRESS_CACHE_MAX) known.clear();
    known.set(key, address);
    return address;
  };
}
