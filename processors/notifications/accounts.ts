// Accounts and markets as topic `margin` has them, and the notifications of each block time: buckets of health, markets that
// open or change their status.

import bs58 from 'bs58';
import {
  type AccountMargin,
  BASE_DECIMALS,
  decodeMessage,
  encodeMessage,
  HEALTH_BUCKETS,
  type HealthBucket,
  keyText,
  type MarginTime,
  type MarketMargin,
  marketKey,
  type Notification,
  type NotificationType,
  notificationId,
} from '../../schemas/index.ts';
import type { StatePiece } from '../follow/pieces.ts';
import { bucketOf, healthOf, type Margin, marginsOf } from './health.ts';
import { titled } from './text.ts';

const ACCOUNT = 'account:';
const MARKET = 'market:';
const STATUS = 'status:';
const CLOCK = 'clock';

interface Account {
  margin: AccountMargin;
  /** Number of the whole read that contains it. */
  generation: number;
  /** Null before its first evaluation, which notifies nobody. */
  bucket: HealthBucket | null;
}

export class AccountBook {
  readonly #accounts = new Map<string, Account>();
  readonly #markets = new Map<string, MarketMargin>();
  /** Market statuses as they were last looked at. */
  readonly #statuses = new Map<string, string>();
  readonly #changedAccounts = new Set<string>();
  readonly #changed = new Map<string, Uint8Array | null>();
  /** Slot of the newest block time, 0 before the first. Markets of the first one notify nobody. */
  #slot = 0;
  #generation = 0;

  get size(): number {
    return this.#accounts.size;
  }

  /** The wallet of an account; null while it is unknown. An account never changes its wallet. */
  authorityOf(user: Uint8Array): Uint8Array | null {
    return this.#accounts.get(keyText(user))?.margin.authority ?? null;
  }

