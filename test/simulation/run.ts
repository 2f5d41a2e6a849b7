// One run: a chain, its nodes and one ingester after another, on virtual time. All of it follows from the seed.

import { type IngestParts, startIngest } from '../../ingest/index.ts';
import type { Source } from '../../ingest/source.ts';
import { type Happened, Production } from '../../localnet/chain/production.ts';
import { Faults } from '../../localnet/faults/faults.ts';
import { Feed } from '../../localnet/grpc/feed.ts';
import { Ledger, type StoredBlock } from '../../localnet/ledger.ts';
import { createNode, type Node } from '../../localnet/node/node.ts';
import { Publisher } from '../../localnet/rpc/publisher.ts';
import { Subscriptions } from '../../localnet/rpc/subscriptions.ts';
import { createMetrics, LogAwayError, type Logger, readConfig, silentLogger } from '../../platform/index.ts';
import { type ChainDefinition, TOPICS } from '../../schemas/index.ts';
import { Checks, type Violation } from './checks.ts';
import { DroppedChecks } from './dropped-checks.ts';
import { Forks } from './forks.ts';
import type { GrpcServer } from './grpc.ts';
import { openServers } from './grpc-servers.ts';
import { LedgerJump } from './ledger-jump.ts';
import { ProcessLog, StoredLog, type WriteFate } from './log.ts';
import { Network, type NodePort } from './network.ts';
import { type Plan, planOf } from './plan.ts';
import { tracing } from './process-logger.ts';
import { ProcessedChecks } from './processed-checks.ts';
import { SourceChecks } from './source-checks.ts';
import { openForks, openSource, type SourceParts } from './sources.ts';
import { FIRST_SLOT, type Tape, TapeExchange } from './tape.ts';
import { Trace } from './trace.ts';
import { Truth } from './truth.ts';
import { Dice, VirtualTime } from './virtual-time.ts';

const SLOT_MS = 400;
const GENESIS_HASH = 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG';
const SILENCE_MS = 4_000;
/** Virtual time after the chain stopped: longer than a hole needs to be recorded, and than any node is left alone. */
const SETTLE_MAX_MS = 60_000;
const SETTLE_POLL_MS = 3_000;
/** Lists that the other node refuses then. */
const REFUSED_LISTS = 4;
/** Slots of a run until a node loses blocks. */
const JUMP_AFTER_SLOTS = 25;
/** Slots after a jump until the process starts: the node has confirmed blocks behind it. */
const JUMP_MARGIN_SLOTS = 10;
/** Blocks after which the winning chain plays those of a losing fork. */
const FORK_DISTANCE = 11;
/** Finalized slots after dropped ones that the check of finality and a margin need (ingest/finality/check.ts). */
const DROP_FINAL_SLOTS = 40;
/** Processes after so many restarts go on for ever. */
const EFFECTS_FOREVER = Number.POSITIVE_INFINITY;

