// Keeps the transactions of a session complete: sweeps at the start and at every audit, and reports gaps and holes.
// A sweep that fails is repeated with the next audit; live transactions continue meanwhile.

import type { Logger } from '../../platform/index.ts';
import type { UpdateQueue } from '../queue.ts';
import type { GapNotice, SlotRange } from '../source.ts';
import type { AccountReader } from './account-reader.ts';
import type { BlockLists, Comparison } from './block-lists.ts';
import type { Endpoint } from './endpoint.ts';
import { RpcError } from './errors.ts';
import type { History, Sweep } from './history.ts';
import type { JsonRpc } from './json-rpc.ts';

/** Slots that a live notification may lag before its transaction counts as missed. */
const AUDIT_LAG_SLOTS = 8;
/** Resume point of a chain without transactions. */
const EMPTY_SLOT = 0;
/** Live transactions wait this long for the first sweep, so that most of them follow older ones. */
const FIRST_SWEEP_PATIENCE_MS = 5_000;
/** Audits in a row that find transactions while none is notified: the subscription is silent. */
const UNNOTIFIED_AUDITS_MAX = 4;
/** Failed comparisons with the list of blocks before sweeps go on without one: a minute of audits. */
const COMPARISONS_MAX = 12;
/** Milliseconds between two log lines about a long sweep. */
const PROGRESS_LOG_MS = 10_000;
/** Failed audits in a row after which blocks are compared again: the node that was whole may be gone, and another one ready. */
const COMPARED_AGAIN_FAILURES = 3;

export interface AuditParts {
  readonly rpc: Pick<JsonRpc, 'firstAvailableBlock'> & { readonly blockLists: Pick<BlockLists, 'compare'> };
  readonly history: History;
  readonly reader: Pick<AccountReader, 'counts'>;
  readonly queue: UpdateQueue;
  readonly logger: Logger;
  readonly signal: AbortSignal;
}

export class TransactionAudit {
  readonly #parts: AuditParts;
  /** Transactions since the last connection; null once they are complete. */
  #outage: SlotRange | null = null;
  /** Gap around transactions that the node lists but does not return yet. */
  #missing: SlotRange | null = null;
  /** Comparisons left until one succeeds. */
  #comparisons = COMPARISONS_MAX;
  /** The last one that found a whole node. */
  #compared: Comparison | null = null;
  #failures = 0;
  #unnotified = 0;
  #liveBefore = -1;
  #progressLoggedMs = performance.now();

  constructor(parts: AuditParts) {
    this.#parts = parts;
  }

  /** Runs the first sweep. Calls `release` when live transactions need no longer wait. Never rejects. */
  async begin(release: () => void): Promise<void> {
    const { history, queue } = this.#parts;
    const fromSlot = history.resume?.slot ?? 0;
    if (fromSlot > 0) this.#openOutage(fromSlot, fromSlot);
    const lost = await this.#lostBlocks().catch(() => null);
    if (lost !== null) queue.push(lost);
    let isReleased = false;
    const once = () => {
      if (!isReleased) release();
      isReleased = true;
    };
    const timer = setTimeout(once, FIRST_SWEEP_PATIENCE_MS);
    try {
      const sweep = await this.#sweep(0);
      if (lost !== null) this.#outage = null;
      // A first start has no gap: it reads its earlier history back.
      this.#conclude(fromSlot > 0 ? sweep : { ...sweep, found: 0 }, fromSlot);
      this.#deliverProgress();
    } catch (error) {
      this.#failed(error);
    } finally {
      clearTimeout(timer);
      once();
    }
  }

  /** One audit. Resolves with the reason to end the session, or null. Never rejects. */
  async turn(): Promise<string | null> {
    const { history } = this.#parts;
    const beforeSlot = history.resume?.slot ?? 0;
    // A stopped chain has no notifications on their way.
    const isMoving = history.liveSlot !== this.#liveBefore;
    this.#liveBefore = history.liveSlot;
    try {
      const sweep = await this.#sweep(isMoving ? AUDIT_LAG_SLOTS : 0);
      if (this.#failures > 0) this.#parts.logger.info({ after: this.#failures }, 'transactions are checked again');
      this.#failures = 0;
      this.#conclude(sweep, beforeSlot);
      this.#deliverProgress();
      this.#unnotified = sweep.found > 0 && !isMoving ? this.#unnotified + 1 : 0;
    } catch (error) {
      this.#failed(error);
    }
    return this.#unnotified >= UNNOTIFIED_AUDITS_MAX ? 'transactions are not notified' : null;
  }

  #openOutage(fromSlot: number, toSlot: number): void {
    this.#outage = { fromSlot, toSlot: Math.max(fromSlot, toSlot) };
    this.#parts.queue.push({ kind: 'gap', ...this.#outage, reason: 'not connected', filled: false });
  }