  /** Learns the wallet of an account that was just opened. Returns whether it is new. */
  learn(user: Uint8Array, authority: Uint8Array): boolean {
    if (this.#accounts.has(keyText(user))) return false;
    const margin = { slot: 0, user, authority, isBeingLiquidated: false, balances: [], positions: [] };
    this.#put(margin, null);
    return true;
  }

  /** Returns whether the account is new. */
  account(margin: AccountMargin): boolean {
    const known = this.#accounts.get(keyText(margin.user));
    this.#put(margin, known?.bucket ?? null);
    return known === undefined;
  }

  market(market: MarketMargin): void {
    const key = marketKey(market);
    this.#markets.set(key, market);
    this.#changed.set(MARKET + key, encodeMessage('MarketMargin', market));
  }

  /** Decimals of a market's base amounts: those of the token in spot markets. Null for a spot market that is not known. */
  baseDecimalsOf(marketType: unknown, marketIndex: unknown): number | null {
    if (marketType === 'perp') return BASE_DECIMALS;
    return this.#markets.get(`${marketType}-${marketIndex}`)?.spot?.decimals ?? null;
  }

  /** The accounts that do not follow until the next whole time are closed. */
  begin(): void {
    this.#generation += 1;
    this.#saveClock();
  }

  /** Notifications of a block time. A time that is not later than the newest one has none. */
  time({ slot, ts, isWhole }: MarginTime): readonly Notification[] {
    if (slot <= this.#slot) return [];
    if (isWhole) this.#closeOthers();
    const found = [...this.#marketChanges(slot, ts), ...this.#healthChanges(slot, ts)];
    this.#slot = slot;
    this.#saveClock();
    return found;
  }

  /** Pieces of state changed since the last call. */
  takeChanges(): StatePiece[] {
    for (const key of this.#changedAccounts) {
      const account = this.#accounts.get(key);
      if (account) this.#changed.set(ACCOUNT + bs58.encode(account.margin.user), packed(account));
    }
    this.#changedAccounts.clear();
    const pieces = [...this.#changed].map(([name, bytes]) => ({ name, bytes }));
    this.#changed.clear();
    return pieces;
  }

  /** Restores pieces of `takeChanges`, in any order. */
  restore(pieces: Iterable<{ readonly name: string; readonly bytes: Uint8Array }>): void {
    for (const { name, bytes } of pieces) {
      if (name.startsWith(ACCOUNT)) {
        const account = unpacked(bytes);
        this.#accounts.set(keyText(account.margin.user), account);
      } else if (name.startsWith(MARKET)) {
        const { value } = decodeMessage(bytes);
        this.#markets.set(name.slice(MARKET.length), value as MarketMargin);
      } else if (name.startsWith(STATUS)) this.#statuses.set(name.slice(STATUS.length), textOf(bytes));
      else if (name === CLOCK) [this.#slot, this.#generation] = JSON.parse(textOf(bytes)) as [number, number];
    }
  }

  #put(margin: AccountMargin, bucket: HealthBucket | null): void {
    const key = keyText(margin.user);
    this.#accounts.set(key, { margin, generation: this.#generation, bucket });
    this.#changedAccounts.add(key);
  }

  #saveClock(): void {
    this.#changed.set(CLOCK, Buffer.from(JSON.stringify([this.#slot, this.#generation])));
  }

  #closeOthers(): void {
    for (const [key, account] of this.#accounts) {
      const { margin, generation } = account;
      if (generation === this.#generation || isEmpty(margin)) continue;
      account.margin = { ...margin, isBeingLiquidated: false, balances: [], positions: [] };
      account.bucket = null;
      this.#changedAccounts.add(key);
    }
  }

  *#healthChanges(slot: number, ts: number): Generator<Notification> {
    const changes: { readonly user: string; readonly account: Account; readonly margin: Margin }[] = [];
    for (const [key, account] of this.#accounts) {
      const margin = this.#worstOf(account.margin);
      if (margin === null) continue;
      const bucket = bucketOf(healthOf(margin), account.bucket);
      if (bucket === account.bucket) continue;
      if (account.bucket !== null) changes.push({ user: bs58.encode(account.margin.user), account, margin });
      account.bucket = bucket;
      this.#changedAccounts.add(key);
    }
    // By account: a restart restores them in another order.
    changes.sort((a, b) => (a.user < b.user ? -1 : 1));
    for (const { user, account, margin } of changes) {
      yield healthNotification(user, account.margin, account.bucket ?? 'HEALTHY', margin, slot, ts);
    }
  }

  #worstOf(account: AccountMargin): Margin | null {
    if (isEmpty(account)) return NO_MARGIN;
    const margins = marginsOf(account, (type, index) => this.#markets.get(`${type}-${index}`));
    if (margins === null) return null;
    return margins.reduce((worst, margin) => (healthOf(margin) < healthOf(worst) ? margin : worst));
  }

  *#marketChanges(slot: number, ts: number): Generator<Notification> {
    for (const key of [...this.#markets.keys()].sort()) {
      const market = this.#markets.get(key);
      const before = this.#statuses.get(key) ?? null;
      if (!market || market.status === before) continue;
      this.#statuses.set(key, market.status);
      this.#changed.set(STATUS + key, Buffer.from(market.status));
      // The first block time says which markets there are; nothing happened to them.
      const cause = this.#slot === 0 ? null : statusCause(before, market.status, key);
      if (cause) yield marketNotification(market, key, before, cause, slot, ts);
    }
  }
}

const NO_MARGIN: Margin = { collateral: 0n, requirement: 0n, isBeingLiquidated: false };

/** No debt and no position: nothing can become unhealthy. */
function isEmpty({ isBeingLiquidated, balances, positions }: AccountMargin): boolean {
  return !isBeingLiquidated && positions.length === 0 && !balances.some(({ isBorrow }) => isBorrow);
}

const HEALTH_TEXT: Readonly<Record<HealthBucket, string>> = {
  HEALTHY: 'is healthy again',
  MODERATE: 'has moderate health',
  AT_RISK: 'is at risk',
  CRITICAL: 'is close to liquidation',
  LIQUIDATABLE: 'can be liquidated',
};

function healthNotification(
  user: string,
  { user: account, authority }: AccountMargin,
  bucket: HealthBucket,
  { collateral, requirement }: Margin,
  slot: number,
  ts: number,
): Notification {
  const data = { record: 'health', bucket, collateral: String(collateral), requirement: String(requirement), slot, ts };
  return {
    id: notificationId(ts, `health:${user}:${slot}:${bucket}`),
    authority,
    user: account,
    type: 'ACCOUNT_UPDATE',
    title: `Account health: ${titled(bucket.toLowerCase().replace('_', ' '))}`,
    body: `Your account ${HEALTH_TEXT[bucket]}`,
    data: JSON.stringify(data),
    slot,
    ts,
  };
}

interface StatusCause {
  readonly type: NotificationType;
  readonly title: string;
  readonly body: string;
}

/** Null for a status that concerns no trader. */
function statusCause(before: string | null, status: string, key: string): StatusCause | null {
  if (status === 'active' && (before === null || before === 'initialized')) {
    return { type: 'NEW_MARKET', title: 'New market', body: `${key} is open for trading` };
  }
  if (status === 'reduceOnly') {
    return { type: 'REDUCE_ONLY', title: 'Market is reduce only', body: `Orders on ${key} can only reduce positions` };
  }
  if (status === 'active' && before === 'reduceOnly') {
    return { type: 'REDUCE_ONLY', title: 'Market is open again', body: `${key} is no longer reduce only` };
  }
  if (status === 'settlement') {
    return { type: 'ANNOUNCEMENT', title: 'Market in settlement', body: `${key} settles its positions` };
  }
  if (status === 'delisted') return { type: 'ANNOUNCEMENT', title: 'Market delisted', body: `${key} is delisted` };
  return null;
}

function marketNotification(
  { marketType, marketIndex, status }: MarketMargin,
  key: string,
  before: string | null,
  { type, title, body }: StatusCause,
  slot: number,
  ts: number,
): Notification {
  const data = { record: 'market', marketType, marketIndex, status, previousStatus: before, slot, ts };
  const id = notificationId(ts, `market:${key}:${slot}:${status}`);
  return { id, authority: new Uint8Array(0), user: null, type, title, body, data: JSON.stringify(data), slot, ts };
}

const GENERATION_BYTES = 4;

/** Generation, number of the bucket (0: none), then the account as in the log. */
function packed({ margin, generation, bucket }: Account): Uint8Array {
  const head = Buffer.alloc(GENERATION_BYTES + 1);
  head.writeUInt32LE(generation, 0);
  head.writeUInt8(bucket === null ? 0 : HEALTH_BUCKETS.indexOf(bucket) + 1, GENERATION_BYTES);
  return Buffer.concat([head, encodeMessage('AccountMargin', margin)]);
}

function unpacked(bytes: Uint8Array): Account {
  const all = Buffer.from(bytes);
  const { value } = decodeMessage(all.subarray(GENERATION_BYTES + 1));
  const bucket = HEALTH_BUCKETS[all.readUInt8(GENERATION_BYTES) - 1] ?? null;
  return { margin: value as AccountMargin, generation: all.readUInt32LE(0), bucket };
}

const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');
