// One run: a chain, its nodes and one ingester after another, on virtual time. All of it follows from the seed.

import { silentLogger } from '../../platform/index.ts';
import { TOPICS } from '../../schemas/index.ts';
import { SimulatedChain } from './chain.ts';
import { Checks, type Violation } from './checks.ts';
import { DroppedChecks } from './dropped-checks.ts';
import { IngestProcesses } from './ingest-processes.ts';
import { StoredLog } from './log.ts';
import { type Plan, planOf } from './plan.ts';
import { tracing } from './process-logger.ts';
import { ProcessedChecks } from './processed-checks.ts';
import { SourceChecks } from './source-checks.ts';
import type { Stage } from './stage.ts';
import { FIRST_SLOT } from './tape.ts';
import { Trace } from './trace.ts';
import { Dice, VirtualTime } from './virtual-time.ts';

const SLOT_MS = 400;
/** Virtual time after the chain stopped: longer than a hole needs to be recorded, and than any node is left alone. */
const SETTLE_MAX_MS = 60_000;
const SETTLE_POLL_MS = 3_000;
/** Slots of a run until a node loses blocks. */
const JUMP_AFTER_SLOTS = 25;
/** Slots after a jump until the process starts: the node has confirmed blocks behind it. */
const JUMP_MARGIN_SLOTS = 10;

export interface RunResult {
  readonly seed: number;
  /** Hash of everything that happened. */
  readonly hash: string;
  readonly violations: readonly Violation[];
  readonly events: number;
  readonly crashes: number;
  readonly labels: number;
  /** Labels above the confirmed slot, and undos of lost blocks, of the books at `processed`. */
  readonly ahead: number;
  readonly undone: number;
  /** Fills at `processed` that were published before their slot was confirmed, and withdrawn ones. */
  readonly early: number;
  readonly withdrawn: number;
  /** Lying sources that were named. */
  readonly named: number;
  /** Transactions of dropped slots that were retracted. */
  readonly retracted: number;
  readonly slots: number;
  readonly lines: readonly string[];
}

export interface RunOptions {
  /** Keeps all lines of the trace, with those of the process. */
  readonly isVerbose?: boolean;
}

export async function runSeed(seed: number, stage: Stage, options: RunOptions = {}): Promise<RunResult> {
  const plan = planOf(seed, stage.tapes.length, stage.blocks);
  const time = new VirtualTime(seed);
  const restore = time.install();
  try {
    return await new Run(plan, stage, time, options).toEnd();
  } finally {
    restore();
  }
}

class Run {
  readonly #plan: Plan;
  readonly #time: VirtualTime;
  readonly #trace: Trace;
  readonly #networkDice: Dice;
  readonly #chain: SimulatedChain;
  readonly #processes: IngestProcesses;
  readonly #checks: Checks;
  readonly #sources: SourceChecks;
  #firstSlot = FIRST_SLOT;
  #isCalm = false;
  #isOver = false;

