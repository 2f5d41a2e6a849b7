// A request that acts for a wallet: reads the wallet's notifications, or another path that a wallet must sign.
//
//   npm run example signed-request -- [--key FILE] [--path /notifications] [--action getNotifications] [--method GET]
//     [--body JSON] [--delegate-of ACCOUNT]
//
// The key is a Solana key file (a JSON array of 64 bytes), for example of `solana-keygen new`. Without one, the example makes a
// key for this run and prints its address. The key stays in this process: the request has a signature and the address.

import { generateKeyPairSync } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { keyFileWallet, walletHeaders } from '../client/index.ts';
import { fail, readFlags } from './shared.ts';

const flags = readFlags(['key', 'path', 'action', 'method', 'body', 'delegate-of']);
const url = flags.endpoint('history') + flags.text('path', '/notifications');
const body = flags.text('body', '');
const account = flags.text('delegate-of', '');

/** The text of a new key file: seed and public key. */
function newKeyFile(): string {
  const { d = '', x = '' } = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  return JSON.stringify([...Buffer.from(d, 'base64url'), ...Buffer.from(x, 'base64url')]);
}

function keyFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return fail(`--key must be a file that can be read: ${path}`);
  }
}

const path = flags.text('key', '');
const wallet = await keyFileWallet(path === '' ? newKeyFile() : keyFile(path)).catch((error: Error) =>
  fail(error.message),
);
const action = flags.text('action', 'getNotifications');
const signed = await walletHeaders(wallet, { action, ...(account === '' ? {} : { delegateOf: account }) });
const response = await fetch(url, {
  method: flags.text('method', 'GET'),
  headers: { ...signed, ...(body === '' ? {} : { 'content-type': 'application/json' }) },
  ...(body === '' ? {} : { body }),
});
const answer = await response.text();
process.stdout.write(flags.json ? `${answer}\n` : `${wallet.address}\n${response.status} ${answer}\n`);
process.exitCode = response.ok ? 0 : 1;
