// Preferences and devices of all wallets: the newest records of topic `wallet-settings`, complete from the start on. A change
// of this process shows at once.

import bs58 from 'bs58';
import { type EventLog, type Logger, TopicFollower } from '../../platform/index.ts';
import {
  decodeMessage,
  encodeMessage,
  type NotificationDevice,
  type NotificationPreferences,
  TOPICS,
  walletSettingKey,
} from '../../schemas/index.ts';
import { readAndFollow } from '../views/follow.ts';

const TOPIC = TOPICS.walletSettings;

interface Wallet {
  optOutTypes: readonly string[];
  readonly devices: Map<string, NotificationDevice>;
}

export interface WalletSettingsParts {
  readonly log: EventLog;
  readonly logger: Logger;
}

export class WalletSettings {
  readonly #parts: WalletSettingsParts;
  readonly #wallets = new Map<string, Wallet>();
  /** Offset of the applied record of each key: an own change is applied before the follower reaches it. */
  readonly #offsets = new Map<string, bigint>();
  /** The change under way of each wallet; the next one waits for it. */
  readonly #changes = new Map<string, Promise<unknown>>();
  readonly #follower = new TopicFollower();

  constructor(parts: WalletSettingsParts) {
    this.#parts = parts;
  }

  /** Resolves when everything written so far is known. Rejects when the log cannot be read. */
  async start(): Promise<void> {
    const { log, logger } = this.#parts;
    await readAndFollow(this.#follower, { log, logger, topic: TOPIC, take: (record) => this.#take(record) });
  }

  /** Settles when following ends. */
  get done(): Promise<void> {
    return this.#follower.done;
  }

  stop(): Promise<void> {
    return this.#follower.stop();
  }

  optOutTypes(authority: string): readonly string[] {
    return this.#wallets.get(authority)?.optOutTypes ?? [];
  }

  /** By first registration. */
  devices(authority: string): readonly NotificationDevice[] {
    return [...(this.#wallets.get(authority)?.devices.values() ?? [])].sort((a, b) => a.createdAtMs - b.createdAtMs);
  }

  /** Every wallet with a device. */
  *walletsWithDevices(): Generator<string> {
    for (const [authority, { devices }] of this.#wallets) if (devices.size > 0) yield authority;
  }

  /** Runs a change after the earlier ones of the wallet, so that it decides on their outcome. */
  async change<T>(authority: string, run: () => Promise<T>): Promise<T> {
    const earlier = this.#changes.get(authority) ?? Promise.resolve();
    const own = earlier.then(run, run);
    this.#changes.set(authority, own);
    try {
      return await own;
    } finally {
      if (this.#changes.get(authority) === own) this.#changes.delete(authority);
    }
  }

  async putPreferences(value: NotificationPreferences): Promise<void> {
    const key = walletSettingKey(bs58.encode(value.authority), null);
    await this.#put(key, encodeMessage('NotificationPreferences', value));
  }

  async putDevice(value: NotificationDevice): Promise<void> {
    const key = walletSettingKey(bs58.encode(value.authority), value.deviceId);
    await this.#put(key, encodeMessage('NotificationDevice', value));
  }

  /** Removes a device, unless the wallet has given it another token since. */
  async removeGone({ authority, deviceId, token }: NotificationDevice): Promise<void> {
    const wallet = bs58.encode(authority);
    await this.change(wallet, async () => {
      const device = this.devices(wallet).find((each) => each.deviceId === deviceId);
      if (device?.token === token) await this.putDevice({ ...device, token: '', isRemoved: true });
    });
  }

  async #put(key: string, value: Uint8Array): Promise<void> {
    const [appended] = await this.#parts.log.append(TOPIC, [{ key, value }]);
    if (appended) this.#take({ key, value, offset: appended.last });
  }

  #take({ key, value, offset }: { readonly key: string; readonly value: Uint8Array; readonly offset: bigint }): void {
    if ((this.#offsets.get(key) ?? -1n) >= offset) return;
    this.#offsets.set(key, offset);
    try {
      const message = decodeMessage(value);
      if (message.name === 'NotificationPreferences') this.#preferences(message.value);
      else if (message.name === 'NotificationDevice') this.#device(message.value);
    } catch (error) {
      this.#parts.logger.warn({ topic: TOPIC.name, error: String(error) }, 'unreadable record');
    }
  }

  #preferences({ authority, pushOptOutTypes }: NotificationPreferences): void {
    this.#wallet(authority).optOutTypes = pushOptOutTypes;
  }

  #device(device: NotificationDevice): void {
    const { devices } = this.#wallet(device.authority);
    if (device.isRemoved) devices.delete(device.deviceId);
    else devices.set(device.deviceId, device);
  }

  #wallet(key: Uint8Array): Wallet {
    const authority = bs58.encode(key);
    let wallet = this.#wallets.get(authority);
    if (!wallet) {
      wallet = { optOutTypes: [], devices: new Map() };
      this.#wallets.set(authority, wallet);
    }
    return wallet;
  }
}
