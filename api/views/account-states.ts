// The newest states of builder accounts and insurance funds, which have no event, from topic `account.states`. Memory holds the
// newest states within a bound; others are read from the log again.

import { LRUCache } from 'lru-cache';
import { type EventLog, type Logger, type LogRecord, readToEnd, TopicFollower } from '../../platform/index.ts';
import { decodeMessage, type RevenueShareEscrowState, type RevenueShareState, TOPICS } from '../../schemas/index.ts';
import { readAndFollow } from './follow.ts';

const TOPIC = TOPICS.accountStates;
const PARTITION = 0;
/** Encoded states in memory: 100,000 wallets with a builder each, or 7,000 with all that an escrow holds. */
const BYTES_MAX = 32 * 1024 * 1024;
/** Map entry and key of a state. */
const ENTRY_BYTES = 200;

type Kind = 'RevenueShareState' | 'RevenueShareEscrowState';
type StateOf = { RevenueShareState: RevenueShareState; RevenueShareEscrowState: RevenueShareEscrowState };

/** Reads the whole topic. */
type ReadLog = (take: (record: Pick<LogRecord, 'value'>) => void) => Promise<unknown>;

interface Held {
  readonly slot: number;
  readonly bytes: Uint8Array;
}

/** Name of the state of a wallet. */
const nameOf = (kind: Kind, authority: Uint8Array): string => `${kind}:${Buffer.from(authority).toString('latin1')}`;

export class AccountStates {
  readonly #readLog: ReadLog;
  readonly #held: LRUCache<string, Held>;
  readonly #unstaking = new Map<number, bigint>();
  /** Whether the bound has put states out. */
  #isPartial = false;
  /** States that the next read of the log looks for. */
  #wanted = new Map<string, Held | null>();
  #nextRead: Promise<ReadonlyMap<string, Held | null>> | null = null;
  #reading: Promise<unknown> = Promise.resolve();

  constructor({
    readLog = async () => {},
    bytesMax = BYTES_MAX,
  }: { readonly readLog?: ReadLog; readonly bytesMax?: number } = {}) {
    this.#readLog = readLog;
    this.#held = new LRUCache({
      maxSize: bytesMax,
      sizeCalculation: ({ bytes }) => bytes.length + ENTRY_BYTES,
      dispose: (_, __, reason) => {
        if (reason === 'evict') this.#isPartial = true;
      },
    });
  }

  /** Earnings of a wallet as a builder; null without such an account. Rejects when the log is away. */
  revenueShare(authority: Uint8Array): Promise<RevenueShareState | null> {
    return this.#find('RevenueShareState', authority);
  }

  /** The builders that a wallet approved; null without such an account. Rejects when the log is away. */
  escrow(authority: Uint8Array): Promise<RevenueShareEscrowState | null> {
    return this.#find('RevenueShareEscrowState', authority);
  }

  /** Seconds; null while the market's account is unknown. */
  unstakingPeriod(spotMarketIndex: number): bigint | null {
    return this.#unstaking.get(spotMarketIndex) ?? null;
  }

  /** Applies a record of the topic. Ignores one that is older than its account's. Throws SchemaError. */
  put(bytes: Uint8Array): void {
    const { name, value } = decodeMessage(bytes);
    if (name === 'InsuranceFundState') this.#unstaking.set(value.marketIndex, value.unstakingPeriod);
    else if (name === 'RevenueShareState' || name === 'RevenueShareEscrowState') {
      const key = nameOf(name, value.authority);
      this.#held.set(key, newer(this.#held.peek(key) ?? null, { slot: value.slot, bytes }));
      // A state beyond the bound by itself is not taken at all.
      if (!this.#held.has(key)) this.#isPartial = true;
    }
  }

  async #find<K extends Kind>(kind: K, authority: Uint8Array): Promise<StateOf[K] | null> {
    const name = nameOf(kind, authority);
    const held = this.#held.get(name) ?? (this.#isPartial ? await this.#fromLog(name) : null);
    return held === null ? null : (decodeMessage(held.bytes).value as StateOf[K]);
  }

  /** One read of the log at a time. It finds the states of all who waited for it. */
  async #fromLog(name: string): Promise<Held | null> {
    this.#wanted.set(name, null);
    this.#nextRead ??= this.#reading.then(() => this.#read());
    const found = await this.#nextRead;
    return newer(this.#held.get(name) ?? null, found.get(name) ?? null);
  }

  #read(): Promise<ReadonlyMap<string, Held | null>> {
    const wanted = this.#wanted;
    this.#wanted = new Map();
    this.#nextRead = null;
    const read = this.#readLog(({ value: bytes }) => {
      const state = stateOf(bytes);
      if (state && wanted.has(state.name)) wanted.set(state.name, newer(wanted.get(state.name) ?? null, state));
    });
    this.#reading = read.catch(() => {});
    return read.then(() => wanted);
  }
}

/** A builder account's state; null for any other record. */
function stateOf(bytes: Uint8Array): (Held & { readonly name: string }) | null {
  try {
    const { name, value } = decodeMessage(bytes);
    if (name !== 'RevenueShareState' && name !== 'RevenueShareEscrowState') return null;
    return { name: nameOf(name, value.authority), slot: value.slot, bytes };
  } catch {
    // The follower has reported it.
    return null;
  }
}

function newer<T extends Held | null>(held: Held | null, next: T): T | Held {
  return held !== null && (next === null || held.slot > next.slot) ? held : next;
}

export interface RunningAccountStates {
  readonly states: AccountStates;
  /** Settles when following ends. */
  readonly done: Promise<void>;
  stop(): Promise<void>;
}

/** Resolves when the log is read to its end. Rejects when the log cannot be read. */
export async function followAccountStates({
  log,
  logger,
}: {
  readonly log: EventLog;
  readonly logger: Logger;
}): Promise<RunningAccountStates> {
  const place = { log, topic: TOPIC, partition: PARTITION };
  const states = new AccountStates({ readLog: (take) => readToEnd(place, take) });
  const follower = new TopicFollower();
  const take = ({ value, offset }: Pick<LogRecord, 'value' | 'offset'>): void => {
    try {
      states.put(value);
    } catch (error) {
      logger.warn({ origin: `${TOPIC.name}/${PARTITION}/${offset}`, error: String(error) }, 'unreadable account state');
    }
  };
  await readAndFollow(follower, { log, logger, topic: TOPIC, take });
  return {
    states,
    done: follower.done,
    stop: () => follower.stop(),
  };
}
