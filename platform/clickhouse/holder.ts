// `holder.json`: the process that runs the managed child of a data directory, and the child's address.

import { randomInt } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';

export const HOST = '127.0.0.1';
/** Below Linux's ports for outgoing connections (32768 and up), so that none of those takes a child's port. */
const PORT_MIN = 20_000;
const PORT_END = 32_000;
const PORT_TRIES = 100;

export interface Holder {
  readonly pid: number;
  readonly url: string;
  readonly port: number;
  /** Random name that distinguishes this child from any other listener on its port. */
  readonly instance: string;
}

const holderFile = (directory: string) => path.join(directory, 'holder.json');

export function readHolder(directory: string): Holder | null {
  try {
    return JSON.parse(readFileSync(holderFile(directory), 'utf8')) as Holder;
  } catch {
    return null;
  }
}

export function writeHolder(directory: string, { port, instance }: Pick<Holder, 'port' | 'instance'>): void {
  const holder: Holder = { pid: process.pid, url: urlOf(port), port, instance };
  const draft = `${holderFile(directory)}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(holder)}\n`);
  renameSync(draft, holderFile(directory));
}

export function urlOf(port: number): string {
  return `http://${HOST}:${port}`;
}

export function isAlive({ pid }: Holder): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** A free port for a new directory, or null when there is none. */
export async function choosePort(): Promise<number | null> {
  for (let attempt = 0; attempt < PORT_TRIES; attempt += 1) {
    const port = randomInt(PORT_MIN, PORT_END);
    if (await isFree(port)) return port;
  }
  return null;
}

export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, HOST, () => server.close(() => resolve(true)));
  });
}
