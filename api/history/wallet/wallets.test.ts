import { afterEach, describe, expect, it } from 'vitest';
import { TOPICS } from '../../../schemas/index.ts';
import { FakeLog } from '../../../test/support/api/fake-log.ts';
import { TestKey } from '../../../test/support/api/quote-maker.ts';
import {
  type MessageMembers,
  rawRequest,
  signedHeaders,
  startTestWallets,
  type TestWallets,
} from '../../../test/support/api/wallet-requests.ts';
import { HISTORY_ERRORS, HistoryError } from '../../http/errors.ts';
import { type WalletCheck, type WalletIdentity, Wallets } from './wallets.ts';

const NOW = 1_780_000_000;
const READ: WalletCheck = { writes: false };
const WRITE: WalletCheck = { writes: true };
const owner = new TestKey();
const delegate = new TestKey();
const ACCOUNT = new TestKey().name;

let nowS = NOW;
const running: TestWallets[] = [];

async function start(options: Partial<Parameters<typeof startTestWallets>[0]> = {}): Promise<TestWallets> {
  const wallets = await startTestWallets({ now: () => nowS, ...options });
  wallets.accounts.set(ACCOUNT, { authority: owner.name, delegate: delegate.name });
  running.push(wallets);
  return wallets;
}

afterEach(async () => {
  nowS = NOW;
  await Promise.all(running.splice(0).map((each) => each.stop()));
});

/** The identity, or status and text of the refusal. */
function outcome(answer: Promise<WalletIdentity>): Promise<WalletIdentity | string> {
  return answer.catch((error: unknown) => {
    if (!(error instanceof HistoryError)) throw error;
    const { status, error: text } = HISTORY_ERRORS[error.code];
    return `${status} ${text}`;
  });
}

const requestOf = (key: TestKey, members: MessageMembers = {}) => rawRequest(signedHeaders(key, NOW, members));
const asDelegate = { isDelegate: true, velocityUserAccount: ACCOUNT };

describe('the authority of a request', () => {
  it('is the signer', async () => {
    const { auth } = await start();
    const self = { signer: owner.name, authority: owner.name };
    expect(await auth.authenticate(requestOf(owner), READ)).toEqual(self);
    // An account without isDelegate has no meaning.
    const members = { isDelegate: false, velocityUserAccount: ACCOUNT };
    expect(await auth.authenticate(requestOf(delegate, members), READ)).toMatchObject({ authority: delegate.name });
  });

  it('is the owner of the account whose delegate signed', async () => {
    const { auth } = await start();
    expect(await auth.authenticate(requestOf(delegate, asDelegate), READ)).toEqual({
      signer: delegate.name,
      authority: owner.name,
    });
  });

  it('is refused by the delegate rule', async () => {
    const { auth, accounts } = await start();
    const answer = (members: MessageMembers, key = delegate) =>
      outcome(auth.authenticate(requestOf(key, members), WRITE));
    const missing = '400 velocityUserAccount is required when isDelegate is true';
    expect(await answer({ isDelegate: true })).toBe(missing);
    expect(await answer({ isDelegate: true, velocityUserAccount: '' })).toBe(missing);
    expect(await answer({ ...asDelegate, velocityUserAccount: 'abc' })).toBe(
      '400 velocityUserAccount must be a public key',
    );
    expect(await answer({ ...asDelegate, velocityUserAccount: owner.name })).toBe(
      '404 Velocity user account not found',
    );
    const refused = '403 Not authorized as delegate for this account';
    expect(await answer(asDelegate, new TestKey())).toBe(refused);
    expect(await answer(asDelegate, owner)).toBe(refused);
    accounts.set(ACCOUNT, { authority: owner.name, delegate: '1'.repeat(32) });
    expect(await answer(asDelegate)).toBe(refused);
  });

  it('must be the one of the path', async () => {
    const { auth } = await start();
    const answer = (authority: string, members: MessageMembers = {}) =>
      outcome(auth.authenticateFor(authority, requestOf(delegate, members), READ));
    expect(await answer(owner.name, asDelegate)).toEqual({ signer: delegate.name, authority: owner.name });
    expect(await answer(delegate.name)).toMatchObject({ authority: delegate.name });
    const foreign = '403 Signer is not authorized for this authority';
    expect(await answer(owner.name)).toBe(foreign);
    expect(await answer(delegate.name, asDelegate)).toBe(foreign);
  });
});

describe('the rate of a wallet', () => {
  it('counts requests that it signed, and no forged ones', async () => {
    const { accounts, claims } = await start();
    const counted: string[] = [];
    const count = (wallet: string) => {
      if (counted.push(wallet) > 2) throw new HistoryError('tooManyRequests', undefined, { retryAfterS: 1 });
    };
    const source = { owners: async (account: string) => accounts.get(account) ?? null };
    const auth = new Wallets({ accounts: source, claims, now: () => nowS, count });
    const forged = rawRequest({ ...signedHeaders(delegate, NOW), 'x-wallet-address': owner.name });
    expect(await outcome(auth.authenticate(forged, READ))).toBe('401 Wallet address mismatch');
    const request = requestOf(owner);
    expect(await outcome(auth.authenticate(request, READ))).toMatchObject({ signer: owner.name });
    expect(await outcome(auth.authenticate(request, { action: 'other', writes: true }))).toMatch('Invalid action');
    expect(await outcome(auth.authenticate(request, READ))).toBe('429 Too many requests');
    expect(counted).toEqual([owner.name, owner.name, owner.name]);
  });
});

