// A market maker with indicative quotes around the oracle price: proves a fresh key, then quotes every 500 ms.
//
//   npm run example quote-maker -- [--market 0] [--half-spread 20000] [--size 1000000000] [--seconds 60]
//
// Market is the index of a perp market, half spread in price units of 1e-6, size in base units of 1e-9. Quotes until it is
// stopped, or for `--seconds`, then withdraws its quotes. It reconnects after a lost connection.
// See it: curl 'localhost:6969/l2?marketIndex=0&marketType=perp&includeIndicative=true', levels with a source `indicative`.

import { generateKeyPairSync, sign } from 'node:crypto';
import bs58 from 'bs58';
import { fail, readFlags } from './shared.ts';

const QUOTE_EVERY_MS = 500;
const RECONNECT_FIRST_MS = 1000;
const RECONNECT_LONGEST_MS = 30_000;

const flags = readFlags(['market', 'half-spread', 'size', 'seconds']);
const market = flags.number('market', 0);
const halfSpread = flags.text('half-spread', '20000');
const size = flags.text('size', '1000000000');
const seconds = flags.number('seconds', 0);
const address = flags.endpoint('quotes');
if (!/^wss?:\/\//.test(address) || !URL.canParse(address)) fail(`--quotes must be a WebSocket address, not ${address}`);
const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const pubkey = bs58.encode(Buffer.from(String(publicKey.export({ format: 'jwk' }).x), 'base64url'));
const say = (line: string) => process.stdout.write(`${line}\n`);
let isOver = false;
let socket: WebSocket;
let retry: NodeJS.Timeout | undefined;

interface ServerMessage {
  readonly channel?: string;
  readonly nonce?: string;
  readonly message?: string;
  readonly error?: string;
}

function connect(delayMs: number): void {
  socket = new WebSocket(`${address}?pubkey=${pubkey}`);
  let timer: NodeJS.Timeout | undefined;
  let nextDelayMs = Math.min(delayMs * 2, RECONNECT_LONGEST_MS);
  socket.addEventListener('message', ({ data }) => {
    const { nonce, message, error } = JSON.parse(String(data)) as ServerMessage;
    if (nonce !== undefined) {
      const signature = sign(null, Buffer.from(nonce, 'utf8'), privateKey).toString('base64');
      socket.send(JSON.stringify({ pubkey, signature }));
    } else if (message === 'Authenticated') {
      say(`quoting market ${market} as ${pubkey}`);
      nextDelayMs = RECONNECT_FIRST_MS;
      socket.send(quotes());
      timer = setInterval(() => socket.send(quotes()), QUOTE_EVERY_MS);
    } else if (error !== undefined) say(`refused: ${error}`);
  });
  socket.addEventListener('close', ({ code, reason }) => {
    clearInterval(timer);
    if (isOver) return;
    say(`closed (${code} ${reason}), again in ${delayMs} ms`);
    retry = setTimeout(() => connect(nextDelayMs), delayMs);
  });
}

/** An empty list withdraws the quotes. */
function end(): void {
  isOver = true;
  clearTimeout(retry);
  if (socket.readyState === WebSocket.OPEN) socket.send(quoteMessage([]));
  socket.close();
}

/** Both prices are offsets from the oracle; the server keeps them behind the firm touch. */
function quotes(): string {
  const prices = { bid_price: `-${halfSpread}`, ask_price: halfSpread };
  return quoteMessage([{ ...prices, bid_size: size, ask_size: size, is_oracle_offset: true }]);
}

function quoteMessage(levels: readonly object[]): string {
  return JSON.stringify({ market_index: market, market_type: 'perp', quotes: levels });
}

connect(RECONNECT_FIRST_MS);
if (seconds > 0) setTimeout(end, seconds * 1000);
