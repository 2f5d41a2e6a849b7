import { createPublicKey, verify } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exchangeAddress, text, u32le } from '../exchange/keys.ts';
import { type RunningLocalnet, startLocalnet } from '../server.ts';
import { LATEST_PRICE_PATH } from './oracle-feed.ts';

interface Answer {
  readonly parsed: {
    readonly timestampUs: string;
    readonly priceFeeds: readonly Record<string, unknown>[];
  };
  readonly solana: { readonly encoding: string; readonly data: string };
}

const BTC = 1;
const SOL = 6;
const UNKNOWN = 4_000_000;
/** SPKI head of an Ed25519 public key. */
const PUBLIC_KEY_HEAD = Buffer.from('302a300506032b6570032100', 'hex');

let localnet: RunningLocalnet;
beforeAll(async () => {
  const options = { seed: 3, speed: 0, accounts: 20, ordersPerMarket: 5, rpcPort: 0, wsPort: 0 };
  localnet = await startLocalnet({ ...options, genesisTime: 1_700_000_000 });
});
afterAll(() => localnet.stop());

function ask(members: Record<string, unknown> = {}): Promise<Response> {
  return fetch(localnet.rpcUrl + LATEST_PRICE_PATH, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      priceFeedIds: [SOL],
      properties: ['price', 'bestAskPrice', 'bestBidPrice', 'exponent'],
      chains: ['solana'],
      channel: 'real_time',
      jsonBinaryEncoding: 'hex',
      ...members,
    }),
  });
}

describe('oracle feed of the localnet', () => {
  it('returns price, best bid, best ask and exponent of the oracle account, without unknown feeds', async () => {
    const response = await ask({ priceFeedIds: [SOL, UNKNOWN] });
    expect(response.status).toBe(200);
    const { parsed } = (await response.json()) as Answer;
    const account = localnet.ledger.account(exchangeAddress(text('pyth_lazer'), u32le(SOL)), 'processed');
    const data = Buffer.from(account?.data ?? []);
    const price = data.readBigInt64LE(8);
    const confidence = data.readBigUInt64LE(40);
    expect(parsed.timestampUs).toBe(String(data.readBigUInt64LE(16)));
    const bid = price - confidence / 2n;
    expect(parsed.priceFeeds).toEqual([
      {
        priceFeedId: SOL,
        price: String(price),
        bestBidPrice: String(bid),
        bestAskPrice: String(bid + confidence),
        exponent: -8,
      },
    ]);
  });

  it("signs a binary message with the provider's layout and length", async () => {
    const { parsed, solana } = (await (await ask()).json()) as Answer;
    expect(solana.encoding).toBe('hex');
    const message = Buffer.from(solana.data, 'hex');
    expect(message.length).toBe(151);
    expect(message.subarray(0, 4).toString('hex')).toBe('b9011a82');
    const signature = message.subarray(4, 68);
    const key = Buffer.concat([PUBLIC_KEY_HEAD, message.subarray(68, 100)]);
    const payload = message.subarray(102);
    expect(message.readUInt16LE(100)).toBe(payload.length);
    const publicKey = createPublicKey({ key, format: 'der', type: 'spki' });
    expect(verify(null, payload, publicKey, signature)).toBe(true);
    expect(payload.subarray(0, 4).toString('hex')).toBe('75d3c793');
    expect(String(payload.readBigUInt64LE(4))).toBe(parsed.timestampUs);
    expect([...payload.subarray(12, 14)]).toEqual([1, 1]);
    expect(payload.readUInt32LE(14)).toBe(SOL);
    expect(payload.readUInt8(18)).toBe(4);
    expect(payload.readUInt8(19)).toBe(0);
    expect(String(payload.readBigInt64LE(20))).toBe(parsed.priceFeeds[0]?.price);
  });

  it('has all requested feeds in one message', async () => {
    const { parsed, solana } = (await (await ask({ priceFeedIds: [BTC, SOL] })).json()) as Answer;
    expect(parsed.priceFeeds.map(({ priceFeedId }) => priceFeedId)).toEqual([BTC, SOL]);
    expect(solana.data.length / 2).toBe(151 + 35);
  });

  it.each([
    ['no ids', { priceFeedIds: [] }],
    ['an id that is text', { priceFeedIds: ['6'] }],
    ['an unknown property', { properties: ['toString'] }],
    ['an unknown channel', { channel: 'constructor' }],
  ])('refuses %s', async (_, members) => {
    expect((await ask(members)).status).toBe(400);
  });
});
