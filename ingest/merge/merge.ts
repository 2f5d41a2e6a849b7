// Merges the updates of several sources of one chain: the leader's pass, a follower's wait until the leader's slots are complete.
// Pure: no clock, no I/O.

import { changed } from '../packed-update.ts';
import type {
  AccountUpdate,
  ProgressNotice,
  ResumePoint,
  SlotUpdate,
  SourceUpdate,
  TimeUpdate,
  TransactionLogs,
} from '../source.ts';
import { Copies } from './copies.ts';
import { type CandidateState, Leadership } from './leadership.ts';

/** Slots of a follower's updates in memory, as many as the reference gRPC server replays. */
const HELD_SLOTS_MAX = 150;
/** Limit of a follower's waiting updates: as in a gRPC replay. */
const HELD_MAX = 200_000;
/** Bits of a source's own write version. The number of the leadership stands above: versions of two servers do not compare. */
const VERSION_BITS = 128n;

type Held = AccountUpdate | SlotUpdate | TimeUpdate;

/** Work that the reducer leaves to its caller. */
export interface Merged {
  readonly updates: SourceUpdate[];
  /** Sources that must read all accounts anew: nobody leads, and they cannot continue the books. */
  readonly restarts: number[];
}

export type MergeRole = 'leader' | 'follower' | 'down';

class Member {
  /** Newest complete slot; -1 before the first. */
  label = -1;
  /** Newest slot of its complete read: later changes have all been delivered. Null without a read. */
  coversFrom: number | null = null;
  isConnected = false;
  /** Newest slot of a read that is under way; null outside. */
  reading: number | null = null;
  /** Whether it contradicted the chain: it never leads. */
  isLying = false;
  /** Whether it names the place of transactions in their blocks. */
  isIndexing = false;
  held: Held[] = [];

  disconnect(): void {
    this.coversFrom = null;
    this.isConnected = false;
    this.reading = null;
    this.held = [];
  }
}

export class Merge {
  readonly #members: readonly Member[];
  readonly #leadership: Leadership;
  readonly #copies = new Copies();
  #leader: number | null = null;
  /** The leader's connection is lost, and no follower could take over. */
  #isLeaderLost = false;
  /** Whether a complete read passes: only its end, or another read, makes the accounts whole again. */
  #isReading = false;
  #resume: ResumePoint | null = null;
  /** Number of the leadership. */
  #term = 0n;
  /** Newest slot whose label passed. */
  #label = -1;
  /** Newest slot of the accounts that passed, and of those that passed under earlier leaders. */
  #dataSlot = -1;
  #earlierSlot = -1;
  #finalSlot = -1;
  #out: Merged = { updates: [], restarts: [] };

  constructor(sources: number) {
    this.#members = Array.from({ length: sources }, () => new Member());
    this.#leadership = new Leadership(sources);
  }

  /** Newest complete slot of the merged stream; -1 before the first. */
  get label(): number {
    return this.#label;
  }

  get leader(): number | null {
    return this.#leader;
  }

  role(source: number): MergeRole {
    if (source === this.#leader && !this.#isLeaderLost) return 'leader';
    return this.#members[source]?.isConnected ? 'follower' : 'down';
  }

  labelOf(source: number): number {
    return this.#members[source]?.label ?? -1;
  }

  /** The next update of a source. */
  take(source: number, update: SourceUpdate): Merged {
    return this.#step(() => this.#apply(source, this.#member(source), update));
  }

  /** The arbiter proved that the source lies. Another one leads if it can continue the books. */
  exclude(source: number): Merged {
    return this.#step(() => {
      const member = this.#member(source);
      member.isLying = true;
      if (source === this.#leader) this.#replace();
    });
  }

