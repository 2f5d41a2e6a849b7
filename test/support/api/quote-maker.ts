// A market maker on the quote socket, with a fresh Ed25519 key. Stores every received message and checks it against the
// contract.

import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import bs58 from 'bs58';
import { WebSocket } from 'ws';
import { checkedName } from './contracts.ts';
import { JsonSocket } from './json-socket.ts';
import { until } from './stage.ts';

export class TestKey {
  readonly bytes: Uint8Array;
  readonly name: string;
  readonly #privateKey: KeyObject;

  constructor() {
    const { publicKey, privateKey } = generateKeyPairSync('ed25519');
    this.bytes = Buffer.from(String(publicKey.export({ format: 'jwk' }).x), 'base64url');
    this.name = bs58.encode(this.bytes);
    this.#privateKey = privateKey;
  }

  /** Base64 signature over a text. */
  sign(text: string): string {
    return Buffer.from(this.signBytes(Buffer.from(text, 'utf8'))).toString('base64');
  }

  /** Base58 signature over a text. */
  signBase58(text: string): string {
    return bs58.encode(this.signBytes(Buffer.from(text, 'utf8')));
  }

  signBytes(bytes: Uint8Array): Uint8Array {
    return sign(null, bytes, this.#privateKey);
  }
}

export interface MakerMessage {
  readonly channel: string;
  readonly nonce?: string;
  readonly message?: string;
  readonly error?: string;
  readonly quote?: number;
}

export class QuoteMaker extends JsonSocket<MakerMessage> {
  readonly key: TestKey;

  private constructor(key: TestKey, socket: WebSocket) {
    super(socket, (message) => checkedName('quotes', message));
    this.key = key;
  }

  /** Resolves when the nonce arrives. Rejects with the HTTP status and text when the server refuses the upgrade. */
  static async connect(url: string, key = new TestKey(), name = key.name): Promise<QuoteMaker> {
    const socket = new WebSocket(`${url}?pubkey=${name}`);
    const maker = new QuoteMaker(key, socket);
    const refused = new Promise<never>((_, reject) => {
      socket.once('unexpected-response', (_, response) => {
        response.setEncoding('utf8');
        response.once('data', (text: string) => reject(new Error(`${response.statusCode} ${text}`)));
      });
    });
    await Promise.race([maker.opened(), refused]);
    await until(() => maker.received.length > 0);
    return maker;
  }

  /** Connects and authenticates. */
  static async authenticated(url: string, key = new TestKey()): Promise<QuoteMaker> {
    const maker = await QuoteMaker.connect(url, key);
    maker.authenticate();
    await until(() => maker.received.some(({ message }) => message === 'Authenticated'));
    return maker;
  }

  get nonce(): string {
    return this.received[0]?.nonce ?? '';
  }

  authenticate(members: Readonly<Record<string, unknown>> = {}): void {
    this.send({ pubkey: this.key.name, signature: this.key.sign(this.nonce), ...members });
  }

  /** Sends quotes for SOL-PERP. */
  quote(...quotes: readonly Readonly<Record<string, unknown>>[]): void {
    this.send({ market_index: 0, market_type: 'perp', quotes });
  }

  get errors(): (string | undefined)[] {
    return this.received.filter(({ channel }) => channel === 'quotes').map(({ error }) => error);
  }
}

/** A quote in the form of the published senders. */
export function quoteOf(
  bid: readonly [price: string, size: string] | null,
  ask: readonly [price: string, size: string] | null = null,
  isOracleOffset = false,
): Record<string, unknown> {
  return {
    bid_price: bid?.[0] ?? null,
    bid_size: bid?.[1] ?? null,
    ask_price: ask?.[0] ?? null,
    ask_size: ask?.[1] ?? null,
    is_oracle_offset: isOracleOffset,
  };
}
