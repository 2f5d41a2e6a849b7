// Messages of a gRPC call in the bytes of its HTTP/2 stream: a byte that says whether a message is compressed, its length, the message.

const HEAD_BYTES = 5;

/** Bytes that are no message of the protocol: the stream cannot be believed. */
export class MessageError extends Error {
  override readonly name = 'MessageError';
}

/** One message as the wire has it. */
export function frameOf(message: Uint8Array): Buffer {
  const frame = Buffer.alloc(HEAD_BYTES + message.length);
  frame.writeUInt32BE(message.length, 1);
  frame.set(message, HEAD_BYTES);
  return frame;
}

/** Puts messages together from parts of any size. */
export class Frames {
  readonly #bytesMax: number;
  readonly #take: (message: Buffer, isCompressed: boolean) => void;
  readonly #head = Buffer.alloc(HEAD_BYTES);
  #headBytes = 0;
  /** Null until the head is complete. */
  #message: Buffer | null = null;
  #bytes = 0;

  /** `take` gets each message in memory of its own. */
  constructor(bytesMax: number, take: (message: Buffer, isCompressed: boolean) => void) {
    this.#bytesMax = bytesMax;
    this.#take = take;
  }

  /** Throws a MessageError for a message above the limit. */
  take(part: Buffer): void {
    let at = 0;
    while (at < part.length) {
      if (this.#message === null) {
        const copied = part.copy(this.#head, this.#headBytes, at);
        at += copied;
        this.#headBytes += copied;
        if (this.#headBytes < HEAD_BYTES) return;
        const length = this.#head.readUInt32BE(1);
        if (length > this.#bytesMax) throw new MessageError(`a message of ${length} bytes`);
        this.#message = Buffer.allocUnsafeSlow(length);
        this.#bytes = 0;
      }
      const copied = part.copy(this.#message, this.#bytes, at);
      at += copied;
      this.#bytes += copied;
      if (this.#bytes === this.#message.length) this.#deliver(this.#message);
    }
  }

  #deliver(message: Buffer): void {
    this.#message = null;
    this.#headBytes = 0;
    this.#take(message, this.#head[0] !== 0);
  }
}