  #member(source: number): Member {
    const member = this.#members[source];
    if (!member) throw new RangeError(`no source ${source}`);
    return member;
  }

  #step(run: () => void): Merged {
    this.#out = { updates: [], restarts: [] };
    run();
    return this.#out;
  }

  #apply(source: number, member: Member, update: SourceUpdate): void {
    const isLeader = source === this.#leader;
    switch (update.kind) {
      case 'account':
        this.#account(isLeader, member, update);
        break;
      case 'transaction':
        this.#transaction(isLeader, member, update);
        break;
      case 'slot':
        this.#slot(source, member, update);
        break;
      case 'time':
        if (isLeader) this.#pass(update);
        else this.#hold(member, update);
        break;
      case 'final':
        if (update.slot > this.#finalSlot) this.#pass(update);
        this.#finalSlot = Math.max(this.#finalSlot, update.slot);
        break;
      case 'snapshotBegin':
        this.#begin(source, member, update);
        break;
      case 'snapshotEnd':
        this.#end(source, member, update);
        break;
      case 'reconnect':
        this.#lost(source, member, update);
        break;
      case 'continued':
        this.#continued(source, member, update);
        break;
      case 'gap':
        // Data that no node has any more is lost for every source.
        if (isLeader || this.#leader === null || update.isLasting) this.#pass(update);
        break;
      case 'progress':
        if (isLeader) this.#progress(update);
        break;
      case 'garbage':
        this.#pass(update);
        break;
    }
  }

  #pass(update: SourceUpdate): void {
    this.#out.updates.push(update);
  }

  #account(isLeader: boolean, member: Member, update: AccountUpdate): void {
    if (member.reading !== null) member.reading = Math.max(member.reading, update.slot);
    if (isLeader) this.#passAccount(update);
    else if (member.reading === null) this.#hold(member, update);
  }

  #passAccount(update: AccountUpdate): void {
    const { slot, writeVersion } = update;
    this.#dataSlot = Math.max(this.#dataSlot, slot);
    this.#pass(
      writeVersion === null ? update : changed(update, { writeVersion: (this.#term << VERSION_BITS) | writeVersion }),
    );
  }

  /** Every source delivers each transaction in the end. One copy of it passes. */
  #transaction(isLeader: boolean, member: Member, update: TransactionLogs): void {
    member.isIndexing ||= update.blockIndex !== null;
    const leader = this.#leader === null || isLeader || this.#isLeaderLost ? null : this.#member(this.#leader);
    const complete = Math.max(this.#label, this.#resume?.slot ?? -1);
    for (const copy of this.#copies.take(update, complete, leader?.isIndexing ?? false)) this.#pass(copy);
  }

  /** No copy waits below a complete slot or the resume point. */
  #passCopies(slot: number): void {
    for (const copy of this.#copies.until(slot)) this.#pass(copy);
  }

  #slot(source: number, member: Member, update: SlotUpdate): void {
    member.label = Math.max(member.label, update.slot);
    if (source === this.#leader) this.#passLabel(update);
    else this.#hold(member, update);
    this.#considered(source);
  }

  #passLabel(update: SlotUpdate): void {
    if (update.slot <= this.#label || this.#isPassed(update.slot)) return;
    this.#label = update.slot;
    this.#passCopies(update.slot);
    this.#pass(update);
    for (const [source, member] of this.#members.entries()) {
      if (source !== this.#leader) member.held = member.held.filter(({ slot }) => slot > this.#label);
    }
  }

  /** Whether an earlier leader sent changes of a later slot: this one can have no exact label. A slot far ahead was a lie. */
  #isPassed(slot: number): boolean {
    return slot < this.#earlierSlot && slot >= this.#earlierSlot - HELD_SLOTS_MAX;
  }

  /**
   * Keeps a follower's update until the leader's slot is complete. An update that falls out makes the follower unfit until
   * then.
   */
  #hold(member: Member, update: Held): void {
    if (update.slot <= this.#label) return;
    member.held.push(update);
    const oldest = member.held[0]?.slot ?? update.slot;
    if (update.slot - oldest <= HELD_SLOTS_MAX && member.held.length <= HELD_MAX) return;
    const from = Math.max(update.slot - HELD_SLOTS_MAX / 2, oldest + 1);
    member.held = member.held.filter(({ slot }) => slot > from);
    if (member.held.length > HELD_MAX) member.held = [];
    if (member.coversFrom !== null) member.coversFrom = Math.max(member.coversFrom, from, update.slot - 1);
  }

  #begin(source: number, member: Member, update: SourceUpdate & { kind: 'snapshotBegin' }): void {
    member.reading = update.slot;
    member.isConnected = true;
    if (this.#mayLead(source, member)) this.#lead(source);
    if (source !== this.#leader) return;
    this.#isReading = true;
    this.#pass(update);
  }

  #end(source: number, member: Member, update: SourceUpdate & { kind: 'snapshotEnd' }): void {
    member.coversFrom = Math.max(update.slot, member.reading ?? update.slot);
    member.reading = null;
    if (source !== this.#leader) return;
    this.#isLeaderLost = false;
    this.#isReading = false;
    this.#pass(update);
  }

  #lost(source: number, member: Member, update: SourceUpdate & { kind: 'reconnect' }): void {
    member.disconnect();
    this.#leadership.lost(source);
    if (this.#leader === null) this.#pass(update);
    if (source !== this.#leader || this.#isLeaderLost) return;
    this.#isLeaderLost = true;
    if (this.#replace()) return;
    this.#passCopies(Number.POSITIVE_INFINITY);
    this.#pass(update);
    for (const [index, one] of this.#members.entries()) if (one.isConnected) this.#out.restarts.push(index);
  }

  #continued(source: number, member: Member, update: SourceUpdate & { kind: 'continued' }): void {
    member.coversFrom = update.slot;
    member.isConnected = true;
    if (this.#mayLead(source, member)) {
      if (this.#isFit(member)) this.#take(source);
      // Its stream is healthy, so it never reads by itself.
      else this.#out.restarts.push(source);
    }
    if (source !== this.#leader) return;
    this.#isLeaderLost = false;
    this.#pass(update);
  }

  /** Nobody leads, and this source can. */
  #mayLead(source: number, { isLying }: Member): boolean {
    const isVacant = this.#leader === null || (this.#isLeaderLost && source !== this.#leader);
    return isVacant && !(isLying && this.#hasHonest);
  }

  /** Another leader may have listed fewer transactions than the one before. */
  #progress(update: ProgressNotice): void {
    const { slot, chain } = update.resume;
    if (this.#resume !== null && this.#resume.chain === chain && slot < this.#resume.slot) return;
    this.#resume = update.resume;
    this.#passCopies(slot);
    this.#pass(update);
  }

  /** Another source leads when it was better for long, or the leader fell behind. */
  #considered(source: number): void {
    if (this.#leader === null || this.#isLeaderLost) return;
    if (this.#member(this.#leader).isLying && this.#replace()) return;
    const better = this.#leadership.completed(source, this.#leader, this.#candidates());
    if (better !== null) this.#take(better);
  }

  #candidates(): CandidateState[] {
    return this.#members.map((member) => ({ label: member.label, isFit: this.#isFit(member) }));
  }

  /** A fit source has delivered every change since the newest complete slot. */
  #isFit({ coversFrom, isLying }: Member): boolean {
    return !isLying && !this.#isReading && coversFrom !== null && coversFrom <= this.#label;
  }

  get #hasHonest(): boolean {
    return this.#members.some(({ isLying }) => !isLying);
  }

  /** True when a follower leads instead of a leader that is lost or lies. */
  #replace(): boolean {
    const fit = this.#members.flatMap((member, source) =>
      source !== this.#leader && this.#isFit(member) ? [{ source, label: member.label }] : [],
    );
    const [best] = fit.sort((a, b) => b.label - a.label);
    if (best) this.#take(best.source);
    return best !== undefined;
  }

  /** A follower leads: its changes since the newest complete slot follow, and nothing goes back. */
  #take(source: number): void {
    const member = this.#member(source);
    const { held } = member;
    member.held = [];
    this.#lead(source);
    for (const update of held) {
      if (update.kind === 'account') this.#passAccount(update);
      else if (update.kind === 'slot') this.#passLabel(update);
      else this.#pass(update);
    }
  }

  #lead(source: number): void {
    this.#leader = source;
    this.#isLeaderLost = false;
    this.#earlierSlot = this.#dataSlot;
    this.#term += 1n;
    this.#leadership.began();
    this.#member(source).held = [];
  }
}
