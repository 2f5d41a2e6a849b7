// Requests signed by wallets, and the wallet check of the history service over a log and accounts of the test.

import { pino } from 'pino';
import type { AccountOwners } from '../../../api/history/wallet/account-source.ts';
import { SignatureClaims } from '../../../api/history/wallet/claims.ts';
import { Wallets } from '../../../api/history/wallet/wallets.ts';
import type { EventLog } from '../../../platform/index.ts';
import { FakeLog } from './fake-log.ts';
import type { TestKey } from './quote-maker.ts';

let nextNonce = 1;

/** Members of a signed message. `undefined` leaves a default member out. */
export type MessageMembers = Readonly<Record<string, unknown>>;

/** Text of a message that the service accepts at `ts`, with a nonce of its own, and with members replaced. */
export function messageText(wallet: string, ts: number, members: MessageMembers = {}): string {
  return JSON.stringify({ action: 'test', ts, walletAddress: wallet, nonce: nextNonce++, ...members });
}

/** Headers of a message that `key` signs. */
export function headersOf(key: TestKey, message: string, wallet = key.name): Record<string, string> {
  return { 'x-wallet-address': wallet, 'x-signature': key.signBase58(message), 'x-signed-message': message };
}

/** Headers of a request of a wallet at `ts`. */
export function signedHeaders(key: TestKey, ts: number, members: MessageMembers = {}): Record<string, string> {
  return headersOf(key, messageText(key.name, ts, members));
}

/** A request as node:http reads it; a list sends the header several times. */
export function rawRequest(headers: Readonly<Record<string, string | readonly string[]>>): { rawHeaders: string[] } {
  const rawHeaders = Object.entries(headers).flatMap(([name, values]) =>
    [values].flat().flatMap((value) => [name, value]),
  );
  return { rawHeaders };
}

export interface TestWallets {
  readonly auth: Wallets;
  readonly claims: SignatureClaims;
  /** User accounts of the chain by key. */
  readonly accounts: Map<string, AccountOwners>;
  stop(): Promise<void>;
}

/** The wallet check of one process. Processes that share a log pass it. `nowS` is unix seconds. */
export async function startTestWallets({
  now,
  log = new FakeLog(),
  ...limits
}: {
  readonly now: () => number;
  readonly log?: EventLog;
  readonly maxClaims?: number;
  readonly timeoutMs?: number;
}): Promise<TestWallets> {
  const claims = new SignatureClaims({ log, now, logger: pino({ level: 'silent' }), ...limits });
  const accounts = new Map<string, AccountOwners>();
  await claims.start();
  const source = { owners: async (account: string) => accounts.get(account) ?? null };
  return { auth: new Wallets({ accounts: source, claims, now }), claims, accounts, stop: () => claims.stop() };
}
