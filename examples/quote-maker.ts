// A market maker that shows indicative quotes around the oracle price: proves a fresh key, then quotes every 500 ms.
//   npm run example quote-maker -- [ws://127.0.0.1:6970/quotes/ws] [market index] [half spread, price units of 1e-6]

import { generateKeyPairSync, sign } from 'node:crypto';
import bs58 from 'bs58';

const QUOTE_EVERY_MS = 500;
const RECONNECT_FIRST_MS = 1000;
const RECONNECT_LONGEST_MS = 30_000;
const SIZE_BASE = '1000000000';

const [url = 'ws://127.0.0.1:6970/quotes/ws', market = '0', halfSpread = '20000'] = process.argv.slice(2);
const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const pubkey = bs58.encode(Buffer.from(String(publicKey.export({ format: 'jwk' }).x), 'base64url'));
const say = (line: string) => process.stdout.write(`${line}\n`);

interface ServerMessage {
  readonly channel?: string;
  readonly nonce?: string;
  readonly message?: string;
  readonly error?: string;
}

function connect(delayMs: number): void {
  const socket = new WebSocket(`${url}?pubkey=${pubkey}`);
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
      timer = setInterval(() => socket.send(quotes()), QUOTE_EVERY_MS);
    } else if (error !== undefined) say(`refused: ${error}`);
  });
  socket.addEventListener('close', ({ code, reason }) => {
    clearInterval(timer);
    say(`closed (${code} ${reason}), again in ${delayMs} ms`);
    setTimeout(() => connect(nextDelayMs), delayMs);
  });
}

/** Both prices are offsets from the oracle; the server keeps them behind the firm touch. */
function quotes(): string {
  const quote = {
    bid_price: `-${halfSpread}`,
    bid_size: SIZE_BASE,
    ask_price: halfSpread,
    ask_size: SIZE_BASE,
    is_oracle_offset: true,
  };
  return JSON.stringify({ market_index: Number(market), market_type: 'perp', quotes: [quote] });
}

connect(RECONNECT_FIRST_MS);
