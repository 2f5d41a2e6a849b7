// The oracle provider's `latest_price` operation, answered from the exchange's oracle accounts, so that price feeds work
// without a network (docs/internals/accounts.md, "Oracle provider").

import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { PUBKEY_BYTES } from '../../schemas/index.ts';
import { exchangeAddress, text, u32le } from '../exchange/keys.ts';
import type { Ledger } from '../ledger.ts';

/** Path on the JSON-RPC port. It accepts only POST. */
export const LATEST_PRICE_PATH = '/v1/latest_price';

export interface PostAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** Answers the JSON text of a POST. */
export type Post = (body: string) => PostAnswer;

const MESSAGE_MAGIC = Buffer.from('b9011a82', 'hex');
const PAYLOAD_MAGIC = Buffer.from('75d3c793', 'hex');
const CHANNELS: Readonly<Record<string, number>> = { real_time: 1 };
const FEEDS_MAX = 255;
/** PKCS #8 head of an Ed25519 private key; its 32 bytes follow. */
const PRIVATE_KEY_HEAD = Buffer.from('302e020100300506032b657004220420', 'hex');
const ORACLE_BYTES = 48;

interface Quote {
  readonly feedId: number;
  readonly timestampUs: bigint;
  readonly price: bigint;
  readonly bestBidPrice: bigint;
  readonly bestAskPrice: bigint;
  readonly exponent: number;
}

interface Property {
  readonly id: number;
  readonly json: (quote: Quote) => unknown;
  readonly bytes: (quote: Quote) => Buffer;
}

const PROPERTIES: Readonly<Record<string, Property>> = {
  price: { id: 0, json: ({ price }) => String(price), bytes: ({ price }) => i64(price) },
  bestBidPrice: { id: 1, json: ({ bestBidPrice }) => String(bestBidPrice), bytes: (quote) => i64(quote.bestBidPrice) },
  bestAskPrice: { id: 2, json: ({ bestAskPrice }) => String(bestAskPrice), bytes: (quote) => i64(quote.bestAskPrice) },
  exponent: { id: 4, json: ({ exponent }) => exponent, bytes: ({ exponent }) => i16(exponent) },
};

interface Request {
  readonly feedIds: readonly number[];
  readonly properties: readonly string[];
  readonly channel: number;
}

/** The operation over a ledger. Its answers leave out unknown feeds. */
export function latestPrice(ledger: Ledger): Post {
  const key = signingKey(ledger.genesisHash);
  const signer = createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-PUBKEY_BYTES);
  const addresses = new Map<number, string>();
  const addressOf = (feedId: number): string => {
    const address = addresses.get(feedId) ?? exchangeAddress(text('pyth_lazer'), u32le(feedId));
    if (addresses.size < FEEDS_MAX) addresses.set(feedId, address);
    return address;
  };
  return (body) => {
    const request = readRequest(body);
    if (typeof request === 'string') return { status: 400, body: { error: request } };
    const quotes = request.feedIds.flatMap((feedId) => {
      const account = ledger.account(addressOf(feedId), 'processed');
      return account && account.data.length >= ORACLE_BYTES ? [quoteOf(feedId, account.data)] : [];
    });
    const timestampUs = newestOf(quotes);
    const priceFeeds = quotes.map((quote) => ({ priceFeedId: quote.feedId, ...named(quote, request.properties) }));
    const payload = payloadOf(request, quotes, timestampUs);
    const length = Buffer.alloc(2);
    length.writeUInt16LE(payload.length);
    const message = Buffer.concat([MESSAGE_MAGIC, sign(null, payload, key), signer, length, payload]);
    const parsed = { timestampUs: String(timestampUs), priceFeeds };
    return { status: 200, body: { parsed, solana: { encoding: 'hex', data: message.toString('hex') } } };
  };
}

/** The parsed request, or its error. */
function readRequest(body: string): Request | string {
  let request: unknown;
  try {
    request = JSON.parse(body);
  } catch {
    return 'the body is not JSON';
  }
  if (typeof request !== 'object' || request === null) return 'the body is no object';
  const { priceFeedIds, properties, channel } = request as Record<string, unknown>;
  if (!Array.isArray(priceFeedIds) || priceFeedIds.length === 0 || priceFeedIds.length > FEEDS_MAX) {
    return `priceFeedIds must be a list of 1 to ${FEEDS_MAX} ids`;
  }
  if (!priceFeedIds.every((id) => Number.isInteger(id) && id >= 0 && id <= 0xffff_ffff)) return 'not a price feed id';
  if (
    !Array.isArray(properties) ||
    !properties.every((name) => typeof name === 'string' && Object.hasOwn(PROPERTIES, name))
  ) {
    return `properties must be of ${Object.keys(PROPERTIES).join(', ')}`;
  }
  const number = typeof channel === 'string' && Object.hasOwn(CHANNELS, channel) ? CHANNELS[channel] : undefined;
  if (number === undefined) return `channel must be one of ${Object.keys(CHANNELS).join(', ')}`;
  return { feedIds: priceFeedIds as number[], properties: properties as string[], channel: number };
}

/** Offsets from docs/internals/accounts.md, "Oracles". The confidence is the distance of best ask and best bid. */
function quoteOf(feedId: number, data: Uint8Array): Quote {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const price = bytes.readBigInt64LE(8);
  const confidence = bytes.readBigUInt64LE(40);
  const bestBidPrice = price - confidence / 2n;
  return {
    feedId,
    timestampUs: bytes.readBigUInt64LE(16),
    price,
    bestBidPrice,
    bestAskPrice: bestBidPrice + confidence,
    exponent: bytes.readInt32LE(32),
  };
}

function newestOf(quotes: readonly Quote[]): bigint {
  let newest = 0n;
  for (const { timestampUs } of quotes) if (timestampUs > newest) newest = timestampUs;
  return newest;
}

function named(quote: Quote, properties: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(properties.map((name) => [name, PROPERTIES[name]?.json(quote)]));
}

function payloadOf({ properties, channel }: Request, quotes: readonly Quote[], timestampUs: bigint): Buffer {
  const feeds = quotes.flatMap((quote) => [
    Buffer.from(u32le(quote.feedId)),
    Buffer.of(properties.length),
    ...properties.flatMap((name) => {
      const property = PROPERTIES[name];
      return property ? [Buffer.of(property.id), property.bytes(quote)] : [];
    }),
  ]);
  return Buffer.concat([PAYLOAD_MAGIC, i64(timestampUs), Buffer.of(channel, quotes.length), ...feeds]);
}

/** Signs with a key of this chain, which no program trusts. */
function signingKey(genesisHash: string): KeyObject {
  const seed = createHash('sha256').update(`oracle feed of ${genesisHash}`).digest();
  return createPrivateKey({ key: Buffer.concat([PRIVATE_KEY_HEAD, seed]), format: 'der', type: 'pkcs8' });
}

function i64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigInt64LE(value);
  return bytes;
}

function i16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeInt16LE(value);
  return bytes;
}
