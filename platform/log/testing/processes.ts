// Child processes of the contract suite: start one, read its lines, kill it at a chosen moment.

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Topic } from '../../../schemas/index.ts';
import type { Config } from '../../config.ts';

export interface WriterTask {
  readonly config: Config;
  readonly topic: Topic;
  readonly partition: number;
  readonly writer: string;
  /** Calls of append to make. */
  readonly calls: number;
}

export interface ConsumerTask {
  readonly config: Config;
  readonly input: Topic;
  readonly output: Topic;
  readonly group: string;
  /** Ends by itself at this input offset. */
  readonly until: number;
}

export interface OpenerTask {
  readonly config: Config;
  readonly times: number;
}

/** What a writer puts into a record: its running number, and its place in the call that wrote it. */
export interface WrittenRecord {
  readonly writer: string;
  readonly number: number;
  readonly index: number;
  readonly of: number;
}

export interface Child {
  /** Lines printed so far. */
  readonly lines: readonly string[];
  /** Resolves when so many lines were printed or the child ended. */
  printed(count: number): Promise<void>;
  /** SIGKILL; resolves when the child is gone. */
  kill(): Promise<void>;
  /** Resolves when the child ended by itself; rejects with what it wrote to standard error when it failed. */
  done(): Promise<void>;
}

export function startWriter(task: WriterTask): Child {
  return start('./writer-process.ts', task);
}

export function startConsumer(task: ConsumerTask): Child {
  return start('./consumer-process.ts', task);
}

export function startOpener(task: OpenerTask): Child {
  return start('./opener-process.ts', task);
}

function start(file: string, task: WriterTask | ConsumerTask | OpenerTask): Child {
  const script = fileURLToPath(new URL(file, import.meta.url));
  const child = spawn(process.execPath, [script, JSON.stringify(task)], { stdio: ['ignore', 'pipe', 'pipe'] });
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  const wake = () => {
    for (const check of waiting) check();
  };
  let complaints = '';
  let ended: { code: number | null; signal: NodeJS.Signals | null } | null = null;
  child.stderr.on('data', (chunk: Buffer) => {
    complaints += chunk.toString();
  });
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    wake();
  });
  const gone = new Promise<void>((resolve) => {
    child.once('close', (code, signal) => {
      ended = { code, signal };
      wake();
      resolve();
    });
  });
  return {
    lines,
    printed: (count) =>
      new Promise((resolve) => {
        const check = () => {
          if (lines.length < count && ended === null) return;
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
        check();
      }),
    async kill() {
      child.kill('SIGKILL');
      await gone;
    },
    async done() {
      await gone;
      if (ended?.code !== 0) throw new Error(`child ended with ${ended?.code ?? ended?.signal}: ${complaints}`);
    },
  };
}
