// Sends transactions from a wallet: deposits, rests an order, shows it in the book, and cancels it.
//
//   npm run example send-transaction -- [--symbol SOL-PERP] [--amount 1] [--deposit 100] [--account KEY] [--key-file wallet.json]
//
// The history service builds each transaction. This script reads what it signs, signs it with the wallet's key, and hands it back.
// The key never leaves the script. `--key-file` is a file of solana-keygen, `--account` the key of its user account.
// Without a key file the script makes a new wallet, and the simulated cluster gives it lamports, tokens and an account.

import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { Keypair, VersionedTransaction } from '@solana/web3.js';
import { fail, getJson, readFlags } from './shared.ts';

const flags = readFlags(['symbol', 'amount', 'deposit', 'account', 'key-file', 'rpc']);
const symbol = flags.text('symbol', 'SOL-PERP');
const history = flags.endpoint('history');
const orderbook = flags.endpoint('orderbook');
const say = (line: string) => process.stdout.write(`${line}\n`);
const PATIENCE_MS = 60_000;
/** Faucet of the simulated cluster: 10 SOL, and 10,000 USDT with six decimals. */
const LAMPORTS = 10_000_000_000;
const TOKENS = '10000000000';
/** The order rests this far below the best bid. */
const BELOW = 0.9;

interface TxAnswer {
  readonly success: boolean;
  readonly tx?: string;
  readonly txSig?: string;
  readonly message?: string;
  readonly error?: string;
  readonly name?: string;
}

const keyFile = flags.text('key-file', '');
const wallet =
  keyFile === ''
    ? Keypair.generate()
    : Keypair.fromSecretKey(Uint8Array.from(JSON.parse(readFileSync(keyFile, 'utf8'))));
const authority = wallet.publicKey.toBase58();
say(`wallet ${authority}`);
if (keyFile === '') await fund();
const accountId = flags.text('account', '') || (await accountOf());
say(`account ${accountId}`);

await send('/tx/deposit', { accountId, amount: flags.text('deposit', '100'), symbol: 'USDT' });
const price = await restingPrice();
await send('/tx/order/place', {
  accountId,
  symbol,
  direction: 'long',
  amount: flags.text('amount', '1'),
  orderType: 'limit',
  price,
  postOnly: true,
});
await until('the order rests in the book', async () => {
  const { bids } = await getJson<{ bids: { maker: string }[] }>(`${orderbook}/l3?marketName=${symbol}`);
  return bids.some(({ maker }) => maker === accountId);
});
await send('/tx/order/cancel', { accountId, symbol });

/** Builds, signs and sends one transaction. */
async function send(path: string, body: object): Promise<void> {
  const { tx = '', message = '' } = await post(path, body);
  say(`${path}: ${message}`);
  const transaction = VersionedTransaction.deserialize(Buffer.from(tx, 'base64'));
  transaction.sign([wallet]);
  const signedTx = Buffer.from(transaction.serialize()).toString('base64');
  const { txSig } = await post('/tx/execute', { signedTx });
  say(`  signature ${txSig}`);
}

async function post(path: string, body: object): Promise<TxAnswer> {
  const response = await fetch(history + path, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const answer = (await response.json()) as TxAnswer;
  return answer.success ? answer : fail(`${path}: ${answer.name ?? response.status} ${answer.error}`);
}

async function fund(): Promise<void> {
  const wish = {
    wallet: authority,
    lamports: LAMPORTS,
    tokens: [{ spotMarketIndex: 0, amount: TOKENS }],
    openAccount: true,
  };
  const body = { jsonrpc: '2.0', id: 1, method: 'localnet_fund', params: wish };
  const response = await fetch(flags.endpoint('rpc'), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const { error } = (await response.json()) as { error?: { message: string } };
  if (error) fail(`only the simulated cluster has a faucet: ${error.message}; give --key-file and --account`);
}

/** The first user account of the wallet, once the history service has its record. */
async function accountOf(): Promise<string> {
  let found = '';
  await until('the history service knows the account', async () => {
    const { accounts } = await getJson<{ accounts: { accountId: string }[] }>(
      `${history}/authority/${authority}/accounts`,
    );
    found = accounts[0]?.accountId ?? '';
    return found !== '';
  });
  return found;
}

/** A price below the best bid, on the tick of the market. */
async function restingPrice(): Promise<string> {
  const { bids } = await getJson<{ bids: { price: string }[] }>(`${orderbook}/l2?marketName=${symbol}&depth=1`);
  const best = Number(bids[0]?.price ?? fail(`${symbol} has no bids`)) / 1e6;
  return (best * BELOW).toFixed(1);
}

async function until(what: string, isTrue: () => Promise<boolean>): Promise<void> {
  const endMs = Date.now() + PATIENCE_MS;
  while (Date.now() < endMs) {
    if (await isTrue()) {
      say(what);
      return;
    }
    await delay(200);
  }
  fail(`not in ${PATIENCE_MS / 1000} s: ${what}`);
}
