// Authenticates requests by wallet signatures: the headers, the action, the delegate rule, and one use of each signature of a
// write. docs/internals/wallet-signatures.md has the rules.

import { readKey } from '../../../platform/index.ts';
import { HistoryError } from '../../http/errors.ts';
import type { AccountSource } from './account-source.ts';
import type { SignatureClaims } from './claims.ts';
import { hasWalletHeaders, readSignedMessage, type SignedMessage, type SignedRequest } from './signed-headers.ts';

/** Requirements of a route. */
export interface WalletCheck {
  /** The action that the message must name; any when absent. */
  readonly action?: string;
  /** Whether the request changes something: then its signature counts once. */
  readonly writes: boolean;
}

/** Base58 keys. */
export interface WalletIdentity {
  /** The wallet that signed. */
  readonly signer: string;
  /** The wallet for which the request is: the signer, or the authority of the account whose delegate the signer is. */
  readonly authority: string;
}

/** How routes ask who sent a request. */
export interface WalletAuth {
  /** Whether a request has any of the wallet headers, valid or not. */
  isSigned(request: SignedRequest): boolean;
  /** The sender of a request (`request.raw` of a route). Throws the HistoryError of the first check that fails. */
  authenticate(request: SignedRequest, check: WalletCheck): Promise<WalletIdentity>;
  /** `authenticate` for a path of one authority. Throws HistoryError authorityForeign when the request is for another one. */
  authenticateFor(authority: string, request: SignedRequest, check: WalletCheck): Promise<WalletIdentity>;
}

export interface WalletParts {
  readonly accounts: AccountSource;
  readonly claims: Pick<SignatureClaims, 'use'>;
  /** Wall clock, unix seconds. */
  readonly now: () => number;
  /** Counts a request of a wallet. Throws HistoryError tooManyRequests. */
  readonly count?: (wallet: string) => void;
}

export class Wallets implements WalletAuth {
  readonly #parts: WalletParts;

  constructor(parts: WalletParts) {
    this.#parts = parts;
  }

  isSigned(request: SignedRequest): boolean {
    return hasWalletHeaders(request);
  }

  async authenticate(request: SignedRequest, check: WalletCheck): Promise<WalletIdentity> {
    const message = await this.#check(request, check);
    return this.#admit(message, check);
  }

  async authenticateFor(authority: string, request: SignedRequest, check: WalletCheck): Promise<WalletIdentity> {
    const message = await this.#check(request, check);
    if (message.authority !== authority) throw new HistoryError('authorityForeign');
    return this.#admit(message, check);
  }

  async #check(request: SignedRequest, { action }: WalletCheck): Promise<SignedMessage & WalletIdentity> {
    const message = readSignedMessage(request, this.#parts.now());
    this.#parts.count?.(message.signer);
    if (action !== undefined && message.action !== action) throw new HistoryError('walletAction');
    return { ...message, authority: await this.#authorityOf(message) };
  }

  /** Last, so that a refused request does not use its signature up. */
  async #admit(message: SignedMessage & WalletIdentity, { writes }: WalletCheck): Promise<WalletIdentity> {
    if (writes) await this.#parts.claims.use(message.signature, message.ts);
    return { signer: message.signer, authority: message.authority };
  }

  async #authorityOf({ signer, isDelegate, velocityUserAccount }: SignedMessage): Promise<string> {
    if (!isDelegate) return signer;
    if (velocityUserAccount === null) throw new HistoryError('delegateAccountMissing');
    if (!readKey(velocityUserAccount)) throw new HistoryError('delegateAccountMalformed');
    const owners = await this.#parts.accounts.owners(velocityUserAccount);
    if (!owners) throw new HistoryError('delegateAccountUnknown');
    if (owners.delegate !== signer) throw new HistoryError('delegateRefused');
    return owners.authority;
  }
}
