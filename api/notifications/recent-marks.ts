// Newest read marks and deliveries, which the store may not have yet. A mark of this process shows at once.

import bs58 from 'bs58';
import { type EventLog, type LogBatch, type Logger, TopicFollower } from '../../platform/index.ts';
import { decodeMessage, encodeMessage, type NotificationRead, TOPICS } from '../../schemas/index.ts';
import { followAlways, nextOffsets } from '../views/follow.ts';

const TOPIC = TOPICS.notificationMarks;
/** Marks kept, of all wallets; the store has them about a second after the log: about 20 MB. */
const MARKS_MAX = 100_000;

/** Newest state of one notification of one wallet. */
export interface Mark {
  isRead: boolean;
  delivery: { readonly status: string; readonly version: number; readonly atMs: number } | null;
}

export class RecentMarks {
  readonly #log: EventLog;
  readonly #logger: Logger;
  readonly #byWallet = new Map<string, Map<string, Mark>>();
  /** Wallet and id of every mark, oldest first. */
  readonly #order: { readonly authority: string; readonly id: string }[] = [];
  readonly #max: number;
  readonly #follower = new TopicFollower();
  #dropped = 0;

  constructor({
    log,
    logger,
    max = MARKS_MAX,
  }: { readonly log: EventLog; readonly logger: Logger; readonly max?: number }) {
    this.#log = log;
    this.#logger = logger;
    this.#max = max;
  }

  /** Follows the topic from its present end. Rejects when the log cannot be read. */
  async start(): Promise<void> {
    const [log, logger] = [this.#log, this.#logger];
    await log.ensureTopics([TOPIC]);
    const from = await nextOffsets(log, TOPIC);
    const take = ({ records }: LogBatch): void => {
      for (const { value } of records) this.#take(value);
    };
    followAlways(this.#follower, { log, logger, topic: TOPIC, from, take });
  }

  /** Settles when following ends. */
  get done(): Promise<void> {
    return this.#follower.done;
  }

  stop(): Promise<void> {
    return this.#follower.stop();
  }

  /** By notification id, the mark that changed last at the end. */
  of(authority: string): ReadonlyMap<string, Readonly<Mark>> {
    return this.#byWallet.get(authority) ?? new Map();
  }

  /** Resolves when the mark is in the log. */
  async read(mark: NotificationRead): Promise<void> {
    const value = encodeMessage('NotificationRead', mark);
    await this.#log.append(TOPIC, [{ key: bs58.encode(mark.authority), value }]);
    this.#take(value);
  }

  #take(bytes: Uint8Array): void {
    try {
      const { name, value } = decodeMessage(bytes);
      if (name === 'NotificationRead') this.#mark(value.authority, value.id).isRead = true;
      else if (name === 'NotificationDelivery') {
        const mark = this.#mark(value.authority, value.id);
        if (value.version >= (mark.delivery?.version ?? 0)) mark.delivery = value;
      }
    } catch (error) {
      this.#logger.warn({ topic: TOPIC.name, error: String(error) }, 'unreadable record');
    }
  }

  #mark(key: Uint8Array, id: string): Mark {
    const authority = bs58.encode(key);
    const marks = this.#byWallet.get(authority) ?? new Map<string, Mark>();
    this.#byWallet.set(authority, marks);
    const known = marks.get(id);
    const mark = known ?? { isRead: false, delivery: null };
    marks.delete(id); // Keeps insertion order equal to age.
    marks.set(id, mark);
    if (!known) {
      this.#order.push({ authority, id });
      this.#trim();
    }
    return mark;
  }

  #trim(): void {
    while (this.#order.length - this.#dropped > this.#max) {
      const { authority, id } = this.#order[this.#dropped] ?? { authority: '', id: '' };
      const marks = this.#byWallet.get(authority);
      marks?.delete(id);
      if (marks?.size === 0) this.#byWallet.delete(authority);
      this.#dropped += 1;
    }
    if (this.#dropped < this.#max) return;
    this.#order.splice(0, this.#dropped);
    this.#dropped = 0;
  }
}
