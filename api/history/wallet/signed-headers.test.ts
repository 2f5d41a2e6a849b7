import bs58 from 'bs58';
import { describe, expect, it } from 'vitest';
import { TestKey } from '../../../test/support/api/quote-maker.ts';
import {
  headersOf,
  type MessageMembers,
  messageText,
  rawRequest,
  signedHeaders,
} from '../../../test/support/api/wallet-requests.ts';
import { HISTORY_ERRORS, HistoryError } from '../../http/errors.ts';
import { hasWalletHeaders, readSignedMessage } from './signed-headers.ts';

const NOW = 1_780_000_000;
const key = new TestKey();
const other = new TestKey();

/** `signer` for a good request, else status and text of the refusal. */
function outcome(headers: Readonly<Record<string, string | readonly string[]>>): string {
  try {
    return readSignedMessage(rawRequest(headers), NOW).signer;
  } catch (error) {
    if (!(error instanceof HistoryError)) throw error;
    const { status, error: text } = HISTORY_ERRORS[error.code];
    return `${status} ${text}`;
  }
}

const signedAt = (ts: unknown, members: MessageMembers = {}) => signedHeaders(key, NOW, { ts, ...members });
/** A message with a signature of another wallet: the last check fails. */
const forged = (message: string) => ({ ...headersOf(other, message), 'x-wallet-address': key.name });

describe('a signed request', () => {
  it('is read with its members', () => {
    const account = other.name;
    const headers = signedAt(NOW - 5.5, { action: 'requestExport', isDelegate: true, velocityUserAccount: account });
    expect(readSignedMessage(rawRequest(headers), NOW)).toEqual({
      signer: key.name,
      action: 'requestExport',
      ts: NOW - 5.5,
      isDelegate: true,
      velocityUserAccount: account,
      signature: bs58.decode(headers['x-signature'] ?? ''),
    });
  });

  it('may have members of no meaning, null for optional ones, and header names in any letter case', () => {
    const { 'x-wallet-address': wallet, ...rest } = signedAt(NOW, { isDelegate: null, driftUserAccount: 5 });
    expect(outcome({ 'X-Wallet-Address': wallet ?? '', ...rest })).toBe(key.name);
  });

  it('counts as signed with any of the headers', () => {
    expect(hasWalletHeaders(rawRequest({ accept: '*/*' }))).toBe(false);
    expect(hasWalletHeaders(rawRequest({ 'X-Signature': '' }))).toBe(true);
  });
});

