// A cheap WebSocket client, so that thousands fit beside the measured server. It counts frames by their heads, and decodes the
// text only on request. It never inflates.

import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';

const OPCODE_TEXT = 1;
const OPCODE_BINARY = 2;
const OPCODE_CLOSE = 8;
const OPCODE_PING = 9;
const OPCODE_PONG = 10;
const DEFLATED = 0x40;
const HEAD_MAX_BYTES = 10;
const MASK = 0x80;
/** Bytes that distinguish unread messages. */
const THIRD = 2;

export interface RawSocketOptions {
  readonly host: string;
  readonly port: number;
  /** Path and query of the upgrade request; default `/ws`. */
  readonly path?: string;
  /** Offer permessage-deflate, as browsers do. */
  readonly deflate?: boolean;
  /** Called per text frame with the size of its payload as sent, with the payload when `wantsText`, and with its third byte. */
  readonly onFrame?: (bytes: number, payload: Buffer | null, isDeflated: boolean, third: number) => void;
  readonly wantsText?: boolean;
  readonly onClose?: (code: number | null) => void;
}

export class RawSocket {
  readonly socket: Socket;
  readonly #options: RawSocketOptions;
  #upgraded = false;
  #handshake = '';
  readonly #head = Buffer.alloc(HEAD_MAX_BYTES);
  #headBytes = 0;
  #opcode = 0;
  #isDeflated = false;
  #payloadBytes = 0;
  #left = 0;
  #third = 0;
  #parts: Buffer[] = [];
  #closeCode: number | null = null;

  private constructor(socket: Socket, options: RawSocketOptions) {
    this.socket = socket;
    this.#options = options;
  }

  /** Resolves when upgraded; rejects when refused. */
  static open(options: RawSocketOptions): Promise<RawSocket> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host: options.host, port: options.port, noDelay: true });
      const client = new RawSocket(socket, options);
      socket.once('connect', () => socket.write(requestOf(options)));
      socket.on('error', reject); // after the upgrade it changes nothing: `close` follows
      socket.on('close', () => {
        reject(new Error('closed before the upgrade'));
        options.onClose?.(client.#closeCode);
      });
      socket.on('data', (chunk: Buffer) => client.#data(chunk, resolve, reject));
    });
  }

  /** Sends a text frame with an all-zero mask, which leaves the text as it is. */
  send(text: string): void {
    this.socket.write(clientFrame(Buffer.from(text)));
  }

  /** Sends any bytes as a text or binary frame. */
  sendFrame(payload: Buffer, isText: boolean): void {
    this.socket.write(clientFrame(payload, isText ? OPCODE_TEXT : OPCODE_BINARY));
  }

  /** Several text frames in one write. */
  sendAll(texts: readonly string[]): void {
    if (texts.length > 0) this.socket.write(Buffer.concat(texts.map((text) => clientFrame(Buffer.from(text)))));
  }

  end(): void {
    this.socket.destroy();
  }

  #data(chunk: Buffer, opened: (client: RawSocket) => void, refused: (error: Error) => void): void {
    if (this.#upgraded) {
      this.#read(chunk);
      return;
    }
    this.#handshake += chunk.toString('latin1');
    const end = this.#handshake.indexOf('\r\n\r\n');
    if (end < 0) return;
    if (!this.#handshake.startsWith('HTTP/1.1 101')) {
      refused(new Error(this.#handshake.split('\r\n', 1)[0]));
      this.socket.destroy();
      return;
    }
    const rest = Buffer.from(this.#handshake.slice(end + 4), 'latin1');
    this.#handshake = '';
    this.#upgraded = true;
    opened(this);
    if (rest.length > 0) this.#read(rest);
  }

  #read(chunk: Buffer): void {
    let at = 0;
    while (at < chunk.length) {
      if (this.#left === 0 && !this.#takeHead(chunk[at++] as number)) continue;
      const take = Math.min(this.#left, chunk.length - at);
      const keeps = this.#options.wantsText || this.#opcode >= OPCODE_CLOSE;
      if (keeps && take > 0) this.#parts.push(chunk.subarray(at, at + take));
      const third = at + THIRD - (this.#payloadBytes - this.#left);
      if (third >= at && third < at + take) this.#third = chunk[third] as number;
      at += take;
      this.#left -= take;
      if (this.#left === 0) this.#finish();
    }
  }

  /** Takes one byte of a frame's head; true when the head is complete. */
  #takeHead(byte: number): boolean {
    this.#head[this.#headBytes++] = byte;
    if (this.#headBytes < 2) return false;
    const short = (this.#head[1] as number) & ~MASK;
    const needed = short === 126 ? 4 : short === 127 ? HEAD_MAX_BYTES : 2;
    if (this.#headBytes < needed) return false;
    this.#opcode = (this.#head[0] as number) & 0x0f;
    this.#isDeflated = ((this.#head[0] as number) & DEFLATED) !== 0;
    this.#payloadBytes =
      short === 126 ? this.#head.readUInt16BE(2) : short === 127 ? Number(this.#head.readBigUInt64BE(2)) : short;
    this.#left = this.#payloadBytes;
    this.#headBytes = 0;
    return true;
  }

  #finish(): void {
    const payload = this.#parts.length === 0 ? null : Buffer.concat(this.#parts);
    this.#parts = [];
    if (this.#opcode === OPCODE_CLOSE) {
      this.#closeCode = payload && payload.length >= 2 ? payload.readUInt16BE(0) : null;
      this.socket.end();
    } else if (this.#opcode === OPCODE_PING) {
      // The server ends clients that do not answer for two minutes.
      this.socket.write(clientFrame(payload ?? Buffer.alloc(0), OPCODE_PONG));
    } else if (this.#opcode === OPCODE_TEXT) {
      this.#options.onFrame?.(this.#payloadBytes, payload, this.#isDeflated, this.#third);
    }
  }
}

function requestOf({ host, port, path = '/ws', deflate }: RawSocketOptions): string {
  const lines = [
    `GET ${path} HTTP/1.1`,
    `Host: ${host}:${port}`,
    'Upgrade: websocket',
    'Connection: Upgrade',
    `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`,
    'Sec-WebSocket-Version: 13',
    ...(deflate ? ['Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits'] : []),
  ];
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/** A whole message of at most 65,535 bytes as a client sends it. */
export function clientFrame(payload: Buffer, opcode = OPCODE_TEXT): Buffer {
  const head =
    payload.length < 126
      ? Buffer.from([0x80 | opcode, MASK | payload.length, 0, 0, 0, 0])
      : Buffer.from([0x80 | opcode, MASK | 126, payload.length >> 8, payload.length & 0xff, 0, 0, 0, 0]);
  return Buffer.concat([head, payload]);
}
