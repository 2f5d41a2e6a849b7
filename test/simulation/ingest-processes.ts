// The ingest processes of a run, one after another: when one crashes, the next one continues from the log.

import { startIngest } from '../../ingest/index.ts';
import type { Source } from '../../ingest/source.ts';
import { createMetrics, LogAwayError, type Logger, readConfig } from '../../platform/index.ts';
import type { SimulatedChain } from './chain.ts';
import type { Checks } from './checks.ts';
import { ProcessLog, type StoredLog, type WriteFate } from './log.ts';
import { Network } from './network.ts';
import type { Plan } from './plan.ts';
import type { SourceChecks } from './source-checks.ts';
import { openForks, openSource, type SourceParts } from './sources.ts';
import type { Stage } from './stage.ts';
import type { Trace } from './trace.ts';
import type { Dice, VirtualTime } from './virtual-time.ts';

const SILENCE_MS = 4_000;
/** Processes after so many restarts go on for ever. */
const EFFECTS_FOREVER = Number.POSITIVE_INFINITY;

export interface IngestProcessesParts {
  readonly plan: Plan;
  readonly stage: Stage;
  readonly time: VirtualTime;
  readonly trace: Trace;
  readonly logger: Logger;
  readonly dice: { readonly network: Dice; readonly process: Dice };
  readonly chain: SimulatedChain;
  readonly stored: StoredLog;
  readonly checks: Checks;
  readonly sources: SourceChecks;
  /** Whether the faults are over. */
  readonly isCalm: () => boolean;
}

export class IngestProcesses {
  readonly #parts: IngestProcessesParts;
  #connections = 0;
  #hasRetracted = false;
  #startedMs = 0;
  #crashes = 0;
  #effectsLeft = EFFECTS_FOREVER;
  /** Of the process that runs; null between two processes. */
  #network: Network | null = null;
  #source: Source | null = null;

  constructor(parts: IngestProcessesParts) {
    this.#parts = parts;
  }

  get crashes(): number {
    return this.#crashes;
  }

  /** When the newest process started. */
  get startedMs(): number {
    return this.#startedMs;
  }

  get isRunning(): boolean {
    return this.#network !== null;
  }

  /** Of the newest process. */
  get source(): Source | null {
    return this.#source;
  }