/** Parts that all runs share. */
export interface Stage {
  readonly definition: ChainDefinition;
  readonly readers: NonNullable<IngestParts['readers']>;
  readonly deriveUser: NonNullable<IngestParts['deriveUser']>;
  readonly tapes: readonly Tape[];
  readonly blocks: number;
}

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
  readonly #stage: Stage;
  readonly #time: VirtualTime;
  readonly #trace: Trace;
  readonly #logger: Logger;
  readonly #dice: { readonly chain: Dice; readonly network: Dice; readonly process: Dice };
  readonly #exchange: TapeExchange;
  readonly #ledger: Ledger;
  readonly #production: Production;
  readonly #publisher: Publisher;
  readonly #subscriptions = new Subscriptions();
  readonly #feed: Feed | null;
  readonly #grpcServers: ReadonlyMap<string, GrpcServer>;
  readonly #nodes: ReadonlyMap<string, NodePort>;
  /** Of the second node. */
  readonly #jump = new LedgerJump();
  readonly #truth = new Truth();
  readonly #forks: Forks;
  readonly #checks: Checks;
  readonly #sources: SourceChecks;
  readonly #stored: StoredLog;
  #connections = 0;
  #firstSlot = FIRST_SLOT;
  #slots = 0;
  /** Newest slot that was ever confirmed: a dropped one lowers that of the ledger. */
  #confirmedSlot = -1;
  /** Newest dropped slot. */
  #droppedSlot = -1;
  #hasRetracted = false;
  #isCalm = false;
  #startedMs = 0;
  #crashes = 0;
  #effectsLeft = EFFECTS_FOREVER;
  #network: Network | null = null;
  #isOver = false;
  /** Faults of the gRPC server that lies. */
  readonly #lies: Faults;
  #source: Source | null = null;
  /** No label counts between the end of the faults and the next full read. */
  #isExact: boolean;

  constructor(plan: Plan, stage: Stage, time: VirtualTime, { isVerbose = false }: RunOptions) {
    this.#plan = plan;
    this.#stage = stage;
    this.#time = time;
    this.#isExact = plan.isExact;
    this.#trace = new Trace(isVerbose);
    this.#logger = isVerbose ? tracing(this.#trace, time) : silentLogger();
    const { seed, profile } = plan;
    this.#dice = { chain: new Dice(seed, 2), network: new Dice(seed, 3), process: new Dice(seed, 4) };
    const tape = stage.tapes[plan.tape];
    if (tape === undefined) throw new RangeError(`no tape ${plan.tape}`);
    const { chain } = this.#dice;
    const quietForkShare = plan.processed?.quietForkShare ?? 0;
    this.#exchange = new TapeExchange(tape, {
      from: plan.fromBlock,
      isQuiet: () => chain.chance(plan.quietShare),
      isForkQuiet: () => quietForkShare > 0 && chain.chance(quietForkShare),
      forkDistance: plan.drop?.landsAfter ?? FORK_DISTANCE,
    });
    this.#ledger = new Ledger({
      genesisHash: GENESIS_HASH,
      genesisSlot: FIRST_SLOT - 1,
      genesisTime: Math.floor(time.unixMs / 1000),
      lags: profile.lags,
      behindBlocks: 32,
      retainedBlocks: Number.POSITIVE_INFINITY,
      retainedBytes: Number.POSITIVE_INFINITY,
    });
    this.#forks = new Forks(this.#truth, this.#exchange, (lost) => this.#checks.processed?.lost(lost));
    this.#ledger.begin(this.#exchange.genesis());
    this.#append(FIRST_SLOT);
    this.#production = new Production({ exchange: this.#exchange, ledger: this.#ledger, profile, seed });
    this.#lies = new Faults(seed, () => this.#ledger.tipSlot);
    const nodes = plan.nodes.map((faults, number) => {
      const node = createNode(this.#ledger, seed * 8 + number);
      for (const fault of faults) node.faults.add(fault);
      return node;
    });
    this.#nodes = new Map(
      nodes.map((node, number) => {
        const methods = new Map(node.methods);
        return [`node-${number}`, { node, methods: number === 1 ? this.#jump.over(methods) : methods }];
      }),
    );
    this.#feed = plan.grpc === null ? null : new Feed({ ledger: this.#ledger, likeNode: profile.nodeNotifications });
    this.#grpcServers = this.#openServers(nodes);
    const [first] = nodes;
    if (first === undefined) throw new RangeError('no node');
    this.#publisher = new Publisher({
      ledger: this.#ledger,
      subscriptions: this.#subscriptions,
      delivery: first.delivery,
      likeNode: profile.nodeNotifications,
    });
    this.#checks = new Checks({
      truth: this.#truth,
      confirmedSlot: () => this.#confirmedSlot,
      firstSlot: () => this.#firstSlot,
      isExact: () => this.#isExact,
      nowMs: () => time.nowMs,
    });
    this.#sources = new SourceChecks(plan.merged, (rule, detail) => this.#checks.violated(rule, detail));
    if (plan.processed !== null) this.#checks.processed = this.#processedChecks();
    if (plan.drop !== null) {
      const violated = (rule: string, detail: string) => this.#checks.violated(rule, detail);
      this.#checks.dropped = new DroppedChecks({ truth: this.#truth, violated });
    }
    this.#stored = new StoredLog({
      stored: (topic, record) => {
        this.#trace.add(`  log ${topic.name}/${record.partition} ${record.offset} ${record.key}`);
        this.#trace.bytes(record.value);
        this.#checks.stored(topic, record);
        if (topic === TOPICS.retractions) this.#endAfterRetraction();
      },
      committed: (group, state) => {
        this.#trace.add(`  commit ${group}`);
        for (const bytes of state.values()) this.#trace.bytes(bytes);
        if (isVerbose) for (const bytes of state.values()) this.#trace.note(Buffer.from(bytes).toString('utf8'));
        this.#checks.committed(group, state);
      },
    });
  }

  #openServers(nodes: readonly Node[]): ReadonlyMap<string, GrpcServer> {
    if (this.#feed === null) return new Map();
    const world = { feed: this.#feed, time: this.#time, ledger: this.#ledger, exchange: this.#exchange };
    return openServers({ ...world, plans: this.#plan.grpc ?? [], nodes, lies: this.#lies });
  }

  #processedChecks(): ProcessedChecks {
    return new ProcessedChecks({
      truth: this.#truth,
      isExact: () => this.#plan.processed?.isExact === true && !this.#isCalm,
      newestSlot: () => this.#forks.slot,
      openBranch: () => this.#forks.open,
      nowMs: () => this.#time.nowMs,
      confirmedSlot: () => this.#ledger.slotAt('confirmed'),
      process: () => this.#crashes,
      after: (ms, run) => this.#time.after(ms, run),
      isGap: (slot) => this.#checks.isNamed(slot),
      violated: (rule, detail) => this.#checks.violated(rule, detail),
    });
  }

  async toEnd(): Promise<RunResult> {
    for (let slot = 0; slot < this.#plan.earlySlots; slot++) this.#makeSlot();
    this.#firstSlot = this.#ledger.slotAt('confirmed');
    this.#start();
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
      crashes: this.#crashes,
      slots: this.#slots,
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
    if (this.#slots >= earlySlots + slots + calmSlots) {
      this.#stopChain();
      return;
    }
    if (drop !== null && this.#slots === earlySlots + drop.afterSlots) this.#production.dropConfirmed(drop.slots);
    this.#makeSlot();
    if (jumpSlots !== null && this.#slots >= earlySlots + JUMP_AFTER_SLOTS) this.#loseBlocks(jumpSlots);
    if (this.#slots === earlySlots + slots) this.#calm();
    else if (!this.#isCalm && this.#dice.network.chance(drops)) {
      // Also while the updates of a slot arrive.
      this.#time.after(this.#dice.network.between(0, SLOT_MS), () => this.#network?.dropSockets());
    }
    this.#time.after(SLOT_MS, () => this.#tick());
  }

  #makeSlot(): void {
    this.#slots += 1;
    const happened = this.#production.next([]);
    this.#trace.add(`slot ${'block' in happened ? happened.block.slot : happened.slot} ${happened.kind}`);
    if (happened.kind === 'block' || happened.kind === 'hidden') this.#true(happened.block.slot);
    if (happened.kind === 'branch' && this.#ledger.isBranchConfirmed) this.#dropped(happened.block);
    this.#publish(happened);
  }

  #dropped(block: StoredBlock): void {
    this.#droppedSlot = block.slot;
    const played = this.#exchange.lostBlock(block.slot);
    if (played !== null) this.#truth.drop(block, played);
  }

  #publish(happened: Happened): void {
    this.#confirmedSlot = Math.max(this.#confirmedSlot, this.#ledger.slotAt('confirmed'));
    this.#forks.take(happened);
    this.#publisher.publish(happened);
    this.#feed?.publish(happened);
  }

  #append(slot: number): void {
    this.#ledger.append(this.#exchange.nextBlock(slot));
    this.#true(slot);
    this.#forks.follow(slot);
  }

  #true(slot: number): void {
    const block = this.#ledger.history.block(slot);
    const played = this.#exchange.played(slot);
    if (block !== null && played !== null) this.#truth.add(block, played);
  }

  /** The faults end. All connections break once, so that states which faults spoilt are read again. */
  #calm(): void {
    this.#trace.add('the faults end');
    this.#isCalm = true;
    this.#effectsLeft = EFFECTS_FOREVER;
    for (const { node } of this.#nodes.values()) node.faults.clear();
    this.#lies.clear();
    if (this.#plan.restartsAtEnd) for (const server of this.#grpcServers.values()) server.restart();
    this.#network?.dropSockets();
  }

  /** Empty blocks confirm the last block of the exchange. Then nothing happens for long enough. */
  #stopChain(): void {
    // A dropped transaction counts once the slot is final in which it landed again.
    const finalAtLeast = Math.max(this.#droppedSlot + DROP_FINAL_SLOTS, this.#production.activeSlot);
    const isDropFinal = this.#droppedSlot < 0 || this.#ledger.slotAt('finalized') >= finalAtLeast;
    if (this.#ledger.slotAt('confirmed') < this.#production.activeSlot || !isDropFinal) {
      this.#publish(this.#production.empty());
      this.#time.after(SLOT_MS, () => this.#stopChain());
      return;
    }
    this.#trace.add('the chain stands still');
    this.#settle(this.#time.nowMs, 0);
  }

  /** Ends once all holds at two looks, or when the process has had its time: after a retraction it may begin once more. */
  #settle(stoodMs: number, looks: number): void {
    this.#time.after(SETTLE_POLL_MS, () => {
      const slot = this.#production.activeSlot;
      const good = this.#checks.isDone(slot) ? looks + 1 : 0;
      if (good < 2 && this.#time.nowMs < Math.max(stoodMs, this.#startedMs) + SETTLE_MAX_MS) {
        this.#settle(stoodMs, good);
        return;
      }
      this.#checks.settled();
      this.#sources.check(this.#source, true);
      this.#checks.booksAt(slot);
      this.#isOver = true;
    });
  }

  #start(): void {
    const { process } = this.#dice;
    const { crashesMax, crashEffects, shadowCheckMs } = this.#plan;
    const hasEnd = !this.#isCalm && this.#crashes < crashesMax;
    this.#effectsLeft = hasEnd ? Math.ceil(-Math.log(1 - process.between(0, 1)) * crashEffects) + 1 : EFFECTS_FOREVER;
    const network = this.#openNetwork();
    this.#network = network;
    const log = new ProcessLog(this.#stored, {
      delay: () => this.#delay(network),
      fate: () => this.#fate(network),
      crash: () => this.#crash(network),
    });
    const { definition, readers, deriveUser } = this.#stage;
    const source = reporting(openSource(this.#sourceParts(network)), () => this.#checks.interrupted());
    this.#source = source;
    this.#startedMs = this.#time.nowMs;
    this.#trace.add('process starts');
    const context = {
      config: readConfig({}, { shadowCheckMs, sampleSlots: 20, slotStallMs: SILENCE_MS }),
      log,
      logger: this.#logger,
      metrics: createMetrics(['ingest']),
    };
    const { processed } = this.#checks;
    const forks =
      processed === null ? {} : { forks: openForks(this.#sourceParts(network), () => processed.fills.connecting()) };
    const role = startIngest(context, { definition, source, readers, deriveUser, ...forks });
    role.then(({ done }) => done).catch((error: unknown) => this.#ended(network, error));
  }

  #sourceParts(network: Network): SourceParts {
    return {
      plan: this.#plan,
      network,
      hosts: [...this.#nodes.keys()],
      grpcHosts: [...this.#grpcServers.keys()],
      definition: this.#stage.definition,
      logger: this.#logger,
      silenceMs: SILENCE_MS,
    };
  }

  #openNetwork(): Network {
    const { network: dice } = this.#dice;
    const { latencyMs, stalls, refusals, cuts } = this.#plan;
    const [low, high] = latencyMs;
    const network: Network = new Network({
      time: this.#time,
      dice,
      trace: this.#trace,
      nodes: this.#nodes,
      subscriptions: this.#subscriptions,
      grpcServers: this.#grpcServers,
      latencyMs: () => dice.between(low, high),
      socketLatencyMs: () =>
        !this.#isCalm && dice.chance(stalls) ? dice.between(400, 6_000) : dice.between(low, high),
      nextConnection: () => this.#connections++,
      refuses: () => !this.#isCalm && dice.chance(refusals),
      cuts: () => !this.#isCalm && dice.chance(cuts),
      news: (slot, isDead) => this.#checks.processed?.news(slot, isDead),
      effect: () => {
        if (this.#network === network && this.#isDue()) this.#die(network);
      },
    });
    return network;
  }

  #endAfterRetraction(): void {
    const endsAfter = this.#plan.drop?.endsAfter ?? null;
    if (endsAfter === null || this.#hasRetracted) return;
    this.#hasRetracted = true;
    this.#effectsLeft = Math.ceil(this.#dice.process.between(0, endsAfter));
  }

  #isDue(): boolean {
    this.#effectsLeft -= 1;
    return this.#effectsLeft <= 0;
  }

  #delay(network: Network): Promise<void> {
    return new Promise((resolve) => {
      this.#time.after(this.#dice.process.between(0, 4), () => {
        if (this.#network === network) resolve();
      });
    });
  }

  #fate(network: Network): WriteFate {
    const { process } = this.#dice;
    const storedShare = process.pick([0, 0.5, 1]);
    if (this.#network !== network) return { kind: 'crash', storedShare: 0 };
    if (this.#isDue()) return { kind: 'crash', storedShare };
    return !this.#isCalm && process.chance(this.#plan.rejects) ? { kind: 'rejected', storedShare } : { kind: 'done' };
  }

  #crash(network: Network): Promise<never> {
    if (this.#network === network) this.#die(network);
    return new Promise(() => {});
  }

  /** The process ends at once. A later one continues from the log. */
  #die(network: Network, awayMs = this.#dice.process.pick([10, 800, 6_000, 14_000])): void {
    this.#trace.add('process crashes');
    this.#sources.check(this.#source, false);
    this.#crashes += 1;
    this.#checks.interrupted();
    network.kill();
    this.#network = null;
    this.#time.killTimers();
    this.#effectsLeft = EFFECTS_FOREVER;
    this.#time.after(awayMs, () => this.#start());
  }

  /** Ends, once, a process that knows where to continue. It stays away while a node loses its blocks. */
  #loseBlocks(jumpSlots: number): void {
    const network = this.#network;
    if (this.#jump.hasBegun || network === null || this.#isCalm || this.#checks.resumeSlot < FIRST_SLOT) return;
    const fromSlot = this.#ledger.tipSlot + 1;
    const whole = this.#nodes.get('node-0')?.node;
    whole?.faults.add({ kind: 'error', methods: ['getSignaturesForAddress'], count: REFUSED_LISTS });
    this.#jump.begin(fromSlot, fromSlot + jumpSlots - 1);
    this.#die(network, (jumpSlots + JUMP_MARGIN_SLOTS) * SLOT_MS);
  }

  #ended(network: Network, error: unknown): void {
    if (this.#network !== network) return;
    // The role starts again when the log was away (platform/runtime/leased-role.ts).
    if (error instanceof LogAwayError) this.#die(network);
    else this.#checks.failed(error);
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
