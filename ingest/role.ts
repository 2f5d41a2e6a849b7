// The ingest role: one loop from the source to the log, with its position saved about once a second.

import { PublicKey } from '@solana/web3.js';
import type { EventLog, Logger, RoleContext, RunningRole } from '../platform/index.ts';
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

/** Starts ingesting; resolves when the position is loaded and the source is being read. `parts` replace what the
 * configuration names. */
export async function startIngest(context: RoleContext, parts?: IngestParts): Promise<RunningRole> {
  const { config, log, logger } = context;
  const definition = parts?.definition ?? withVaultProgram(loadDefinition(config.definition), config.vaultProgram);
  const source = parts?.source ?? openSource(config, definition, logger);
  await log.ensureTopics([
    TOPICS.events,
    TOPICS.book,
    TOPICS.positions,
    TOPICS.vaults,
    TOPICS.qualityViews,
    TOPICS.deadLetters,
  ]);
  const stopped = new AbortController();
  const { resume, ends } = await loadPosition(log);
  const writer = new LogWriter(log, logger, stopped.signal);
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
          signal: stopped.signal,
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
  logger.info({ resume, definition: definition.name, source: config.source }, 'ingesting');
  const saver = new Saver(log, logger, pipeline, history);
  const telling = setInterval(() => void quality.flush(), QUALITY_INTERVAL_MS);
  void shadow?.run();
  const run = async (): Promise<void> => {
    try {
      for await (const batch of source.updates(resume, stopped.signal)) {
        await pipeline.take(batch);
        saver.due();
      }
      logger.info('the source has ended');
    } catch (error) {
      if (!stopped.signal.aborted) throw error;
    } finally {
      clearInterval(telling);
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
