// Oracles that markets name and that belong to other programs: followed by key. No subscription to a program tells of them,
// and no comparison with the chain reads them, so they are read anew now and then.

import { type Connection, PublicKey } from '@solana/web3.js';
import type { AccountUpdate } from '../source.ts';
import { type KeyCache, singleAccountUpdate } from './notifications.ts';
import type { PubSub } from './pubsub.ts';

/** getMultipleAccounts takes 100. */
const ACCOUNTS_PER_CALL = 99;

export interface OtherOraclesParts {
  readonly connection: Pick<Connection, 'getMultipleAccountsInfoAndContext'>;
  readonly accountCommitment: 'processed' | 'confirmed' | 'finalized';
  readonly keys: KeyCache;
  /** Oracle accounts that markets name, whosever they are. */
  readonly oraclesOf: (markets: readonly AccountUpdate[]) => readonly Uint8Array[];
}

export class OtherOracles {
  readonly #parts: OtherOraclesParts;
  readonly #pubsub: Pick<PubSub, 'subscribe'>;
  readonly #tell: (update: AccountUpdate) => void;
  /** Oracles that are followed, by whatever way, or will be. */
  readonly #known = new Set<string>();
  readonly #followed: Uint8Array[] = [];
  #named: readonly Uint8Array[] = [];

  constructor(parts: OtherOraclesParts, pubsub: Pick<PubSub, 'subscribe'>, tell: (update: AccountUpdate) => void) {
    this.#parts = parts;
    this.#pubsub = pubsub;
    this.#tell = tell;
  }

  /** Follows those that the markets among these accounts name and that are not among them; resolves with what they hold now. */
  async begin(accounts: readonly AccountUpdate[]): Promise<AccountUpdate[]> {
    const told = new Set(accounts.map(({ pubkey }) => hexOf(pubkey)));
    const oracles = this.#parts.oraclesOf(accounts);
    for (const key of oracles) this.#known.add(hexOf(key));
    await this.#follow(oracles.filter((key) => !told.has(hexOf(key))));
    return this.#read();
  }

  /** A market as it is now: an oracle that it did not name before is followed from the next refresh on. */
  market(update: AccountUpdate): void {
    for (const key of this.#parts.oraclesOf([update])) {
      if (this.#known.has(hexOf(key))) continue;
      this.#known.add(hexOf(key));
      this.#named = [...this.#named, key];
    }
  }

  /** Follows what markets named since, and tells all as they are. Rejects when the node does not answer: to be tried again. */
  async refresh(): Promise<void> {
    const named = this.#named;
    await this.#follow(named);
    this.#named = this.#named.slice(named.length);
    for (const update of await this.#read()) this.#tell(update);
  }

  async #follow(oracles: readonly Uint8Array[]): Promise<void> {
    const { accountCommitment, keys } = this.#parts;
    const options = { commitment: accountCommitment, encoding: 'base64' };
    for (let from = 0; from < oracles.length; from += ACCOUNTS_PER_CALL) {
      const part = oracles.slice(from, from + ACCOUNTS_PER_CALL);
      await Promise.all(
        part.map((key) =>
          this.#pubsub.subscribe('accountSubscribe', [new PublicKey(key).toBase58(), options], (result) =>
            this.#tell(singleAccountUpdate(result, key, keys)),
          ),
        ),
      );
    }
    this.#followed.push(...oracles);
  }

  async #read(): Promise<AccountUpdate[]> {
    const { connection, accountCommitment } = this.#parts;
    const found: AccountUpdate[] = [];
    for (let from = 0; from < this.#followed.length; from += ACCOUNTS_PER_CALL) {
      const part = this.#followed.slice(from, from + ACCOUNTS_PER_CALL);
      const { context, value } = await connection.getMultipleAccountsInfoAndContext(
        part.map((key) => new PublicKey(key)),
        accountCommitment,
      );
      for (const [index, account] of value.entries()) {
        const pubkey = part[index];
        if (!account || !pubkey) continue;
        const { data } = account;
        const owner = account.owner.toBytes();
        found.push({ kind: 'account', slot: context.slot, writeVersion: null, pubkey, owner, data });
      }
    }
    return found;
  }
}

function hexOf(key: Uint8Array): string {
  return Buffer.from(key).toString('hex');
}
