// Child processes of the contract suite: start one, read its lines, kill it at a chosen moment.

import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Config } from '../../../platform/config.ts';
import type { Topic } from '../../../schemas/index.ts';
import { bundledAt, bundleEnvironment } from '../platform/bundled.ts';
import { NODE_FLAGS } from '../platform/children.ts';

export interface WriterTask {
  readonly config: Config;
  readonly topic: Topic;
  readonly partition: number;
  readonly writer: string;
  /** Number of append calls. */
  readonly calls: number;
}

export interface ConsumerTask {
  readonly config: Config;
  readonly input: Topic;
  readonly output: Topic;
  readonly group: string;
  /** The process ends at this input offset. */
  readonly until: number;
}

export interface OpenerTask {
  readonly config: Config;
  readonly times: number;
}

export interface ClaimerTask {
  readonly config: Config;
  /** `rawHeaders` of each request. */
  readonly requests: readonly (readonly string[])[];
  /** Unix seconds of the process. */
  readonly nowS: number;
}

/** Content of a writer's record: its running number, and its index in the append call. */
export interface WrittenRecord {
  readonly writer: string;
  readonly number: number;
  readonly index: number;
  readonly of: number;
}

export interface Child {
  /** Lines printed so far. */
  readonly lines: readonly string[];
  /** Resolves after this many lines, or when the child ends. */
  printed(count: number): Promise<void>;
  /** Sends SIGKILL; resolves when the child has ended. */
  kill(): Promise<void>;
  /** Resolves when the child ends by itself; rejects with its standard error when it fails. */
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

export function startClaimer(task: ClaimerTask): Child {
  return start('./claimer-process.ts', task);
}

function start(file: string, task: WriterTask | ConsumerTask | OpenerTask | ClaimerTask): Child {
  return startScript(new URL(file, import.meta.url), task);
}

/** Starts a script that reads its task from its first argument. */
export function startScript(script: URL, task: unknown): Child {
  const child = spawn(process.execPath, [...NODE_FLAGS, bundledAt(script), JSON.stringify(task)], {
    env: { ...process.env, ...bundleEnvironment() },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
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