describe('refusals', () => {
  it.each(['x-wallet-address', 'x-signature', 'x-signed-message'])('refuses a request without %s', (name) => {
    const { [name]: _, ...rest } = signedAt(NOW);
    expect(outcome(rest)).toBe('401 Missing authentication headers');
    expect(outcome({ ...rest, [name]: '' })).toBe('401 Missing authentication headers');
  });

  it.each(['abc', '0OIl', bs58.encode(new Uint8Array(31)), bs58.encode(new Uint8Array(33)), 'x'.repeat(2_000)])(
    'refuses the wallet %.12s',
    (wallet) => {
      expect(outcome({ ...signedAt(NOW), 'x-wallet-address': wallet })).toBe('401 Invalid wallet address');
    },
  );

  it.each([
    ['text', 'hello'],
    ['a list', '[1]'],
    ['null', 'null'],
    ['no action', messageText(key.name, NOW, { action: undefined })],
    ['an empty action', messageText(key.name, NOW, { action: '' })],
    ['an action of another type', messageText(key.name, NOW, { action: 1 })],
    ['no ts', messageText(key.name, NOW, { ts: undefined })],
    ['an empty ts', messageText(key.name, NOW, { ts: '' })],
    ['no wallet', messageText(key.name, NOW, { walletAddress: undefined })],
    ['an empty wallet', messageText(key.name, NOW, { walletAddress: '' })],
    ['isDelegate of another type', messageText(key.name, NOW, { isDelegate: 'true' })],
    ['an account of another type', messageText(key.name, NOW, { isDelegate: true, velocityUserAccount: {} })],
  ])('refuses a message with a wrong form: %s', (_name, message) => {
    expect(outcome(headersOf(key, message))).toBe('401 Invalid message format');
  });

  it('refuses a message of another wallet', () => {
    expect(outcome(headersOf(key, messageText(other.name, NOW)))).toBe('401 Wallet address mismatch');
  });

  it.each([0, -1, '1780000000', true, [NOW], { s: NOW }])('refuses the ts %j', (ts) => {
    expect(outcome(signedAt(ts))).toBe('401 Invalid timestamp - must be unix timestamp in seconds');
  });

  it('refuses a message of more than an hour ago, and one of more than five minutes ahead', () => {
    expect(outcome(signedAt(NOW - 3600))).toBe(key.name);
    expect(outcome(signedAt(NOW - 3601))).toBe('401 Signature expired');
    expect(outcome(signedAt(NOW + 300))).toBe(key.name);
    expect(outcome(signedAt(NOW + 301))).toBe('401 Timestamp too far in future');
    expect(outcome(signedAt(NOW * 1000))).toBe('401 Timestamp too far in future');
  });

  it('refuses a signature of another wallet, over another message, or over the same JSON with other bytes', () => {
    const message = messageText(key.name, NOW);
    expect(outcome(forged(message))).toBe('401 Invalid signature');
    expect(outcome({ ...signedAt(NOW), 'x-signed-message': message })).toBe('401 Invalid signature');
    const spaced = JSON.stringify(JSON.parse(message), null, 1).replaceAll('\n', '');
    expect(outcome({ ...headersOf(key, message), 'x-signed-message': spaced })).toBe('401 Invalid signature');
  });

  it.each([
    ['short', bs58.encode(new Uint8Array(63))],
    ['long', bs58.encode(new Uint8Array(65))],
    ['base64', 'AA=='],
    ['no base58', '0OIl'],
  ])('refuses a signature that is %s', (_name, signature) => {
    expect(outcome({ ...signedAt(NOW), 'x-signature': signature })).toBe('401 Signature verification failed');
  });

  it('reports the first failed check', () => {
    const message = (members: MessageMembers) => messageText(key.name, NOW, members);
    expect(outcome({ ...forged('no json'), 'x-wallet-address': 'abc' })).toBe('401 Invalid wallet address');
    expect(outcome(forged(message({ walletAddress: other.name, ts: -1 })))).toBe('401 Wallet address mismatch');
    expect(outcome(forged(message({ ts: NOW - 5000 })))).toBe('401 Signature expired');
    expect(outcome(forged(message({ ts: NOW + 5000 })))).toBe('401 Timestamp too far in future');
  });
});

describe('smuggled headers', () => {
  it('are refused when one of them is sent twice, the same or not', () => {
    const good = signedAt(NOW);
    const twice = (name: string, value = good[name] ?? '') => outcome({ ...good, [name]: [good[name] ?? '', value] });
    expect(twice('x-wallet-address')).toBe('401 Invalid wallet address');
    expect(twice('x-wallet-address', other.name)).toBe('401 Invalid wallet address');
    expect(twice('x-signed-message')).toBe('401 Invalid message format');
    expect(twice('x-signed-message', messageText(key.name, NOW))).toBe('401 Invalid message format');
    expect(twice('x-signature')).toBe('401 Signature verification failed');
    expect(twice('x-signature', '')).toBe('401 Signature verification failed');
  });

  it('are refused when two halves make one signed message', () => {
    const message = messageText(key.name, NOW).replace(',', ', ');
    const [first = '', ...rest] = message.split(', ');
    const good = headersOf(key, message);
    expect(outcome(good)).toBe(key.name);
    expect(outcome({ ...good, 'x-signed-message': [first, rest.join(', ')] })).toBe('401 Invalid message format');
  });

  it('are refused with white space or a byte order mark in them', () => {
    const good = signedAt(NOW);
    expect(outcome({ ...good, 'x-wallet-address': `${key.name} ` })).toBe('401 Invalid wallet address');
    expect(outcome({ ...good, 'x-signature': ` ${good['x-signature']}` })).toBe('401 Signature verification failed');
    expect(outcome({ ...good, 'x-signed-message': `${good['x-signed-message']} ` })).toBe('401 Invalid signature');
    const marked = `\u00ef\u00bb\u00bf${good['x-signed-message']}`;
    expect(outcome({ ...good, 'x-signed-message': marked })).toBe('401 Invalid message format');
  });

  it('count by their bytes on the wire where they are not ASCII', () => {
    const message = messageText(key.name, NOW, { action: 'über' });
    const onWire = (encoding: 'utf8' | 'latin1') => Buffer.from(message, encoding).toString('latin1');
    expect(outcome({ ...headersOf(key, message), 'x-signed-message': onWire('utf8') })).toBe(key.name);
    const one = { ...headersOf(key, message), 'x-signed-message': onWire('latin1') };
    expect(outcome(one)).toBe('401 Invalid message format');
  });
});