  /**
   * Reports gaps that opened or closed, and holes. Gaps are judged by the slots of the data, and none is closed beyond the
   * resume point: newer slots are not checked yet. `beforeSlot` is the resume point before the sweep.
   */
  #conclude({ found, missing, holes, isProven, cutSlot }: Sweep, beforeSlot: number): void {
    const { queue, history } = this.#parts;
    if (cutSlot !== null) {
      const reason = 'older history is not read';
      queue.push({ kind: 'gap', fromSlot: 0, toSlot: cutSlot, reason, filled: false, isLasting: true });
    }
    for (const hole of holes) queue.push({ kind: 'gap', ...hole, filled: false, isLasting: true });
    const reachedSlot = history.resume?.slot ?? 0;
    if (missing > 0) {
      const fromSlot = this.#missing?.fromSlot ?? reachedSlot;
      const toSlot = Math.max(fromSlot, this.#missing?.toSlot ?? 0, history.liveSlot);
      queue.push({ kind: 'gap', fromSlot, toSlot, filled: false, reason: `${missing} not available yet` });
      this.#missing = { fromSlot, toSlot };
      return;
    }
    if (!isProven && holes.length === 0) return;
    if (this.#outage !== null) {
      const toSlot = Math.max(this.#outage.toSlot, reachedSlot);
      queue.push({ kind: 'gap', ...this.#outage, toSlot, reason: 'not connected', filled: true });
    } else if (this.#missing !== null ? this.#missing.toSlot <= reachedSlot : found > 0) {
      const fromSlot = this.#missing?.fromSlot ?? beforeSlot;
      queue.push({ kind: 'gap', fromSlot, toSlot: reachedSlot, filled: true, reason: `${found} not notified` });
    }
    this.#outage = null;
    if (this.#missing !== null && this.#missing.toSlot <= reachedSlot) this.#missing = null;
  }

  /** Gap of blocks between the resume point and the nodes' first block: no node can return their transactions. */
  async #lostBlocks(): Promise<GapNotice | null> {
    const { history, rpc } = this.#parts;
    if (history.resume === null) return null;
    const fromSlot = history.resume.slot;
    const toSlot = await rpc.firstAvailableBlock();
    if (toSlot <= fromSlot + 1) return null;
    const reason = 'the node no longer has these blocks';
    return { kind: 'gap', fromSlot, toSlot, filled: false, reason, isLasting: true };
  }

  /**
   * Compares the blocks of the nodes. A list of signatures shows nothing of blocks that its node lost: it goes straight on to
   * those before. Where every node lost some, they are a gap. Nodes that refuse the list of blocks are believed.
   */
  async #compare(): Promise<void> {
    const { history, rpc, queue, logger, signal } = this.#parts;
    if (this.#comparisons === 0) return;
    this.#comparisons -= 1;
    try {
      const { resume } = history;
      if (resume !== null) {
        const compared = await rpc.blockLists.compare(resume.slot + 1, { commitment: 'confirmed', signal });
        if (compared.unanswered !== null && this.#comparisons > 0) throw compared.unanswered;
        if (compared.whole.size > 0) this.#compared = compared;
        const reason = 'the node lost these blocks at a jump to a newer snapshot';
        for (const jump of compared.jumps) queue.push({ kind: 'gap', ...jump, filled: false, reason, isLasting: true });
      }
    } catch (error) {
      const isLaterOfUse = !(error instanceof RpcError) || error.remedy === 'later';
      if (isLaterOfUse && this.#comparisons > 0) throw error;
      logger.warn({ err: error }, 'blocks not compared: what the node lost while it was away is not known');
    }
    this.#comparisons = 0;
  }

  /**
   * Beside a whole node, another one may list signatures once the resume point has passed the newest slot of all. One that named no
   * slot was not compared.
   */
  readonly #mayList = (endpoint: Endpoint): boolean => {
    if (this.#compared === null || this.#compared.whole.has(endpoint)) return true;
    const { tips } = this.#compared;
    return tips.has(endpoint) && (this.#parts.history.resume?.slot ?? 0) >= Math.max(...tips.values());
  };

  /** The first one of a session, when nodes may have been away, compares their blocks before the resume point moves. */
  async #sweep(lagSlots: number): Promise<Sweep> {
    const { history, queue, signal } = this.#parts;
    await this.#compare();
    return history.sweep(
      { lagSlots, emptySlot: EMPTY_SLOT, mayList: this.#mayList },
      async (transaction) => {
        if (!transaction.failed) queue.push(transaction);
        if (queue.isFull) await queue.drained();
      },
      signal,
      (done, total) => this.#progress(done, total),
    );
  }

  #progress(done: number, total: number): void {
    const nowMs = performance.now();
    if (nowMs < this.#progressLoggedMs + PROGRESS_LOG_MS) return;
    this.#progressLoggedMs = nowMs;
    this.#parts.logger.info({ done, total }, 'reading missed transactions');
  }

  #failed(error: unknown): void {
    if (this.#parts.signal.aborted) return;
    this.#failures += 1;
    if (this.#failures === 1) this.#parts.logger.warn({ err: error }, 'transactions not checked; live ones continue');
    this.#unchecked();
    if (this.#compared === null || this.#failures % COMPARED_AGAIN_FAILURES !== 0) return;
    this.#compared = null;
    this.#comparisons = COMPARISONS_MAX;
  }

  /** Reports slots that failed sweeps leave unchecked for long. The gap grows until a sweep moves the resume point past it. */
  #unchecked(): void {
    const { history, queue } = this.#parts;
    const isFirst = history.resume === null;
    const range = history.failed();
    if (range === null) return;
    if (isFirst) {
      const reason = 'older history is not read';
      queue.push({ kind: 'gap', fromSlot: 0, toSlot: range.fromSlot, reason, filled: false, isLasting: true });
    }
    queue.push({ kind: 'gap', ...range, reason: 'transactions not checked', filled: false });
    if (isFirst) this.#deliverProgress();
  }

  #deliverProgress(): void {
    const { history, queue, reader } = this.#parts;
    const { resume } = history;
    if (resume !== null) queue.push({ kind: 'progress', resume: { ...resume, accounts: reader.counts } });
  }
}
