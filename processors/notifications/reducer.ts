// Events and margins in, notifications out. An event waits until the wallet of its account is known. That wallet never changes,
// so the order in which both topics arrive changes no notification.

import bs58 from 'bs58';
import { decodeMessage, keyText, type Notification, notificationId, type PartialEvent } from '../../schemas/index.ts';
import { piecesOf, type StatePiece } from '../follow/pieces.ts';
import { SeenEvents } from '../trades/seen.ts';
import { AccountBook } from './accounts.ts';
import { type Cause, causesOf, decodeCause, placeOf } from './causes.ts';

/** Events that wait for the wallet of an account. Beyond it the oldest are given up. */
export const WAITING_MAX = 10_000;

const WAITING = 'waiting:';
const SEEN = 'seen:';

export interface NotificationSettings {
  /** Least funding payment that is notified, quote 1e6. */
  readonly fundingMin: bigint;
  /** Partitions of `events`. */
  readonly partitions: number;
}

interface Waiting {
  /** Key of the account. */
  readonly account: string;
  readonly bytes: Uint8Array;
}

export class NotificationReducer {
  readonly #settings: NotificationSettings;
  readonly accounts = new AccountBook();
  readonly #seen: readonly SeenEvents[];
  /** By event and account, oldest first. */
  readonly #waiting = new Map<string, Waiting>();
  readonly #changes = new Map<string, Uint8Array | null>();
  /** Number of the next event that waits. */
  #next = 0;
  #droppedEvents = 0;

  constructor(settings: NotificationSettings) {
    this.#settings = settings;
    this.#seen = Array.from({ length: settings.partitions }, () => new SeenEvents());
  }

  /** Number of events that wait. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Number of events given up because too many wait. */
  get dropped(): number {
    return this.#droppedEvents;
  }

  /** Applies a record of `events`. Throws SchemaError for bytes that are no event. */
  event(partition: number, bytes: Uint8Array): readonly Notification[] {
    const event = decodeCause(bytes);
    if (event === null) return [];
    if (event.name === 'NewUserRecord') return this.#opened(event);
    const causes = this.#causesOf(event);
    if (causes.length === 0) return [];
    const { signature, event_index: index } = event.data;
    if (this.#seen[partition]?.add(signature as Uint8Array, Number(index)) === false) return [];
    const place = placeReader(event);
    const found: Notification[] = [];
    /** An account on both sides of a fill waits once. */
    const waiting = new Map<string, Uint8Array>();
    for (const cause of causes) {
      const authority = cause.authority ?? this.accounts.authorityOf(cause.user);
      if (authority !== null) found.push(notificationOf(place(), cause, authority));
      else waiting.set(keyText(cause.user), cause.user);
    }
    for (const user of waiting.values()) this.#wait(user, bytes);
    return found;
  }

  /** Applies a record of `margin`. Throws SchemaError for bytes that are no message. */
  margin(bytes: Uint8Array): readonly Notification[] {
    const { name, value } = decodeMessage(bytes);
    if (name === 'AccountMargin') return this.accounts.account(value) ? this.#released(value.user) : [];
    if (name === 'MarketMargin') this.accounts.market(value);
    else if (name === 'MarginBegin') this.accounts.begin();
    else if (name === 'MarginTime') return this.accounts.time(value);
    return [];
  }

  /** Pieces of state changed since the last call. */
  takeChanges(): StatePiece[] {
    const pieces: StatePiece[] = [...this.#changes].map(([name, bytes]) => ({ name, bytes }));
    this.#changes.clear();
    for (const [partition, seen] of this.#seen.entries()) {
      for (const { name, bytes } of seen.takeChanges()) pieces.push({ name: `${SEEN}${partition}:${name}`, bytes });
    }
    return [...pieces, ...this.accounts.takeChanges()];
  }

  /** Restores pieces of `takeChanges`. */
  restore(state: ReadonlyMap<string, Uint8Array>): void {
    const own = (prefix: string) => piecesOf(state, prefix);
    this.accounts.restore(own(''));
    for (const [partition, seen] of this.#seen.entries()) seen.restore(own(`${SEEN}${partition}:`));
    for (const { name, bytes } of own(WAITING).sort(byNumber)) {
      const [, user = ''] = name.split(':');
      this.#waiting.set(name, { account: keyText(bs58.decode(user)), bytes });
    }
    this.#next = Number([...this.#waiting.keys()].at(-1)?.split(':', 1)[0] ?? -1) + 1;
  }

  #causesOf(event: PartialEvent): readonly Cause[] {
    const baseDecimalsOf = (type: unknown, index: unknown) => this.accounts.baseDecimalsOf(type, index);
    return causesOf(event, { fundingMin: this.#settings.fundingMin, baseDecimalsOf });
  }

  #opened({ data }: PartialEvent): readonly Notification[] {
    const { user, user_authority: authority } = data;
    if (!(user instanceof Uint8Array) || !(authority instanceof Uint8Array)) return [];
    return this.accounts.learn(user, authority) ? this.#released(user) : [];
  }

  #wait(user: Uint8Array, bytes: Uint8Array): void {
    const name = `${this.#next++}:${bs58.encode(user)}`;
    this.#waiting.set(name, { account: keyText(user), bytes });
    this.#changes.set(WAITING + name, bytes);
    for (const oldest of this.#waiting.keys()) {
      if (this.#waiting.size <= WAITING_MAX) break;
      this.#drop(oldest);
      this.#droppedEvents += 1;
    }
  }

  #drop(name: string): void {
    this.#waiting.delete(name);
    this.#changes.set(WAITING + name, null);
  }

  /** Notifications of the events that waited for this account. */
  #released(user: Uint8Array): readonly Notification[] {
    if (this.#waiting.size === 0) return [];
    const account = keyText(user);
    const authority = this.accounts.authorityOf(user);
    const found: Notification[] = [];
    for (const [name, waiting] of this.#waiting) {
      if (waiting.account !== account || authority === null) continue;
      this.#drop(name);
      const event = decodeCause(waiting.bytes);
      if (event === null) continue;
      const place = placeReader(event);
      for (const cause of this.#causesOf(event)) {
        if (keyText(cause.user) === account) found.push(notificationOf(place(), cause, authority));
      }
    }
    return found;
  }
}

const byNumber = (a: { readonly name: string }, b: { readonly name: string }): number =>
  Number.parseInt(a.name, 10) - Number.parseInt(b.name, 10);

type Place = ReturnType<typeof placeOf>;

/** Reads the place of an event once: base58 of a signature costs more than all the rest. */
function placeReader(event: PartialEvent): () => Place {
  let place: Place | null = null;
  return () => {
    place ??= placeOf(event);
    return place;
  };
}

function notificationOf(place: Place, cause: Cause, authority: Uint8Array): Notification {
  const { user, type, title, body, data, mark } = cause;
  const identity = `${place.txSig}:${place.txSigIndex}:${bs58.encode(user)}:${type}${mark}`;
  return {
    id: notificationId(place.ts, identity),
    authority,
    user,
    type,
    title,
    body,
    data: JSON.stringify({ ...data, ...place }),
    slot: place.slot,
    ts: place.ts,
  };
}
