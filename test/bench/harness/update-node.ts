// Starts and drives the process of `update-sender.ts`, and that of a reader to compare with.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { nodeEnvironment, nodeFlags } from '../../../bin/node-flags.mjs';
import type { FullReadWay, ReadCounts } from './full-reader.ts';
import type { NaiveCounts } from './naive-reader.ts';
import type { Rate, SenderCounts, SenderOptions, SenderReady } from './update-sender.ts';

/** Nice value of the node: on a machine of its own it would take no processor time from the ingester. */
export const NODE_NICENESS = 10;

interface Start {
  readonly flags?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly niceness?: number;
}

function start(
  name: string,
  options: object = {},
  { flags = [], environment = {}, niceness = 0 }: Start = {},
): ChildProcess {
  const program = fileURLToPath(new URL(`./${name}.ts`, import.meta.url));
  const args = ['--disable-warning=ExperimentalWarning', '--expose-gc', ...flags, program, JSON.stringify(options)];
  // `nice` gives the value to all threads.
  const [command = '', ...rest] = ['nice', '-n', String(niceness), process.execPath, ...args];
  const env = { ...process.env, ...environment };
  return spawn(command, rest, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], env });
}

async function stop(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit');
  child.disconnect();
  await exited;
}

export class UpdateNode {
  readonly #child: ChildProcess;
  readonly urls: SenderReady;

  private constructor(child: ChildProcess, urls: SenderReady) {
    this.#child = child;
    this.urls = urls;
  }

  static async start(options: SenderOptions = {}): Promise<UpdateNode> {
    const child = start('update-sender', options, { niceness: NODE_NICENESS });
    const [urls] = (await once(child, 'message')) as [SenderReady];
    return new UpdateNode(child, urls);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  set rate(rate: Rate) {
    this.#child.send(rate);
  }

  /** Cuts the connection of the ingester, which then reads all accounts again. */
  drop(): void {
    this.#child.send('drop');
  }

  async counts(): Promise<SenderCounts> {
    this.#child.send('counts');
    const [counts] = (await once(this.#child, 'message')) as [SenderCounts];
    return counts;
  }

  stop(): Promise<void> {
    return stop(this.#child);
  }
}

/** The process of `naive-reader.ts`. */
export class NaiveReader {
  readonly #child = start('naive-reader');

  follow(urls: SenderReady): void {
    this.#child.send(urls);
  }

  /** Sets all counts to zero. */
  mark(): void {
    this.#child.send('mark');
  }

  async counts(): Promise<NaiveCounts> {
    this.#child.send('counts');
    const [counts] = (await once(this.#child, 'message')) as [NaiveCounts];
    return counts;
  }

  stop(): Promise<void> {
    return stop(this.#child);
  }
}

/** The process of `full-reader.ts`. */
export class FullReader {
  readonly #child: ChildProcess;

  constructor(urls: SenderReady, way: FullReadWay) {
    // As ingest starts, whose work it does.
    const ingest = ['run', 'ingest'];
    this.#child = start(
      'full-reader',
      { ...urls, way },
      { flags: nodeFlags(ingest), environment: nodeEnvironment(ingest) },
    );
  }

  /** Resolves at the end of the next full read. */
  async read(): Promise<ReadCounts> {
    const [counts] = (await once(this.#child, 'message')) as [ReadCounts];
    return counts;
  }

  /** Events since the last answer. */
  counts(): Promise<ReadCounts> {
    this.#child.send('counts');
    return this.read();
  }

  stop(): Promise<void> {
    return stop(this.#child);
  }
}
