// The notifications channel: what the chain says of a wallet's accounts, as it happens. Only facts anybody can read from
// the chain: the channel is open to everybody.

import { createHash } from 'node:crypto';
import bs58 from 'bs58';
import type { ChainEvent } from '../../../schemas/index.ts';
import type { Hub } from './hub.ts';
import type { NotificationChannel } from './requests.ts';

export type NotificationType = 'RECORD_UPDATE' | 'ACCOUNT_UPDATE';

/** Accounts (base58) of a wallet (base58). Rejects when the store is away. */
export type LoadAccounts = (authority: string) => Promise<readonly string[]>;

interface Notice {
  readonly user: string;
  readonly type: NotificationType;
  readonly title: string;
  readonly body: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export class NotificationChannels {
  readonly #hub: Hub;
  readonly #load: LoadAccounts;
  /** Authority by account, for authorities that somebody listens to. */
  readonly #authorities = new Map<string, string>();

  constructor(hub: Hub, load: LoadAccounts) {
    this.#hub = hub;
    this.#load = load;
  }

  /** Nothing is kept that could be unread, so there is no `init`; accounts are looked up here. */
  async init({ authority }: NotificationChannel): Promise<null> {
    for (const account of await this.#load(authority)) this.#authorities.set(account, authority);
    return null;
  }

  /** Whether events need to be read at all. */
  get isWanted(): boolean {
    for (const [account, authority] of this.#authorities) {
      if (this.#hub.has(`notifications:${authority}`)) return true;
      this.#authorities.delete(account);
    }
    return false;
  }

  takeEvent(event: ChainEvent): void {
    this.#learn(event);
    for (const notice of noticesOf(event)) {
      const authority = this.#authorities.get(notice.user);
      if (authority === undefined) continue;
      const channel = `notifications:${authority}`;
      const data = notificationOf(event, authority, notice);
      this.#hub.send(channel, { type: 'update', channelType: 'notifications', channel, data });
    }
  }

  /** An account opened while its wallet is followed. */
  #learn({ name, data }: ChainEvent): void {
    if (name !== 'NewUserRecord') return;
    const authority = keyText(data.user_authority);
    if (authority !== null && this.#hub.has(`notifications:${authority}`)) {
      this.#authorities.set(keyText(data.user) ?? '', authority);
    }
  }
}

function keyText(value: unknown): string | null {
  return value instanceof Uint8Array ? bs58.encode(value) : null;
}

/** Amounts in `data` are raw integers as text, as in records. */
function noticesOf({ name, data }: ChainEvent): readonly Notice[] {
  if (name === 'OrderActionRecord' && data.action === 'fill') return fillNotices(data);
  if (name === 'LiquidationRecord') return liquidationNotices(data);
  if (name === 'DepositRecord') return balanceNotices(data);
  if (name === 'SettlePnlRecord') return settlementNotices(data);
  return [];
}

type Data = ChainEvent['data'];

function fillNotices(data: Data): readonly Notice[] {
  return (['taker', 'maker'] as const).flatMap((side) => {
    const user = keyText(data[side]);
    if (user === null) return [];
    const title = 'Order filled';
    const body = `Your ${data[`${side}_order_direction`]} order ${data[`${side}_order_id`]} was filled`;
    const members = ['market_type', 'market_index', 'base_asset_amount_filled', 'quote_asset_amount_filled'];
    return [{ user, type: 'RECORD_UPDATE', title, body, data: { record: 'trade', side, ...picked(data, members) } }];
  });
}

function liquidationNotices(data: Data): readonly Notice[] {
  const user = keyText(data.user);
  if (user === null) return [];
  const members = ['liquidation_type', 'liquidation_id', 'bankrupt', 'margin_freed'];
  const body = `Your account was liquidated (${data.liquidation_type})`;
  const told = { record: 'liquidation', ...picked(data, members) };
  return [{ user, type: 'ACCOUNT_UPDATE', title: 'Liquidation', body, data: told }];
}

function balanceNotices(data: Data): readonly Notice[] {
  const user = keyText(data.user);
  if (user === null) return [];
  const deposited = data.direction === 'deposit';
  const title = deposited ? 'Deposit' : 'Withdrawal';
  const body = `A ${title.toLowerCase()} of your account is complete`;
  const told = { record: 'deposit', ...picked(data, ['direction', 'market_index', 'amount', 'explanation']) };
  return [{ user, type: 'RECORD_UPDATE', title, body, data: told }];
}

function settlementNotices(data: Data): readonly Notice[] {
  const user = keyText(data.user);
  if (user === null) return [];
  const told = { record: 'settlePnl', ...picked(data, ['market_index', 'pnl', 'settle_price']) };
  return [{ user, type: 'RECORD_UPDATE', title: 'P&L settled', body: 'P&L of your position was settled', data: told }];
}

function picked(data: Data, names: readonly string[]): Record<string, unknown> {
  const camel = (name: string) => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  return Object.fromEntries(
    names.map((name) => [camel(name), typeof data[name] === 'bigint' ? String(data[name]) : data[name]]),
  );
}

/** A notification record (history reference 9.2); times are Unix seconds of the block. */
function notificationOf(event: ChainEvent, authorityId: string, { user, type, title, body, data }: Notice): object {
  const ts = Number(event.data.ts);
  const place = { txSig: bs58.encode(event.signature), txSigIndex: event.eventIndex, slot: event.slot, ts };
  return {
    notificationId: notificationId(ts, `${place.txSig}:${place.txSigIndex}:${user}:${type}`),
    authorityId,
    title,
    body,
    type,
    status: 'SENT',
    channels: ['app'],
    user,
    data: { ...data, ...place },
    actions: [],
    sentAt: ts,
    createdAt: ts,
  };
}

/** A time-ordered UUID (version 7) made of the block time and the event's identity: the same event, the same id. */
function notificationId(ts: number, identity: string): string {
  const time = (ts * 1000).toString(16).padStart(12, '0');
  const hash = createHash('sha256').update(identity).digest('hex');
  const variant = ((Number.parseInt(hash.slice(3, 4), 16) & 0x3) | 0x8).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${hash.slice(0, 3)}-${variant}${hash.slice(4, 7)}-${hash.slice(7, 19)}`;
}
