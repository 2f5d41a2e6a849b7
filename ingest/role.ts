// The ingest role: one loop from the source to the log, with its position saved about once a second. One process at a time:
// states of two, interleaved, would be wrong books.

import { PublicKey } from '@solana/web3.js';
import { type EventLog, type Logger, type RoleContext, type RunningRole, WriterLease } from '../platform/index.ts';
import { type ChainDefinition, loadDefinition, TOPICS, withVaultProgram } from '../schemas/index.ts';
import { compileEvents } from './decode/events.ts';
import { keyText } from './diff/output.ts';
import { compileReaders, type DeriveUser, Differ } from './differ.ts';
import { GapList } from './gaps.ts';
import { createIngestMetrics } from './metrics.ts';
import { openSource } from './open.ts';
import { Pipeline } from './pipeline.ts';
import { EndHistory, loadPosition, savePosition } from './position.ts';
import { ShadowCheck } from './shadow/check.ts';
import { IngestQuality } from './shadow/quality.ts';
import { ShadowRunner } from './shadow/runner.ts';
import type { Source } from './source.ts';
import { LogWriter } from './writer.ts';

const SAVE_INTERVAL_MS = 1_000;
const QUALITY_INTERVAL_MS = 1_000;
/** Addresses remembered: a derivation costs a fraction of a millisecond, and the shadow check asks for all again. */
const ADDRESSES_REMEMBERED = 500_000;

export interface IngestParts {
  readonly definition: ChainDefinition;
  readonly source: Source;
}

/**
 * Starts ingesting; resolves when the position is loaded and the source is being read. `parts` replace what the
 * configuration names. An ingest that runs elsewhere ends: its `done` rejects with a TakenOverError.
 */
export async function startIngest(context: RoleContext, parts?: IngestParts): Promise<RunningRole> {
  const { config, logger } = context;
  const definition = parts?.definition ?? withVaultProgram(loadDefinition(config.definition), config.vaultProgram);
  const source = parts?.source ?? openSource(config, definition, logger);
  await context.log.ensureTopics([
    TOPICS.events,
    TOPICS.book,
    TOPICS.positions,
    TOPICS.vaults,
    TOPICS.qualityViews,
    TOPICS.deadLetters,
  ]);
  // Before anything is read: what an earlier process left is read whole only when it writes nothing more. Every account is
  // read anew after this, so the books in the log become right whatever the two wrote at the same time. Should a write of the
  // earlier one come later still (see WriterLease), the shadow check finds and repairs it, and an event twice counts once.
  const lease = await WriterLease.take(context.log, 'ingest', logger);
  const { log } = lease;
  const stopped = new AbortController();
  const signal = AbortSignal.any([stopped.signal, lease.signal]);
  const { resume, ends } = await loadPosition(log);
  const writer = new LogWriter(log, logger, signal);
  await writer.learn(ends);
  const history = new EndHistory(writer.begins, writer.newestSlot);
  const quality = new IngestQuality(log, logger);
  await quality.load();
  // Nobody listened since the earlier process; a recording, which cannot be read apart from its stream, has missed nothing.
  if (resume !== null && source.accounts) quality.disconnected();
  const gaps = new GapList(log);
  await gaps.load();
  const metrics = createIngestMetrics(context.metrics);
  const readers = compileReaders(definition);
  const derive = remembering(userAddress(definition));
  const differ = new Differ(readers, derive);
  const shadow =
    source.accounts && config.shadowCheckMs > 0
      ? new ShadowRunner({
          check: new ShadowCheck(differ, () => new Differ(readers, derive)),
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
  const pipeline = new Pipeline({
    source,
    differ,
    decoder: compileEvents(definition),
    writer,
    ends: history,
    gaps,
    metrics,
    logger,
    quality,
    sampleSlots: config.sampleSlots,
    shadow,
  });
  logger.info({ epoch: lease.epoch, resume, definition: definition.name, source: config.source }, 'ingesting');
  const saver = new Saver(log, logger, pipeline, history);
  const telling = setInterval(() => void quality.flush(), QUALITY_INTERVAL_MS);
  void shadow?.run();
  const run = async (): Promise<void> => {
    try {
      for await (const batch of source.updates(resume, signal)) {
        await pipeline.take(batch);
        saver.due();
      }
      logger.info('the source has ended');
    } catch (error) {
      if (!signal.aborted) throw error;
    } finally {
      clearInterval(telling);
      if (!lease.signal.aborted) {
        await quality.flush();
        await saver.finish();
      }
      await lease.release();
    }
    lease.signal.throwIfAborted();
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

/** Saves the newest resume point whose updates are in the log, not more often than the interval. */
class Saver {
  readonly #log: EventLog;
  readonly #logger: Logger;
  readonly #pipeline: Pipeline;
  readonly #history: EndHistory;
  #savedAtMs = 0;
  #saved: unknown = null;
  #saving: Promise<void> | null = null;

  constructor(log: EventLog, logger: Logger, pipeline: Pipeline, history: EndHistory) {
    this.#log = log;
    this.#logger = logger;
    this.#pipeline = pipeline;
    this.#history = history;
  }

  /** Begins a save when one is due; the loop does not wait for it. */
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

  /** A save that fails is repeated with the next; a restart then begins a little earlier. */
  async #save(): Promise<void> {
    const { resume } = this.#pipeline;
    if (resume === null || resume === this.#saved) return;
    try {
      await savePosition(this.#log, { resume, ends: this.#history.endsFor(resume) });
      this.#saved = resume;
    } catch (error) {
      this.#logger.warn({ err: error }, 'position not saved');
    }
  }
}

/** PDA of (authority, sub-account id) under the exchange program (protocol 1.2). */
export function userAddress(definition: ChainDefinition): DeriveUser {
  const exchange = definition.programs.find((program) => program.accounts.has('User'));
  const program = new PublicKey(exchange?.programId ?? PublicKey.default);
  return (authority, subAccountId) => {
    const id = Buffer.alloc(2);
    id.writeUInt16LE(subAccountId);
    return PublicKey.findProgramAddressSync([Buffer.from('user'), authority, id], program)[0].toBytes();
  };
}

function remembering(derive: DeriveUser): DeriveUser {
  const known = new Map<string, Uint8Array>();
  return (authority, subAccountId) => {
    const key = `${keyText(authority)}${subAccountId}`;
    const address = known.get(key) ?? derive(authority, subAccountId);
    if (known.size >= ADDRESSES_REMEMBERED) known.clear();
    known.set(key, address);
    return address;
  };
}
