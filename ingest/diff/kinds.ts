// Says of which kind an account is, by its owner and its first bytes, and parks accounts of unknown kinds once.

import bs58 from 'bs58';
import { DISCRIMINATOR_BYTES, keyText } from '../../schemas/index.ts';
import { discriminatorOf } from '../decode/account.ts';
import { isOracle } from '../decode/oracle.ts';
import { PackRoom } from '../packed.ts';
import { peekData } from '../packed-update.ts';
import type { Readers } from '../readers.ts';
import type { AccountUpdate } from '../source.ts';
import type { Kind, StoredAccount } from '../stored-account.ts';
import { type Emit, parkAccount } from './output.ts';

/** Accounts of unknown kinds that are remembered. */
const UNREADABLE_MAX = 10_000;

export class AccountKinds {
  readonly #readers: Readers;
  readonly #room = new PackRoom();
  /** Owners as base58, by their key text. */
  readonly #owners = new Map<string, string>();
  /** Discriminators of the accounts of unknown kinds that are parked already. */
  readonly #unreadable = new Map<string, bigint>();

  constructor(readers: Readers) {
    this.#readers = readers;
  }

  /** The kind of an open account; null for one that ingest does not read. `stored`: an earlier state of the account. */
  of(update: AccountUpdate, stored?: StoredAccount): Kind | null {
    // The kind follows from the owner and the first bytes, which hardly ever change.
    if (
      stored &&
      hasSameHead(update.data, stored.peek(this.#room)) &&
      Buffer.compare(update.owner, stored.owner) === 0
    ) {
      return stored.kind;
    }
    const readers = this.#readers;
    const owner = this.#ownerText(update.owner);
    const data = peekData(update, this.#room);
    const discriminator = discriminatorOf(data);
    if (owner === readers.exchangeId) {
      if (discriminator === readers.user.account.discriminator) return 'user';
      if (readers.markets.has(discriminator)) return 'market';
      if (discriminator === readers.state?.account.discriminator) return 'state';
      if (readers.builders.has(discriminator)) return 'builder';
    } else if (owner === readers.clobId && discriminator === readers.clob?.account.discriminator) return 'clob';
    else if (owner === readers.vaultsId && readers.vaults.has(discriminator)) return 'vault';
    return isOracle(data) ? 'oracle' : null;
  }

  /**
   * Skips account kinds of the programs that ingest does not need, and parks all others. Each account is parked once, because
   * an oracle of an unknown kind changes in every slot.
   */
  parkUnknown(update: AccountUpdate, emit: Emit): void {
    const known = this.#readers.discriminators.get(this.#ownerText(update.owner));
    const discriminator = discriminatorOf(update.data);
    if (known?.has(discriminator)) return;
    const key = keyText(update.pubkey);
    if (this.#unreadable.get(key) === discriminator) return;
    if (this.#unreadable.size >= UNREADABLE_MAX) this.#unreadable.clear();
    this.#unreadable.set(key, discriminator);
    const head = Buffer.from(update.data.subarray(0, 8)).toString('hex');
    parkAccount(emit, update, 'unknown_discriminator', `${update.data.length} bytes beginning with ${head}`);
  }

  #ownerText(owner: Uint8Array): string {
    const key = keyText(owner);
    let text = this.#owners.get(key);
    if (text === undefined) {
      text = bs58.encode(owner);
      this.#owners.set(key, text);
    }
    return text;
  }
}

function hasSameHead(one: Uint8Array, other: Uint8Array): boolean {
  if (one.length < DISCRIMINATOR_BYTES || other.length < DISCRIMINATOR_BYTES) return false;
  for (let index = 0; index < DISCRIMINATOR_BYTES; index++) if (one[index] !== other[index]) return false;
  return true;
}
