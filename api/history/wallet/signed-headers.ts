// The three headers of a wallet signature. Reads and verifies them in the published order: an expired message with a wrong
// signature is expired. docs/internals/wallet-signatures.md has the rules.

import bs58 from 'bs58';
import { readKey } from '../../../platform/index.ts';
import { SIGNATURE_BYTES } from '../../../schemas/index.ts';
import { HistoryError } from '../../http/errors.ts';
import { HOUR_S } from '../seconds.ts';
import { isStrictlySigned } from './ed25519.ts';

export const WALLET_HEADER = 'x-wallet-address';
export const SIGNATURE_HEADER = 'x-signature';
export const MESSAGE_HEADER = 'x-signed-message';

/** Longest accepted age of a message, seconds (docs/internals/wallet-signatures.md). */
export const MAX_AGE_S = HOUR_S;
/** How far the clock of a client may be ahead, seconds (docs/internals/wallet-signatures.md). */
export const MAX_AHEAD_S = 300;
/** Longest base58 text of 64 bytes. */
const SIGNATURE_TEXT_MAX = 88;

/** A request as node:http reads it. `rawHeaders` still has each header that was sent twice. */
export interface SignedRequest {
  /** Names and values in turn. A value has one character per byte. */
  readonly rawHeaders: readonly string[];
}

/** A message with a valid signature of `signer`. */
export interface SignedMessage {
  /** base58 */
  readonly signer: string;
  readonly action: string;
  /** Unix seconds, possibly with a fraction. */
  readonly ts: number;
  readonly isDelegate: boolean;
  /** As sent; null when absent. */
  readonly velocityUserAccount: string | null;
  /** The 64 bytes. Never logged. */
  readonly signature: Uint8Array;
}

/** Whether a request has any of the headers. */
export function hasWalletHeaders(request: SignedRequest): boolean {
  return [WALLET_HEADER, SIGNATURE_HEADER, MESSAGE_HEADER].some((name) => valuesOf(request, name).length > 0);
}

/** The verified message of a request. `nowS` is wall-clock unix seconds. Throws the HistoryError of the first failed check. */
export function readSignedMessage(request: SignedRequest, nowS: number): SignedMessage {
  const wallets = valuesOf(request, WALLET_HEADER);
  const signatures = valuesOf(request, SIGNATURE_HEADER);
  const messages = valuesOf(request, MESSAGE_HEADER);
  if (![wallets, signatures, messages].every((values) => values.some((value) => value !== ''))) {
    throw new HistoryError('walletMissing');
  }
  const wallet = onlyOne(wallets);
  const key = wallet === null ? null : readKey(wallet);
  if (wallet === null || key === null) throw new HistoryError('walletMalformed');
  const bytes = Buffer.from(onlyOne(messages) ?? '', 'latin1');
  const message = readMessage(bytes);
  if (message.walletAddress !== wallet) throw new HistoryError('walletMismatch');
  const ts = checkTime(message.ts, nowS);
  const signature = signatureIn(onlyOne(signatures));
  if (!isStrictlySigned(bytes, key, signature)) throw new HistoryError('walletSignature');
  const { action, isDelegate, velocityUserAccount } = message;
  return { signer: wallet, action, ts, isDelegate, velocityUserAccount, signature };
}

function valuesOf({ rawHeaders }: SignedRequest, name: string): readonly string[] {
  return rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name);
}

/** Null for a header that was sent twice: two readers could take different ones. */
function onlyOne(values: readonly string[]): string | null {
  return values.length === 1 ? (values[0] ?? null) : null;
}

interface MessageMembers {
  readonly action: string;
  readonly ts: unknown;
  readonly walletAddress: string;
  readonly isDelegate: boolean;
  readonly velocityUserAccount: string | null;
}

/** Unknown members are allowed, for example a nonce. */
function readMessage(bytes: Uint8Array): MessageMembers {
  const { action, ts, walletAddress, isDelegate, velocityUserAccount } = parseObject(bytes);
  const isComplete = isFilled(action) && isFilled(walletAddress) && ts !== undefined && ts !== null && ts !== '';
  const hasTypes = isOptional(isDelegate, 'boolean') && isOptional(velocityUserAccount, 'string');
  if (!isComplete || !hasTypes) throw new HistoryError('walletMessage');
  return {
    action,
    ts,
    walletAddress,
    isDelegate: isDelegate === true,
    velocityUserAccount: isFilled(velocityUserAccount) ? velocityUserAccount : null,
  };
}

function parseObject(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // Refused below, like JSON of another type.
  }
  throw new HistoryError('walletMessage');
}

function isFilled(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}

function isOptional(value: unknown, type: 'boolean' | 'string'): boolean {
  return value === undefined || value === null || typeof value === type;
}

function checkTime(ts: unknown, nowS: number): number {
  if (typeof ts !== 'number' || !Number.isFinite(ts) || ts <= 0) throw new HistoryError('walletTimestamp');
  if (nowS - ts > MAX_AGE_S) throw new HistoryError('walletExpired');
  if (ts - nowS > MAX_AHEAD_S) throw new HistoryError('walletEarly');
  return ts;
}

function signatureIn(text: string | null): Uint8Array {
  const bytes = text !== null && text.length <= SIGNATURE_TEXT_MAX ? bs58.decodeUnsafe(text) : undefined;
  if (bytes?.length !== SIGNATURE_BYTES) throw new HistoryError('walletUndecodable');
  return bytes;
}
