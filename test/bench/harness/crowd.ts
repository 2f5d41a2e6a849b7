// Thousands of WebSocket clients in processes of their own, driven from a bench.

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type Sample, samplesOf } from './sample-rows.ts';

const PROGRAM = fileURLToPath(new URL('./crowd-process.ts', import.meta.url));

export interface Opening {
  /** `ws://host:port/ws`. */
  readonly url: string;
  readonly clients: number;
  readonly deflate?: boolean;
  /** Text messages each client sends when open. */
  readonly says?: readonly string[];
  /** Messages of clients that differ, in place of the common ones: each client takes the next list, in turn. */
  readonly saysInTurn?: readonly (readonly string[])[];
  /** Messages each client must have received before opening counts as done; heartbeats do not count. */
  readonly framesEach?: number;
  /** One client in this many reads its messages and records their arrival; 0: none. */
  readonly sampleEvery?: number;
}

export type Command =
  | {
      readonly do: 'open';
      readonly host: string;
      readonly port: number;
      readonly count: number;
      readonly deflate: boolean;
      readonly saysInTurn: readonly (readonly string[])[];
      readonly framesEach: number;
      readonly sampleEvery: number;
    }
  | { readonly do: 'await'; readonly frames: number }
  | { readonly do: 'say'; readonly says: readonly string[] }
  | { readonly do: 'mark' | 'counts' | 'close' };

export interface Counts {
  /** Messages since the mark, heartbeats left out. */
  readonly frames: number;
  /** Diffs of the `book` channel among them. */
  readonly diffs: number;
  /** Payload bytes since the mark, as they crossed the wire. */
  readonly bytes: number;
  /** Connections that ended, by close code (`null`: without one). */
  readonly closes: Readonly<Record<string, number>>;
  readonly samples: readonly Sample[];
}

export interface Answer extends Omit<Counts, 'samples'> {
  readonly id: number;
  /** As sample-rows.ts has them. */
  readonly samples: Float64Array;
  readonly error?: string;
}

export class Crowd {
  readonly #children: ChildProcess[];
  readonly #waiting = new Map<number, { resolve: (answer: Answer) => void; reject: (error: Error) => void }>();
  #lastId = 0;

  constructor(processes = 1) {
    this.#children = Array.from({ length: processes }, () => {
      const child = fork(PROGRAM, { execArgv: ['--disable-warning=ExperimentalWarning'], serialization: 'advanced' });
      child.on('message', (answer: Answer) => this.#answered(answer));
      return child;
    });
  }

  /** Opens clients, spread over the processes. */
  async open(opening: Opening): Promise<void> {
    const { url, clients, deflate = false, says = [], framesEach = 0, sampleEvery = 0 } = opening;
    const { saysInTurn = [says] } = opening;
    const { hostname: host, port } = new URL(url);
    const share = Math.ceil(clients / this.#children.length);
    await this.#all((index) => {
      const count = Math.max(0, Math.min(share, clients - index * share));
      return { do: 'open', host, port: Number(port), count, deflate, saysInTurn, framesEach, sampleEvery };
    });
  }

  /** Sets all counts to zero. */
  async mark(): Promise<void> {
    await this.#all(() => ({ do: 'mark' }));
  }

  /** Resolves when every process received its share of `frames` messages since the mark. */
  async received(frames: number): Promise<void> {
    await this.#all(() => ({ do: 'await', frames: frames / this.#children.length }));
  }

  /** Every client sends these messages. */
  async say(says: readonly string[]): Promise<void> {
    await this.#all(() => ({ do: 'say', says }));
  }

  /** Counts since the mark. Returns each sample once. */
  async counts(): Promise<Counts> {
    const answers = await this.#all(() => ({ do: 'counts' }));
    const closes: Record<string, number> = {};
    for (const answer of answers) {
      for (const [code, count] of Object.entries(answer.closes)) closes[code] = (closes[code] ?? 0) + count;
    }
    return {
      frames: answers.reduce((sum, { frames }) => sum + frames, 0),
      diffs: answers.reduce((sum, { diffs }) => sum + diffs, 0),
      bytes: answers.reduce((sum, { bytes }) => sum + bytes, 0),
      closes,
      samples: answers.flatMap(({ samples }, process) =>
        Array.from(samplesOf(samples), (sample) => ({ ...sample, client: sample.client * answers.length + process })),
      ),
    };
  }

  /** Drops all clients, without a close frame. */
  async close(): Promise<void> {
    await this.#all(() => ({ do: 'close' }));
  }

  async stop(): Promise<void> {
    await Promise.all(
      this.#children.map(async (child) => {
        if (child.exitCode !== null) return;
        const exited = once(child, 'exit');
        child.disconnect();
        await exited;
      }),
    );
  }

  #all(commandOf: (index: number) => Command): Promise<Answer[]> {
    return Promise.all(
      this.#children.map(
        (child, index) =>
          new Promise<Answer>((resolve, reject) => {
            const id = ++this.#lastId;
            this.#waiting.set(id, { resolve, reject });
            child.send({ id, command: commandOf(index) });
          }),
      ),
    );
  }

  #answered(answer: Answer): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if (answer.error !== undefined) waiting?.reject(new Error(answer.error));
    else waiting?.resolve(answer);
  }
}
