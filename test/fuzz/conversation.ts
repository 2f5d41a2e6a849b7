// One WebSocket connection that sends generated frames, each followed by a probe: does the server still answer?

import { isUtf8 } from 'node:buffer';
import { RawSocket } from '../bench/harness/raw-socket.ts';

export interface SocketInput {
  readonly bytes: Buffer;
  readonly isText: boolean;
}

export interface Probe {
  /** A message with an answer that no other message causes; null when the frame itself has an answer. */
  readonly text: string | null;
  readonly isAnswer: (text: string) => boolean;
}

export const OPEN = 'open';
export const SILENT = 'silent';
export const CODELESS = 'closed without a code';
/** Messages examined after one input; a book with many markets may bring more. */
const RECEIVED_KEPT = 50;
const PATIENCE_MS = 20_000;

export class Conversation {
  /** Received messages that nobody waited for; the owner empties it. */
  readonly received: string[] = [];
  #client: RawSocket | null = null;
  #closed: string | null = null;
  #isAwaited: (text: string) => boolean = () => false;
  #over: (how: string) => void = () => {};

  /** Rejects with the status line when the upgrade is refused. */
  static async open(url: string): Promise<Conversation> {
    const { hostname: host, port, pathname, search } = new URL(url);
    const talk = new Conversation();
    talk.#client = await RawSocket.open({
      host,
      port: Number(port),
      path: `${pathname}${search}`,
      wantsText: true,
      onFrame: (_bytes, payload) => talk.#hear(payload?.toString() ?? ''),
      onClose: (code) => {
        talk.#closed = code === null ? CODELESS : `closed ${code}`;
        talk.#over(talk.#closed);
      },
    });
    return talk;
  }

  /** Sends a frame, then the probe if there is one. Returns the state afterwards: open, closed or silent. */
  say({ bytes, isText }: SocketInput, { text, isAnswer }: Probe): Promise<string> {
    this.#client?.sendFrame(bytes, isText);
    if (text !== null) this.#client?.send(text);
    return this.awaits(isAnswer);
  }

  /** `open` when a message satisfies `isIt`, else how the connection ended. */
  async awaits(isIt: (text: string) => boolean): Promise<string> {
    if (this.#closed !== null) return this.#closed;
    const end = new Promise<string>((resolve) => {
      this.#over = resolve;
    });
    this.#isAwaited = isIt;
    const timer = setTimeout(() => this.#over(SILENT), PATIENCE_MS);
    const how = await end;
    clearTimeout(timer);
    return how;
  }

  leave(): void {
    this.#client?.end();
  }

  #hear(text: string): void {
    if (this.#isAwaited(text)) this.#over(OPEN);
    else if (this.received.length < RECEIVED_KEPT) this.received.push(text);
  }
}

/** A frame that the protocol forbids or that is larger than the server accepts. */
export function isBroken({ bytes, isText }: SocketInput, maxBytes: number): boolean {
  return bytes.length > maxBytes || (isText && !isUtf8(bytes));
}

export function readable({ bytes, isText }: SocketInput): string {
  return isText ? bytes.toString().slice(0, 200) : bytes.toString('hex').slice(0, 200);
}
