// The book feed of the page: one connection, the books of the shown market, and what the page says about them.

import { batch, computed, type Signal, signal } from '@preact/signals';
import { type BookChoice, BookFeedClient, type BookKeeper } from '../../../client/index.ts';
import { addresses } from '../addresses.ts';
import { now } from './clock.ts';
import { notice } from './notices.ts';

export type BookLevel = 'l2' | 'l3';

export interface BookState {
  readonly market: string;
  readonly level: BookLevel;
  readonly keeper: BookKeeper;
  readonly epoch: number;
  readonly seq: number;
  readonly slot: number;
  /** Unix milliseconds at which the page received it. */
  readonly receivedAtMs: number;
  /** performance.now() of the same moment. */
  readonly receivedAt: number;
}

export type Connection =
  | { readonly is: 'connecting' }
  | { readonly is: 'open' }
  | { readonly is: 'lost'; readonly atMs: number; readonly reason: string };

export const connection = signal<Connection>({ is: 'connecting' });
/** Books of the shown market by level; null until a valid one arrives. */
export const books: Readonly<Record<BookLevel, Signal<BookState | null>>> = { l2: signal(null), l3: signal(null) };
/** True while a book that the page shows is known to be wrong. */
export const isAwaitingSnapshot = signal(false);
export const headSlot = signal<number | null>(null);
export const slotsBehind = signal<number | null>(null);
const slotAdvancedAtMs = signal(Date.now());
/** Seconds since any slot advanced. */
export const secondsWithoutSlot = computed(() => Math.max(0, now.value - slotAdvancedAtMs.value) / 1000);

let newestSlot = 0;
let wanted: readonly BookChoice[] = [];
/** Epochs by market and level. */
const epochs = new Map<string, number>();

const url = addresses.gateway;
/** One connection for everything from the gateway; null without an address. The views say so. */
export const feed = url === null ? null : new BookFeedClient({ url });
if (feed) {
  listen(feed);
  feed.connect();
}

/** Follows the books of one market; the books of another market end. */
export function followBooks(market: string, marketType: 'perp' | 'spot', levels: readonly BookLevel[]): void {
  const next: BookChoice[] = levels.map((level) => ({ market, marketType, level, checksum: true }));
  const isSame = (left: BookChoice, right: BookChoice) =>
    left.market === right.market && left.marketType === right.marketType && left.level === right.level;
  for (const choice of wanted) if (!next.some((one) => isSame(one, choice))) feed?.unsubscribe(choice);
  batch(() => {
    for (const level of ['l2', 'l3'] as const) {
      const isKept = books[level].value?.market === market && levels.includes(level);
      if (!isKept) books[level].value = null;
    }
    isAwaitingSnapshot.value = false;
  });
  const added = next.filter((choice) => !wanted.some((one) => isSame(one, choice)));
  wanted = [...wanted.filter((choice) => next.some((one) => isSame(one, choice))), ...added];
  for (const choice of added) feed?.subscribe(choice);
}

function listen(feed: BookFeedClient): void {
  feed.on('malformed', () => notice('malformed', 'A message of the gateway could not be read and was left out.'));
  feed.on('connected', () => {
    if (connection.value.is === 'lost') notice('connected', 'Connected again.');
    connection.value = { is: 'open' };
  });
  feed.on('disconnected', ({ code, reason }) => {
    const why = reason === '' ? `code ${code}` : reason;
    if (connection.value.is !== 'lost') notice('lost', `The connection to the gateway was lost (${why}).`);
    connection.value = { is: 'lost', atMs: Date.now(), reason: why };
  });
  feed.on('book', ({ keeper, message }) => {
    if (!('diff' in message)) snapshotReceived(keeper.market, keeper.level, message.epoch, message.slot);
    advance(message.slot);
    const isWanted = wanted.some(({ market, level }) => market === keeper.market && level === keeper.level);
    if (!isWanted) return;
    batch(() => {
      isAwaitingSnapshot.value = false;
      books[keeper.level].value = {
        ...{ market: keeper.market, level: keeper.level, keeper, receivedAtMs: Date.now() },
        ...{ epoch: message.epoch, seq: message.seq, slot: message.slot, receivedAt: performance.now() },
      };
    });
  });
  feed.on('gap', ({ stream, by }) => {
    isAwaitingSnapshot.value = true;
    const how = by === 'heartbeat' ? 'The heartbeat showed that a message is missing' : 'A message is missing';
    notice('gap', `${how} in ${stream}. A new snapshot is requested.`);
  });
  feed.on('mismatch', ({ stream, position }) => {
    isAwaitingSnapshot.value = true;
    notice('mismatch', `The checksum of ${stream} differs at sequence ${position.seq}. A new snapshot is requested.`);
  });
  feed.on('resumed', ({ stream, recovered, seq }) => {
    if (recovered) notice('resumed', `${stream} resumed after sequence ${seq}; nothing is missing.`);
    else notice('snapshot', `${stream} could not resume after sequence ${seq}; a snapshot follows.`);
  });
  feed.on('refused', ({ error }) => notice('refused', `The gateway refused a subscription: ${error}.`));
  feed.on('shutdown', () => notice('shutdown', 'The gateway announced a planned stop. The page reconnects.'));
  feed.on('heartbeat', (heartbeat) => {
    headSlot.value = heartbeat.headSlot;
    slotsBehind.value = heartbeat.slotsBehind;
    if (heartbeat.headSlot !== null) advance(heartbeat.headSlot);
  });
}

function snapshotReceived(market: string, level: BookLevel, epoch: number, slot: number): void {
  const name = `${market} ${level}`;
  const before = epochs.get(name);
  epochs.set(name, epoch);
  if (before !== undefined && before !== epoch) {
    notice('epoch', `${market}: a new epoch ${epoch} began at slot ${slot}. The book was sent anew.`);
  }
}

function advance(slot: number): void {
  if (slot <= newestSlot) return;
  newestSlot = slot;
  slotAdvancedAtMs.value = Date.now();
}
