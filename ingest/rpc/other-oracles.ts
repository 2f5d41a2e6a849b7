// Follows oracles of other programs by key. No program subscription covers them and the shadow check does not read them,
// so each audit reads them again.

import bs58 from 'bs58';
import type { Logger } from '../../platform/index.ts';
import { keyText } from '../../schemas/index.ts';
import type { AccountUpdate } from '../source.ts';
import type { NodeCommitment } from './commitment.ts';
import { ACCOUNTS_PER_CALL, type JsonRpc } from './json-rpc.ts';
import { type KeyCache, singleAccountUpdate } from './notifications.ts';
import type { PubSub } from './pubsub.ts';

export interface OtherOraclesParts {
  readonly rpc: Pick<JsonRpc, 'accounts'>;
  readonly logger: Logger;
  readonly accountCommitment: NodeCommitment;
  readonly keys: KeyCache;
  /** Oracle accounts that the markets name, of any program. */
  readonly oraclesOf: (markets: readonly AccountUpdate[]) => readonly Uint8Array[];
}

export interface OracleHandlers {
  /** A notification. */
  notified(update: AccountUpdate): void;
  /** A state that was read. Its slot may be ahead of the notifications. */
  read(update: AccountUpdate): void;
}

export class OtherOracles {
  readonly #parts: OtherOraclesParts;
  readonly #pubsub: Pick<PubSub, 'subscribe'>;
  readonly #deliver: OracleHandlers;
  /** Oracles with a subscription of their own or of their program, and oracles that get one next. */
  readonly #known = new Set<string>();
  readonly #followed: Uint8Array[] = [];
  /** Oracles without a subscription. The next refresh subscribes to them. */
  #waiting: readonly Uint8Array[] = [];
  /** Slot of the newest read: a later one never goes back. */
  #readSlot = 0;

  constructor(parts: OtherOraclesParts, pubsub: Pick<PubSub, 'subscribe'>, deliver: OracleHandlers) {
    this.#parts = parts;
    this.#pubsub = pubsub;
    this.#deliver = deliver;
  }

  /** Follows the markets' oracles that are missing among these accounts. Resolves with their current state. */
  async begin(accounts: readonly AccountUpdate[]): Promise<AccountUpdate[]> {
    const given = new Set(accounts.map(({ pubkey }) => keyText(pubkey)));
    const oracles = this.#parts.oraclesOf(accounts).filter((key) => !this.#known.has(keyText(key)));
    for (const key of oracles) this.#known.add(keyText(key));
    await this.#follow(oracles.filter((key) => !given.has(keyText(key))));
    return this.#read();
  }

  /** Notes the oracle of a changed market. A new one is followed from the next refresh on. */
  market(update: AccountUpdate): void {
    for (const key of this.#parts.oraclesOf([update])) {
      if (this.#known.has(keyText(key))) continue;
      this.#known.add(keyText(key));
      this.#waiting = [...this.#waiting, key];
    }
  }

  /** Subscribes to new oracles and delivers the state of all. */
  async refresh(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    await this.#follow(waiting);
    for (const update of await this.#read()) this.#deliver.read(update);
  }

  /** Subscribes to each oracle alone: a refused one waits for the next refresh, and its state is read meanwhile. */
  async #follow(oracles: readonly Uint8Array[]): Promise<void> {
    const { accountCommitment, keys, logger } = this.#parts;
    const options = { commitment: accountCommitment, encoding: 'base64' };
    const fresh = oracles.filter((key) => !this.#followed.includes(key));
    this.#followed.push(...fresh);
    const subscribed = oracles.map(async (key) => {
      try {
        await this.#pubsub.subscribe('accountSubscribe', [bs58.encode(key), options], (result) =>
          this.#deliver.notified(singleAccountUpdate(result, key, keys)),
        );
      } catch (error) {
        this.#waiting = [...this.#waiting, key];
        logger.warn({ err: error, oracle: bs58.encode(key) }, 'oracle not subscribed');
      }
    });
    await Promise.all(subscribed);
  }

  /** A call that fails leaves out its oracles. The next refresh reads them. */
  async #read(): Promise<AccountUpdate[]> {
    const { rpc, accountCommitment, keys, logger } = this.#parts;
    const found: AccountUpdate[] = [];
    for (let from = 0; from < this.#followed.length; from += ACCOUNTS_PER_CALL) {
      const part = this.#followed.slice(from, from + ACCOUNTS_PER_CALL);
      try {
        const { slot, accounts } = await rpc.accounts(
          part.map((key) => bs58.encode(key)),
          { commitment: accountCommitment, minSlot: this.#readSlot },
        );
        this.#readSlot = slot;
        for (const [index, account] of accounts.entries()) {
          const pubkey = part[index];
          if (!account || !pubkey) continue;
          const owner = keys.decode(account.owner);
          found.push({ kind: 'account', slot, writeVersion: null, pubkey, owner, data: account.data });
        }
      } catch (error) {
        logger.warn({ err: error }, 'oracles of other programs not read');
      }
    }
    return found;
  }
}
