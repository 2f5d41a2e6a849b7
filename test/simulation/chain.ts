// The simulated chain of a run, with its nodes and gRPC servers: it makes slots and publishes them.

import { type Happened, Production } from '../../localnet/chain/production.ts';
import { Faults } from '../../localnet/faults/faults.ts';
import { Feed } from '../../localnet/grpc/feed.ts';
import { Ledger, type StoredBlock } from '../../localnet/ledger.ts';
import { createNode, type Node } from '../../localnet/node/node.ts';
import { Publisher } from '../../localnet/rpc/publisher.ts';
import { Subscriptions } from '../../localnet/rpc/subscriptions.ts';
import { Forks } from './forks.ts';
import type { GrpcServer } from './grpc.ts';
import { openServers } from './grpc-servers.ts';
import { LedgerJump } from './ledger-jump.ts';
import type { NodePort } from './network.ts';
import type { Plan } from './plan.ts';
import type { Lost } from './processed-checks.ts';
import { FIRST_SLOT, type Tape, TapeExchange } from './tape.ts';
import type { Trace } from './trace.ts';
import { Truth } from './truth.ts';
import type { Dice, VirtualTime } from './virtual-time.ts';

const GENESIS_HASH = 'EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG';
/** Lists that the other node refuses after a jump. */
const REFUSED_LISTS = 4;
/** Blocks after which the winning chain plays those of a losing fork. */
const FORK_DISTANCE = 11;
/** Finalized slots after dropped ones that the check of finality and a margin need (ingest/finality/check.ts). */
const DROP_FINAL_SLOTS = 40;

export interface ChainParts {
  readonly plan: Plan;
  readonly tape: Tape;
  readonly time: VirtualTime;
  readonly trace: Trace;
  readonly dice: Dice;
  /** Receives blocks that lost. */
  readonly lost: (lost: Lost) => void;
}

export class SimulatedChain {
  readonly truth = new Truth();
  readonly subscriptions = new Subscriptions();
  readonly forks: Forks;
  /** By host. */
  readonly nodes: ReadonlyMap<string, NodePort>;
  /** By host. */
  readonly grpcServers: ReadonlyMap<string, GrpcServer>;
  readonly #plan: Plan;
  readonly #time: VirtualTime;
  readonly #trace: Trace;
  readonly #exchange: TapeExchange;
  readonly #ledger: Ledger;
  readonly #production: Production;
  readonly #publisher: Publisher;
  readonly #feed: Feed | null;
  /** Of the second node. */
  readonly #jump = new LedgerJump();
  /** Faults of the gRPC server that lies. */
  readonly #lies: Faults;
  #slots = 0;
  #newestConfirmedSlot = -1;
  /** Newest dropped slot. */
  #droppedSlot = -1;