  start(): void {
    const { plan, stage, time, trace, logger, dice, stored, checks, isCalm } = this.#parts;
    const { crashesMax, crashEffects, shadowCheckMs } = plan;
    const hasEnd = !isCalm() && this.#crashes < crashesMax;
    this.#effectsLeft = hasEnd
      ? Math.ceil(-Math.log(1 - dice.process.between(0, 1)) * crashEffects) + 1
      : EFFECTS_FOREVER;
    const network = this.#openNetwork();
    this.#network = network;
    const log = new ProcessLog(stored, {
      delay: () => this.#delay(network),
      fate: () => this.#fate(network),
      crash: () => this.#crashWithin(network),
    });
    const { definition, readers, deriveUser } = stage;
    const source = reporting(openSource(this.#sourceParts(network)), () => checks.interrupted());
    this.#source = source;
    this.#startedMs = time.nowMs;
    trace.add('process starts');
    const context = {
      config: readConfig({}, { shadowCheckMs, sampleSlots: 20, slotStallMs: SILENCE_MS }),
      log,
      logger,
      metrics: createMetrics(['ingest']),
    };
    const { processed } = checks;
    const forks =
      processed === null ? {} : { forks: openForks(this.#sourceParts(network), () => processed.fills.connecting()) };
    const role = startIngest(context, { definition, source, readers, deriveUser, ...forks });
    role.then(({ done }) => done).catch((error: unknown) => this.#ended(network, error));
  }

  /** The process that runs ends at once. A later one continues from the log. */
  crash(awayMs = this.#parts.dice.process.pick([10, 800, 6_000, 14_000])): void {
    const { time, trace, checks, sources } = this.#parts;
    trace.add('process crashes');
    sources.check(this.#source, false);
    this.#crashes += 1;
    checks.interrupted();
    this.#network?.kill();
    this.#network = null;
    time.killTimers();
    this.#effectsLeft = EFFECTS_FOREVER;
    time.after(awayMs, () => this.start());
  }

  /** Cancels the planned crash. The first retraction of the run may plan another one. */
  cancelCrash(): void {
    this.#effectsLeft = EFFECTS_FOREVER;
  }

  /** All connections of the process break. */
  dropSockets(): void {
    this.#network?.dropSockets();
  }

  /** The first retraction of a run plans a crash, where the plan says so. */
  retracted(): void {
    const { plan, dice } = this.#parts;
    const endsAfter = plan.drop?.endsAfter ?? null;
    if (endsAfter === null || this.#hasRetracted) return;
    this.#hasRetracted = true;
    this.#effectsLeft = Math.ceil(dice.process.between(0, endsAfter));
  }

  #sourceParts(network: Network): SourceParts {
    const { plan, stage, chain, logger } = this.#parts;
    return {
      plan,
      network,
      hosts: [...chain.nodes.keys()],
      grpcHosts: [...chain.grpcServers.keys()],
      definition: stage.definition,
      logger,
      silenceMs: SILENCE_MS,
    };
  }

  #openNetwork(): Network {
    const { plan, time, trace, chain, checks, isCalm } = this.#parts;
    const { network: dice } = this.#parts.dice;
    const { latencyMs, stalls, refusals, cuts } = plan;
    const [low, high] = latencyMs;
    const network: Network = new Network({
      time,
      dice,
      trace,
      nodes: chain.nodes,
      subscriptions: chain.subscriptions,
      grpcServers: chain.grpcServers,
      latencyMs: () => dice.between(low, high),
      socketLatencyMs: () => (!isCalm() && dice.chance(stalls) ? dice.between(400, 6_000) : dice.between(low, high)),
      nextConnection: () => this.#connections++,
      refuses: () => !isCalm() && dice.chance(refusals),
      cuts: () => !isCalm() && dice.chance(cuts),
      news: (slot, isDead) => checks.processed?.news(slot, isDead),
      effect: () => {
        if (this.#network === network && this.#isDue()) this.crash();
      },
    });
    return network;
  }

  #isDue(): boolean {
    this.#effectsLeft -= 1;
    return this.#effectsLeft <= 0;
  }

  #delay(network: Network): Promise<void> {
    const { time, dice } = this.#parts;
    return new Promise((resolve) => {
      time.after(dice.process.between(0, 4), () => {
        if (this.#network === network) resolve();
      });
    });
  }

  #fate(network: Network): WriteFate {
    const { plan, dice, isCalm } = this.#parts;
    const storedShare = dice.process.pick([0, 0.5, 1]);
    if (this.#network !== network) return { kind: 'crash', storedShare: 0 };
    if (this.#isDue()) return { kind: 'crash', storedShare };
    return !isCalm() && dice.process.chance(plan.rejects) ? { kind: 'rejected', storedShare } : { kind: 'done' };
  }

  /** A write crashes its process and never settles. */
  #crashWithin(network: Network): Promise<never> {
    if (this.#network === network) this.crash();
    return new Promise(() => {});
  }

  #ended(network: Network, error: unknown): void {
    if (this.#network !== network) return;
    // The role starts again when the log was away (platform/runtime/leased-role.ts).
    if (error instanceof LogAwayError) this.crash();
    else this.#parts.checks.failed(error);
  }
}

/** The source, which reports when its stream has ended and all before is written. */
function reporting(source: Source, interrupted: () => void): Source {
  const updates = source.updates.bind(source);
  source.updates = async function* (resume, signal) {
    for await (const batch of updates(resume, signal)) {
      const end = batch.findIndex(({ kind }) => kind === 'reconnect');
      if (end < 0) {
        yield batch;
        continue;
      }
      yield batch.slice(0, end + 1);
      interrupted();
      yield batch.slice(end + 1);
    }
  };
  return source;
}
