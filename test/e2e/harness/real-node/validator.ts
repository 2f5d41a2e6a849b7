// A real validator as a child process, where the machine has one: SOLANA_TEST_VALIDATOR, `solana-test-validator` on the PATH, or
// in a folder of shared tools beside the project.

import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ask } from '../../../support/localnet/test-client.ts';

const PROGRAM_NAME = 'solana-test-validator';
const SHARED_TOOLS = fileURLToPath(new URL('../../../../../shared/tools', import.meta.url));
const START_MS = 120_000;
/** Ports of one validator: RPC, PubSub beside it, faucet, gossip and the range for the rest. */
const PORTS = 40;
/** State of a stopped thread in `/proc/<pid>/task/<tid>/stat` (proc_pid_stat(5)). */
const STOPPED = 'T';
const POLL_STOPPED_MS = 10;
/** The first slot after genesis: none of those between has a block. */
export const FIRST_SLOT = 100;

export interface GenesisAccount {
  readonly pubkey: string;
  readonly owner: string;
  readonly lamports: number;
  /** base64 */
  readonly data: string;
}

/** Path of the validator, or null when the machine has none. */
export function findValidator(): string | null {
  const named = process.env.SOLANA_TEST_VALIDATOR;
  const folders = [...(process.env.PATH ?? '').split(delimiter), SHARED_TOOLS];
  const candidates =
    named === undefined || named === '' ? folders.map((folder) => join(folder, PROGRAM_NAME)) : [named];
  return candidates.find(isExecutable) ?? null;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** States of the threads of a process. One that ends meanwhile counts as running. */
function threadsOf(pid: number): (string | undefined)[] {
  return readdirSync(`/proc/${pid}/task`).map((thread) => {
    try {
      return readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8').split(') ').at(-1)?.charAt(0);
    } catch {
      return undefined;
    }
  });
}

export class Validator {
  readonly rpcUrl: string;
  readonly wsUrl: string;
  readonly #program: string;
  readonly #folder: string;
  readonly #port: number;
  #process: ChildProcess | null = null;

  private constructor(program: string, folder: string, port: number) {
    this.#program = program;
    this.#folder = folder;
    this.#port = port;
    this.rpcUrl = `http://127.0.0.1:${port}`;
    this.wsUrl = `ws://127.0.0.1:${port + 1}`;
  }

  /** Starts a chain of its own in `folder`, with these accounts at its genesis. */
  static async start(program: string, folder: string, accounts: readonly GenesisAccount[]): Promise<Validator> {
    const accountFolder = join(folder, 'accounts');
    mkdirSync(accountFolder, { recursive: true });
    for (const account of accounts) writeFileSync(join(accountFolder, `${account.pubkey}.json`), accountFile(account));
    const validator = new Validator(program, folder, await freePorts());
    await validator.#run(['--reset', '--warp-slot', `${FIRST_SLOT}`, '--account-dir', accountFolder]);
    return validator;
  }

  /** Kills the process at once and starts it again on its ledger. */
  async restartAfterKill(): Promise<void> {
    await this.#end('SIGKILL');
    await this.#run([]);
  }

  /** As `restartAfterKill`, without the blocks that it stored: it boots from its newest snapshot, like a node with a new disk. */
  async restartWithoutBlocks(): Promise<void> {
    await this.#end('SIGKILL');
    rmSync(join(this.#folder, 'ledger', 'rocksdb'), { recursive: true });
    this.#forgetVotes();
    await this.#run([]);
  }

  /** As `restartAfterKill`, for a validator that has stopped to vote. */
  async restartWithoutVotes(): Promise<void> {
    await this.#end('SIGKILL');
    this.#forgetVotes();
    await this.#run([]);
  }

  /** With them it waits until the chain has passed its last vote. */
  #forgetVotes(): void {
    const ledger = join(this.#folder, 'ledger');
    for (const name of readdirSync(ledger)) if (name.startsWith('tower-')) rmSync(join(ledger, name));
  }

  /** Resolves when every thread stands: until then one may still answer. */
  async pause(): Promise<void> {
    const { pid } = this.#process ?? {};
    if (pid === undefined) throw new Error('no validator runs');
    process.kill(pid, 'SIGSTOP');
    while (!threadsOf(pid).every((state) => state === STOPPED)) await sleep(POLL_STOPPED_MS);
  }

  resume(): void {
    this.#process?.kill('SIGCONT');
  }

  stop(): Promise<void> {
    return this.#end('SIGKILL');
  }

  async #run(flags: readonly string[]): Promise<void> {
    const from = this.#port;
    const ports = ['--rpc-port', `${from}`, '--faucet-port', `${from + 2}`, '--gossip-port', `${from + 3}`];
    const range = ['--dynamic-port-range', `${from + 4}-${from + PORTS - 1}`, '--bind-address', '127.0.0.1'];
    const ledger = ['--ledger', join(this.#folder, 'ledger'), '--ticks-per-slot', '8', '--quiet'];
    this.#process = spawn(this.#program, [...ledger, ...ports, ...range, ...flags], { stdio: 'ignore' });
    let ended = false;
    this.#process.once('exit', () => {
      ended = true;
    });
    for (const until = Date.now() + START_MS; Date.now() < until; await sleep(250)) {
      if (ended) throw new Error(`${this.#program} ended before it answered`);
      const slot = await ask<number>(this.rpcUrl, 'getSlot', [{ commitment: 'finalized' }]).catch(() => 0);
      if (slot > 0) return;
    }
    throw new Error(`${this.#program} does not answer`);
  }

  #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#process;
    this.#process = null;
    if (child === null || child.exitCode !== null) return Promise.resolve();
    return new Promise((resolve) => {
      child.once('exit', () => resolve());
      child.kill('SIGCONT');
      child.kill(signal);
    });
  }
}

/** The number is larger than a JavaScript number holds, so the text is made by hand. */
function accountFile({ pubkey, owner, lamports, data }: GenesisAccount): string {
  const space = Buffer.from(data, 'base64').length;
  return (
    `{"pubkey":"${pubkey}","account":{"lamports":${lamports},"data":["${data}","base64"],"owner":"${owner}",` +
    `"executable":false,"rentEpoch":18446744073709551615,"space":${space}}}`
  );
}

/** First of a row of ports of which the important ones are free. */
async function freePorts(): Promise<number> {
  for (let from = 21_000 + (process.pid % 200) * 100; ; from += PORTS) {
    const checked = await Promise.all([0, 1, 2, 3].map((offset) => isFree(from + offset)));
    if (checked.every(Boolean)) return from;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