  constructor(plan: Plan, stage: Stage, time: VirtualTime, { isVerbose = false }: RunOptions) {
    this.#plan = plan;
    this.#time = time;
    const trace = new Trace(isVerbose);
    this.#trace = trace;
    const { seed } = plan;
    this.#networkDice = new Dice(seed, 3);
    const tape = stage.tapes[plan.tape];
    if (tape === undefined) throw new RangeError(`no tape ${plan.tape}`);
    this.#chain = new SimulatedChain({
      plan,
      tape,
      time,
      trace,
      dice: new Dice(seed, 2),
      lost: (lost) => this.#checks.processed?.lost(lost),
    });
    this.#checks = new Checks({
      truth: this.#chain.truth,
      confirmedSlot: () => this.#chain.newestConfirmedSlot,
      firstSlot: () => this.#firstSlot,
      isExact: () => plan.isExact,
      nowMs: () => time.nowMs,
    });
    this.#sources = new SourceChecks(plan.merged, (rule, detail) => this.#checks.violated(rule, detail));
    if (plan.processed !== null) this.#checks.processed = this.#processedChecks();
    if (plan.drop !== null) {
      const violated = (rule: string, detail: string) => this.#checks.violated(rule, detail);
      this.#checks.dropped = new DroppedChecks({ truth: this.#chain.truth, violated });
    }
    this.#processes = new IngestProcesses({
      plan,
      stage,
      time,
      trace,
      logger: isVerbose ? tracing(trace, time) : silentLogger(),
      dice: { network: this.#networkDice, process: new Dice(seed, 4) },
      chain: this.#chain,
      stored: this.#storedLog(isVerbose),
      checks: this.#checks,
      sources: this.#sources,
      isCalm: () => this.#isCalm,
    });
  }

  #storedLog(isVerbose: boolean): StoredLog {
    return new StoredLog({
      stored: (topic, record) => {
        this.#trace.add(`  log ${topic.name}/${record.partition} ${record.offset} ${record.key}`);
        this.#trace.bytes(record.value);
        this.#checks.stored(topic, record);
        if (topic === TOPICS.retractions) this.#processes.retracted();
      },
      committed: (group, state) => {
        this.#trace.add(`  commit ${group}`);
        for (const bytes of state.values()) this.#trace.bytes(bytes);
        if (isVerbose) for (const bytes of state.values()) this.#trace.note(Buffer.from(bytes).toString('utf8'));
        this.#checks.committed(group, state);
      },
    });
  }

  #processedChecks(): ProcessedChecks {
    return new ProcessedChecks({
      truth: this.#chain.truth,
      isExact: () => this.#plan.processed?.isExact === true && !this.#isCalm,
      newestSlot: () => this.#chain.forks.slot,
      openBranch: () => this.#chain.forks.open,
      nowMs: () => this.#time.nowMs,
      confirmedSlot: () => this.#chain.confirmedSlot,
      process: () => this.#processes.crashes,
      after: (ms, run) => this.#time.after(ms, run),
      isGap: (slot) => this.#checks.isNamed(slot),
      violated: (rule, detail) => this.#checks.violated(rule, detail),
    });
  }

  async toEnd(): Promise<RunResult> {
    for (let slot = 0; slot < this.#plan.earlySlots; slot++) this.#chain.makeSlot();
    this.#firstSlot = this.#chain.confirmedSlot;
    this.#processes.start();
    this.#tick();
    await this.#time.run(() => this.#isOver);
    const { events, labels } = this.#checks.counts;
    const processed = this.#checks.processed?.counts ?? { ahead: 0, undone: 0, early: 0, withdrawn: 0 };
    return {
      seed: this.#plan.seed,
      hash: this.#trace.end(),
      violations: this.#checks.violations,
      events,
      labels,
      ...processed,
      named: this.#sources.named,
      retracted: this.#checks.dropped?.retracted ?? 0,
      crashes: this.#processes.crashes,
      slots: this.#chain.slots,
      lines: this.#trace.lines,
    };
  }

  /** Makes a slot, and plans the next one. */
  #tick(): void {
    const { slots, calmSlots, drops, earlySlots, jumpSlots, drop } = this.#plan;
    if (this.#checks.violations.length > 0) {
      this.#isOver = true;
      return;
    }
    if (this.#chain.slots >= earlySlots + slots + calmSlots) {
      this.#stopChain();
      return;
    }
    if (drop !== null && this.#chain.slots === earlySlots + drop.afterSlots) this.#chain.dropConfirmed(drop.slots);
    this.#chain.makeSlot();
    if (jumpSlots !== null && this.#chain.slots >= earlySlots + JUMP_AFTER_SLOTS) this.#loseBlocks(jumpSlots);
    if (this.#chain.slots === earlySlots + slots) this.#calm();
    else if (!this.#isCalm && this.#networkDice.chance(drops)) {
      // Also while the updates of a slot arrive.
      this.#time.after(this.#networkDice.between(0, SLOT_MS), () => this.#processes.dropSockets());
    }
    this.#time.after(SLOT_MS, () => this.#tick());
  }

  /** Ends, once, a process that knows where to continue. It stays away while a node loses its blocks. */
  #loseBlocks(jumpSlots: number): void {
    const isReady = this.#processes.isRunning && !this.#isCalm && this.#checks.resumeSlot >= FIRST_SLOT;
    if (this.#chain.hasJumped || !isReady) return;
    this.#chain.jump(jumpSlots);
    this.#processes.crash((jumpSlots + JUMP_MARGIN_SLOTS) * SLOT_MS);
  }

  /** The faults end. All connections break once, so that states which faults spoilt are read again. */
  #calm(): void {
    this.#trace.add('the faults end');
    this.#isCalm = true;
    this.#processes.cancelCrash();
    this.#chain.clearFaults();
    this.#processes.dropSockets();
  }

  /** Empty blocks confirm the last block of the exchange. Then nothing happens for long enough. */
  #stopChain(): void {
    if (!this.#chain.isSettled) {
      this.#chain.makeEmptyBlock();
      this.#time.after(SLOT_MS, () => this.#stopChain());
      return;
    }
    this.#trace.add('the chain stands still');
    this.#settle(this.#time.nowMs, 0);
  }

  /** Ends once all holds at two looks, or when the process has had its time: after a retraction it may begin once more. */
  #settle(stoodMs: number, looks: number): void {
    this.#time.after(SETTLE_POLL_MS, () => {
      const slot = this.#chain.activeSlot;
      const good = this.#checks.isDone(slot) ? looks + 1 : 0;
      if (good < 2 && this.#time.nowMs < Math.max(stoodMs, this.#processes.startedMs) + SETTLE_MAX_MS) {
        this.#settle(stoodMs, good);
        return;
      }
      this.#checks.settled();
      this.#sources.check(this.#processes.source, true);
      this.#checks.booksAt(slot);
      this.#isOver = true;
    });
  }
}
