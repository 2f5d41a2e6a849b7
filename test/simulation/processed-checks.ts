// Laws of the books at `processed`. They are those of the fork that the node follows. Within a slot of the news, reverts undo
// the writes of a lost fork or a dead block.

import type { LogRecord } from '../../platform/index.ts';
import { decodeMessage, TOPICS } from '../../schemas/index.ts';
import { Books, type Difference, differenceText, isBookMessage, unreadMarket } from './books.ts';
import { FillChecks } from './fill-checks.ts';
import type { Truth } from './truth.ts';

type States = ReadonlyMap<string, string>;

/** Time in which news must reach the books. Less than a slot: the next block would undo what a dead block did as well. */
const UNDO_MS = 150;

/** Blocks beside the winning chain. */
export interface Branch {
  readonly fromSlot: number;
  readonly toSlot: number;
  /** States before the blocks, and after each of them. */
  readonly base: States;
  readonly states: readonly States[];
}

/** Blocks that lost: a fork, or one dead block. */
export interface Lost extends Branch {
  /** News of this slot or a later one says that the blocks lost. */
  readonly newsSlot: number;
  readonly isDead: boolean;
}

export interface ProcessedParts {
  readonly truth: Truth;
  /** Whether every state at `processed` arrives now. */
  readonly isExact: () => boolean;
  /** Newest slot of any fork. */
  readonly newestSlot: () => number;
  /** A fork that will lose, and that the nodes still follow; null without one. */
  readonly openBranch: () => Branch | null;
  readonly nowMs: () => number;
  readonly confirmedSlot: () => number;
  /** Number of the process; a crash changes it. */
  readonly process: () => number;
  readonly after: (ms: number, run: () => void) => void;
  /** Whether an open gap of the log names the slot. */
  readonly isGap: (slot: number) => boolean;
  readonly violated: (rule: string, detail: string) => void;
}

class Partition {
  readonly books = new Books();
  label = -1;
  /** Newest slot of any record. */
  slot = -1;
  /** Undone slots, in the order of the records. */
  readonly reverts: number[] = [];
  /** Whether the records undo something. */
  isUndoing = false;
}

/** State of a lost block in a book. `text`: undefined where the block removed the order. */
interface Held {
  readonly partition: Partition;
  readonly key: string;
  readonly text: string | undefined;
}

export class ProcessedChecks {
  readonly fills: FillChecks;
  readonly #parts: ProcessedParts;
  readonly #partitions = Array.from({ length: TOPICS.processedBook.partitions }, () => new Partition());
  readonly #places = new Map<string, number>();
  #lost: Lost[] = [];
  /** Number of the process that has written every book: before its first read it knows of nothing to undo. */
  #begun = -1;
  /** Slots of news at `processed`, in the order in which the first of each arrived. */
  #arrived: { readonly slot: number; readonly atMs: number }[] = [];
  #ahead = 0;
  #undone = 0;

  constructor(parts: ProcessedParts) {
    this.#parts = parts;
    this.fills = new FillChecks(parts);
  }

  /** Labels above the confirmed slot, and undos that the news of a fork or a dead block brought. */
  get counts(): {
    readonly ahead: number;
    readonly undone: number;
    readonly early: number;
    readonly withdrawn: number;
  } {
    return { ahead: this.#ahead, undone: this.#undone, ...this.fills.counts };
  }

  stored({ partition: number, value, key }: LogRecord): void {
    const partition = this.#partitions[number];
    if (partition === undefined) return;
    const message = decodeMessage(value);
    if (message.name === 'BookSlot') this.#label(number, partition, message.value.slot);
    else if (message.name === 'BookRevert') this.#revert(partition, message.value.slot, message.value.reverted);
    else if (isBookMessage(message)) {
      this.#places.set(key, number);
      if ('slot' in message.value) partition.slot = Math.max(partition.slot, message.value.slot);
      const held = this.#watched().flatMap((branch) =>
        this.#heldIn(partition, number, branch, `${key} `).map((one) => ({ ...one, branch })),
      );
      partition.books.take(message);
      for (const one of held) this.#replaced(one);
    }
  }

