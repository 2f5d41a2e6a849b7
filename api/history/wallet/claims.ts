// One use of each signature, in all processes: a process appends a claim to the log, and the first claim of a signature counts.
// The view holds only digests, and only while their messages are fresh.

import { createHash, randomUUID } from 'node:crypto';
import { type EventLog, type LogBatch, type Logger, TopicFollower } from '../../../platform/index.ts';
import { decodeMessage, encodeMessage, type SignatureClaim, TOPICS } from '../../../schemas/index.ts';
import { HistoryError } from '../../http/errors.ts';
import { followAlways } from '../../views/follow.ts';
import { MAX_AGE_S, MAX_AHEAD_S } from './signed-headers.ts';

const TOPIC = TOPICS.signatureClaims;
const PARTITION = 0;
/** About 50 writes a second for the longest window, and 40 MB. A full view refuses writes: it must not forget a signature. */
const MAX_CLAIMS = 200_000;
/** A claim is kept this long beyond its expiry, in case the wall clock steps back. */
const KEPT_S = MAX_AHEAD_S;
const SWEEP_EVERY_S = 60;
/** How long a request waits for its own claim to come back from the log. */
const TIMEOUT_MS = 5000;

export interface ClaimParts {
  readonly log: EventLog;
  readonly logger: Logger;
  /** Wall clock, unix seconds. */
  readonly now: () => number;
  /** For tests. */
  readonly maxClaims?: number;
  readonly timeoutMs?: number;
}

interface Held {
  readonly claim: string;
  readonly expiresS: number;
}

export class SignatureClaims {
  readonly #parts: ClaimParts;
  readonly #maxClaims: number;
  readonly #follower = new TopicFollower();
  /** First claim by digest (hex). */
  readonly #claims = new Map<string, Held>();
  /** Claims of this process that the log has not returned. */
  readonly #pending = new Map<string, (isFirst: boolean) => void>();
  #sweptS = 0;

  constructor(parts: ClaimParts) {
    this.#parts = parts;
    this.#maxClaims = parts.maxClaims ?? MAX_CLAIMS;
  }

  /** Signatures whose window is open. */
  get size(): number {
    return this.#claims.size;
  }

  async start(): Promise<void> {
    const { log, logger } = this.#parts;
    await log.ensureTopics([TOPIC]);
    const { earliest } = await log.bounds(TOPIC, PARTITION);
    const from = new Map([[PARTITION, earliest]]);
    const take = (batch: LogBatch) => this.#take(batch);
    followAlways(this.#follower, { log, logger, topic: TOPIC, from, take });
  }

  /** Settles when following ends. */
  get done(): Promise<void> {
    return this.#follower.done;
  }

  stop(): Promise<void> {
    return this.#follower.stop();
  }

  /**
   * Uses up a signature whose message has the time `ts`. Throws HistoryError: walletReplayed when any process used it before,
   * claimsAway when the log does not answer or the view is full. After claimsAway the signature may be used up.
   */
  async use(signature: Uint8Array, ts: number): Promise<void> {
    this.#sweep();
    const digest = createHash('sha256').update(signature).digest();
    if (this.#claims.has(digest.toString('hex'))) throw new HistoryError('walletReplayed');
    if (this.#claims.size + this.#pending.size >= this.#maxClaims) throw new HistoryError('claimsAway');
    const isFirst = await this.#append({ digest, claim: randomUUID(), expiresS: Math.ceil(ts) + MAX_AGE_S });
    if (!isFirst) throw new HistoryError('walletReplayed');
  }

  /** Appends a claim. Resolves to whether it is the first of its digest, once it has come back. */
  async #append(claim: SignatureClaim): Promise<boolean> {
    const { log, timeoutMs = TIMEOUT_MS } = this.#parts;
    let timer: NodeJS.Timeout | undefined;
    const answer = new Promise<boolean>((resolve, reject) => {
      this.#pending.set(claim.claim, resolve);
      timer = setTimeout(() => reject(new HistoryError('claimsAway')), timeoutMs);
    });
    const key = Buffer.from(claim.digest).toString('hex');
    const appended = log.append(TOPIC, [{ key, value: encodeMessage('SignatureClaim', claim) }]).then(() => answer);
    try {
      return await Promise.race([appended, answer]);
    } catch (cause) {
      if (cause instanceof HistoryError) throw cause;
      throw new HistoryError('claimsAway', undefined, { cause });
    } finally {
      appended.catch(() => {});
      clearTimeout(timer);
      this.#pending.delete(claim.claim);
    }
  }

  #take({ records }: LogBatch): void {
    for (const { value, offset } of records) {
      const claim = this.#read(value, offset);
      if (claim) this.#put(claim);
    }
  }

  #read(value: Uint8Array, offset: bigint): SignatureClaim | null {
    try {
      const message = decodeMessage(value);
      if (message.name === 'SignatureClaim') return message.value;
    } catch (error) {
      const origin = `${TOPIC.name}/${PARTITION}/${offset}`;
      this.#parts.logger.warn({ origin, error: String(error) }, 'unreadable signature claim');
    }
    return null;
  }

  #put({ digest, claim, expiresS }: SignatureClaim): void {
    const key = Buffer.from(digest).toString('hex');
    const first = this.#claims.get(key);
    if (!first && !this.#isOver(expiresS)) this.#claims.set(key, { claim, expiresS });
    this.#pending.get(claim)?.((first?.claim ?? claim) === claim);
  }

  /** Whether every process refuses the message as expired. */
  #isOver(expiresS: number): boolean {
    return this.#parts.now() > expiresS + KEPT_S;
  }

  #sweep(): void {
    const nowS = this.#parts.now();
    const isFull = this.#claims.size >= this.#maxClaims;
    if (nowS - this.#sweptS < (isFull ? 1 : SWEEP_EVERY_S)) return;
    this.#sweptS = nowS;
    for (const [key, { expiresS }] of this.#claims) if (this.#isOver(expiresS)) this.#claims.delete(key);
  }
}