  constructor({ plan, tape, time, trace, dice, lost }: ChainParts) {
    this.#plan = plan;
    this.#time = time;
    this.#trace = trace;
    const { seed, profile } = plan;
    const quietForkShare = plan.processed?.quietForkShare ?? 0;
    this.#exchange = new TapeExchange(tape, {
      from: plan.fromBlock,
      isQuiet: () => dice.chance(plan.quietShare),
      isForkQuiet: () => quietForkShare > 0 && dice.chance(quietForkShare),
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
    this.forks = new Forks(this.truth, this.#exchange, lost);
    this.#ledger.begin(this.#exchange.genesis());
    this.#append(FIRST_SLOT);
    this.#production = new Production({ exchange: this.#exchange, ledger: this.#ledger, profile, seed });
    this.#lies = new Faults(seed, () => this.#ledger.tipSlot);
    const nodes = plan.nodes.map((faults, number) => {
      const node = createNode(this.#ledger, seed * 8 + number);
      for (const fault of faults) node.faults.add(fault);
      return node;
    });
    this.nodes = new Map(
      nodes.map((node, number) => {
        const methods = new Map(node.methods);
        return [`node-${number}`, { node, methods: number === 1 ? this.#jump.over(methods) : methods }];
      }),
    );
    this.#feed = plan.grpc === null ? null : new Feed({ ledger: this.#ledger, likeNode: profile.nodeNotifications });
    this.grpcServers = this.#openServers(nodes);
    const [first] = nodes;
    if (first === undefined) throw new RangeError('no node');
    this.#publisher = new Publisher({
      ledger: this.#ledger,
      subscriptions: this.subscriptions,
      delivery: first.delivery,
      likeNode: profile.nodeNotifications,
    });
  }

  /** Slots since the run began. */
  get slots(): number {
    return this.#slots;
  }

  get confirmedSlot(): number {
    return this.#ledger.slotAt('confirmed');
  }

  /** Newest slot that was ever confirmed: a dropped one lowers `confirmedSlot`. */
  get newestConfirmedSlot(): number {
    return this.#newestConfirmedSlot;
  }

  /** Slot of the exchange's newest block on the winning chain. */
  get activeSlot(): number {
    return this.#production.activeSlot;
  }

  /** Whether the last block of the exchange is confirmed, and dropped transactions are final. */
  get isSettled(): boolean {
    // A dropped transaction counts once the slot is final in which it landed again.
    const finalAtLeast = Math.max(this.#droppedSlot + DROP_FINAL_SLOTS, this.activeSlot);
    const isDropFinal = this.#droppedSlot < 0 || this.#ledger.slotAt('finalized') >= finalAtLeast;
    return this.confirmedSlot >= this.activeSlot && isDropFinal;
  }

  get hasJumped(): boolean {
    return this.#jump.hasBegun;
  }

  makeSlot(): void {
    this.#slots += 1;
    const happened = this.#production.next([]);
    this.#trace.add(`slot ${'block' in happened ? happened.block.slot : happened.slot} ${happened.kind}`);
    if (happened.kind === 'block' || happened.kind === 'hidden') this.#true(happened.block.slot);
    if (happened.kind === 'branch' && this.#ledger.isBranchConfirmed) this.#dropped(happened.block);
    this.#publish(happened);
  }

  /** A block without a transaction of the exchange. */
  makeEmptyBlock(): void {
    this.#publish(this.#production.empty());
  }

  /** The cluster confirms the blocks of the next slots, and drops them. */
  dropConfirmed(slots: number): void {
    this.#production.dropConfirmed(slots);
  }

  /** The second node loses the blocks of the next slots. The first one has them, and refuses some lists. */
  jump(slots: number): void {
    const fromSlot = this.#ledger.tipSlot + 1;
    const whole = this.nodes.get('node-0')?.node;
    whole?.faults.add({ kind: 'error', methods: ['getSignaturesForAddress'], count: REFUSED_LISTS });
    this.#jump.begin(fromSlot, fromSlot + slots - 1);
  }

  /** Ends the faults of nodes and servers. */
  clearFaults(): void {
    for (const { node } of this.nodes.values()) node.faults.clear();
    this.#lies.clear();
    if (this.#plan.restartsAtEnd) for (const server of this.grpcServers.values()) server.restart();
  }

  #openServers(nodes: readonly Node[]): ReadonlyMap<string, GrpcServer> {
    if (this.#feed === null) return new Map();
    const world = { feed: this.#feed, time: this.#time, ledger: this.#ledger, exchange: this.#exchange };
    return openServers({ ...world, plans: this.#plan.grpc ?? [], nodes, lies: this.#lies });
  }

  #dropped(block: StoredBlock): void {
    this.#droppedSlot = block.slot;
    const played = this.#exchange.lostBlock(block.slot);
    if (played !== null) this.truth.drop(block, played);
  }

  #publish(happened: Happened): void {
    this.#newestConfirmedSlot = Math.max(this.#newestConfirmedSlot, this.confirmedSlot);
    this.forks.take(happened);
    this.#publisher.publish(happened);
    this.#feed?.publish(happened);
  }

  #append(slot: number): void {
    this.#ledger.append(this.#exchange.nextBlock(slot));
    this.#true(slot);
    this.forks.follow(slot);
  }

  #true(slot: number): void {
    const block = this.#ledger.history.block(slot);
    const played = this.#exchange.played(slot);
    if (block !== null && played !== null) this.truth.add(block, played);
  }
}