  /** Forks whose end the process may learn from a confirmed state first. */
  #watched(): readonly Branch[] {
    const { isExact, process, openBranch } = this.#parts;
    if (!isExact() || this.#begun !== process()) return [];
    const open = openBranch();
    const lost = this.#lost.filter(({ isDead }) => !isDead);
    return open === null ? lost : [open, ...lost];
  }

  /** A state that only lost blocks had, and that a winning one replaced although the stream at `processed` was past it, is undone by name. */
  #replaced({ partition, key, text, branch }: Held & { readonly branch: Branch }): void {
    const now = partition.books.text(key);
    if (now === text || partition.isUndoing || !this.#isPast(this.#parts.confirmedSlot())) return;
    const isOfBranch = [branch.base, ...branch.states].some((states) => states.get(key) === now);
    // A block may write an account several times.
    if (isOfBranch || !this.#isWinning(key, now, branch.fromSlot)) return;
    const where = `slots ${branch.fromSlot} to ${branch.toSlot}`;
    this.#parts.violated('an undo has its name', `${where}: ${key} is ${now ?? 'removed'}, no BookRevert`);
  }

  /** Whether the stream at `processed` is past a slot for so long that the process has noticed. */
  #isPast(slot: number): boolean {
    const atMs = this.#arrived.find((one) => one.slot > slot)?.atMs;
    return atMs !== undefined && this.#parts.nowMs() - atMs >= UNDO_MS;
  }

  /** Blocks lost on the chain. */
  lost(lost: Lost): void {
    this.#lost.push(lost);
  }