describe('the action', () => {
  it('is any without a required one, and else must be that one', async () => {
    const { auth } = await start();
    const answer = (action: string) =>
      outcome(auth.authenticate(requestOf(owner, { action }), { action: 'requestExport', writes: true }));
    expect(await answer('requestExport')).toMatchObject({ signer: owner.name });
    expect(await answer('getNotifications')).toBe('401 Invalid action - the message was signed for another one');
  });
});

describe('a signature of a write', () => {
  const replayed = '401 Signature already used';

  it('counts once, and for reads as often as its message is fresh', async () => {
    const { auth } = await start();
    const request = requestOf(owner);
    const answer = (check: WalletCheck) => outcome(auth.authenticate(request, check));
    expect(await answer(READ)).toMatchObject({ signer: owner.name });
    expect(await answer(WRITE)).toMatchObject({ signer: owner.name });
    expect(await answer(WRITE)).toBe(replayed);
    expect(await answer(READ)).toMatchObject({ signer: owner.name });
  });

  it('counts once in all processes, also in one that starts later, and when they receive it together', async () => {
    const log = new FakeLog();
    const processes = await Promise.all([start({ log }), start({ log }), start({ log })]);
    const everywhere = (request: ReturnType<typeof requestOf>) =>
      Promise.all(processes.flatMap(({ auth }) => [1, 2].map(() => outcome(auth.authenticate(request, WRITE)))));
    for (let at = 0; at < 20; at += 1) {
      const answers = await everywhere(requestOf(owner));
      expect(answers.filter((each) => typeof each === 'object')).toHaveLength(1);
      expect(answers.filter((each) => each === replayed)).toHaveLength(5);
    }
    const request = requestOf(owner);
    await everywhere(request);
    const late = await start({ log });
    expect(await outcome(late.auth.authenticate(request, WRITE))).toBe(replayed);
  });

  it('is not used up by a refused request', async () => {
    const { auth } = await start();
    const request = requestOf(owner);
    expect(await outcome(auth.authenticate(request, { action: 'other', writes: true }))).toMatch('Invalid action');
    expect(await outcome(auth.authenticateFor(delegate.name, request, WRITE))).toMatch('403');
    expect(await outcome(auth.authenticate(request, WRITE))).toMatchObject({ signer: owner.name });
  });

  it('leaves the log when its message is expired: the view is bounded, and refuses writes rather than forget', async () => {
    const { auth, claims } = await start({ maxClaims: 3 });
    const first = requestOf(owner);
    const write = (request = rawRequest(signedHeaders(owner, nowS))) => outcome(auth.authenticate(request, WRITE));
    await write(first);
    await write();
    await write();
    expect(await write()).toBe('503 Signatures cannot be checked at the moment');
    expect(await write(first)).toBe(replayed);
    nowS = NOW + 3600;
    expect(await write(first)).toBe(replayed);
    nowS = NOW + 3601;
    expect(await write(first)).toBe('401 Signature expired');
    nowS = NOW + 3901;
    expect(await write()).toMatchObject({ signer: owner.name });
    expect(claims.size).toBe(1);
  });

  it('is refused while the log does not answer, and may then be used up', async () => {
    const log = new FakeLog();
    const { auth } = await start({ log, timeoutMs: 20 });
    const append = log.append.bind(log);
    const away = '503 Signatures cannot be checked at the moment';
    const request = requestOf(owner);
    log.append = async () => {
      throw new Error('away');
    };
    expect(await outcome(auth.authenticate(request, WRITE))).toBe(away);
    log.append = (...given) => append(...given).then(() => new Promise(() => {}));
    log.follow = async function* () {};
    const silent = await start({ log, timeoutMs: 20 });
    expect(await outcome(silent.auth.authenticate(request, WRITE))).toBe(away);
    log.append = append;
    expect(await outcome(auth.authenticate(request, WRITE))).toBe(replayed);
  });

  it('is not in the log: only its digest is', async () => {
    const log = new FakeLog();
    const { auth } = await start({ log });
    const request = requestOf(owner);
    await auth.authenticate(request, WRITE);
    const [record] = await log.read(TOPICS.signatureClaims, 0, 0n, 10);
    const stored = Buffer.concat([Buffer.from(record?.key ?? ''), record?.value ?? Buffer.of()]).toString('latin1');
    expect(stored.length).toBeGreaterThan(64);
    for (const secret of request.rawHeaders.filter((_, at) => at % 2 === 1)) expect(stored).not.toContain(secret);
  });
});