  /** An update at `processed` arrived. */
  news(slot: number, isDead: boolean): void {
    if (this.#arrived.at(-1)?.slot !== slot) this.#arrived.push({ slot, atMs: this.#parts.nowMs() });
    const due = this.#lost.filter((one) => (one.isDead ? isDead && slot === one.newsSlot : slot >= one.newsSlot));
    this.#lost = this.#lost.filter((one) => !due.includes(one));
    if (this.#parts.isExact() && this.#begun === this.#parts.process()) for (const one of due) this.#expect(one);
  }

  /** The books at the end are those of the chain. */
  settled(slot: number): void {
    this.fills.settled();
    const truth = this.#parts.truth.states(slot);
    const unread = unreadMarket(truth, (market) => this.#partitions[this.#places.get(market) ?? -1]?.books ?? null);
    if (unread !== null) this.#parts.violated('processed book at the end', unread);
    for (const [number, { books, label }] of this.#partitions.entries()) {
      const [first] = truth === null ? [] : books.differences(truth, this.#isOf(number));
      if (first !== undefined) this.#parts.violated('processed book at the end', differenceText(first));
      if (label < slot) this.#parts.violated('processed label at the end', `${label}, the chain stands at ${slot}`);
    }
  }

  readonly #isOf =
    (number: number) =>
    (market: string): boolean =>
      this.#places.get(market) === number;

  /** A process that begins, or that lost the log, writes every book anew and begins with its own slots. */
  #revert(partition: Partition, slot: number, reverted: number | null): void {
    this.#begun = this.#parts.process();
    partition.isUndoing = reverted !== null;
    if (reverted === null) partition.books.undone();
    if (reverted !== null) partition.reverts.push(reverted);
    else if (slot < partition.slot) partition.slot = slot;
  }

  #label(number: number, partition: Partition, slot: number): void {
    if (slot <= partition.label) return;
    partition.label = slot;
    if (slot > this.#parts.confirmedSlot()) this.#ahead += 1;
    if (slot > this.#parts.newestSlot()) {
      this.#parts.violated('no processed label ahead of the chain', String(slot));
    } else if (this.#parts.isExact()) this.#compare(number, partition, slot);
  }

  /** Records of the next slot may stand before the label: each text is then that of the slot, or of one up to the newest record. */
  #compare(number: number, { books, slot: newest }: Partition, slot: number): void {
    let nearest: readonly Difference[] | null = null;
    for (const layers of this.#parts.truth.processed(slot)) {
      const [base] = layers;
      const isLayer = (key: string, mine: string | undefined) => layers.some((one) => one.get(key) === mine);
      const differing = base === undefined ? [] : books.differences(base, this.#isOf(number));
      const wrong = differing.filter(({ key, mine }) => !isLayer(key, mine) && !this.#isOther(key, mine, slot, newest));
      if (wrong.length === 0) return;
      // The winning fork comes last.
      if (nearest === null || wrong.length <= nearest.length) nearest = wrong;
    }
    const [first] = nearest ?? [];
    if (first !== undefined)
      this.#parts.violated(
        'the processed book at each slot',
        `slot ${slot}: ${differenceText(first)} (${nearest?.length} differences from the nearest fork)`,
      );
  }

  #isOther(key: string, mine: string | undefined, slot: number, newest: number): boolean {
    for (let later = slot + 1; later <= newest; later++) {
      if (this.#parts.truth.processed(later).some((layers) => layers.some((one) => one.get(key) === mine))) return true;
    }
    return false;
  }

  #expect(lost: Lost): void {
    this.#expectWithdrawal(lost);
    const held = this.#partitions.flatMap((partition, number) => this.#heldIn(partition, number, lost, ''));
    if (held.length === 0) return;
    const before = new Map(held.map(({ partition }) => [partition, partition.reverts.length]));
    const process = this.#parts.process();
    this.#parts.after(UNDO_MS, () => {
      if (this.#parts.process() !== process) return;
      this.#undone += 1;
      const where = `slots ${lost.fromSlot} to ${lost.toSlot}`;
      const stays = held.find(({ partition, key, text }) => partition.books.text(key) === text);
      if (stays !== undefined && !this.#isTrue(stays, lost))
        this.#parts.violated('a revert within a slot', `${where}: ${stays.key} is still ${stays.text ?? 'removed'}`);
      for (const [{ reverts }, count] of before) {
        const isNamed = reverts.slice(count).some((slot) => slot <= lost.toSlot);
        if (!isNamed) this.#parts.violated('an undo has its name', `${where}: no BookRevert`);
      }
    });
  }

  #expectWithdrawal({ fromSlot, toSlot }: Lost): void {
    const fills = this.fills.lost(fromSlot, toSlot);
    if (fills.length === 0) return;
    const process = this.#parts.process();
    this.#parts.after(UNDO_MS, () => {
      const stays = fills.find((fill) => this.fills.stands(fill));
      if (stays !== undefined && this.#parts.process() === process)
        this.#parts.violated(
          'a withdrawal within a slot',
          `slots ${fromSlot} to ${toSlot}: a fill of ${stays.slot} stands`,
        );
    });
  }

  /** State that came only from lost blocks, by key prefix: texts, and orders that were removed since. */
  #heldIn(partition: Partition, number: number, lost: Branch, prefix: string): Held[] {
    const { books } = partition;
    const keys = new Set(
      [lost.base, ...lost.states].flatMap((states) => [...states.keys()].filter((key) => key.startsWith(prefix))),
    );
    return [...keys].flatMap((key) => {
      const text = books.text(key);
      const isKnown = text !== undefined || books.removedSlot(key) >= lost.fromSlot;
      const isOurs = this.#isOf(number)(key.slice(0, key.indexOf(' ')));
      if (!isKnown || !isOurs || !lost.states.some((states) => states.get(key) === text)) return [];
      const held = { partition, key, text };
      return lost.base.get(key) === text || this.#isTrue(held, lost) ? [] : [held];
    });
  }

  /** Whether the winning chain had this text since, or a later block that the nodes followed: two dead blocks may write the same. */
  #isTrue({ key, text }: Held, { fromSlot, toSlot }: Branch): boolean {
    return this.#parts.truth.isFollowedSince(toSlot, key, text) || this.#isWinning(key, text, fromSlot);
  }

  /** Whether the winning chain had this text at a slot or later. */
  #isWinning(key: string, text: string | undefined, fromSlot: number): boolean {
    for (let slot = fromSlot; slot <= this.#parts.newestSlot(); slot++)
      if (this.#parts.truth.states(slot)?.get(key) === text) return true;
    return false;
  }
}
