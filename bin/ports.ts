// Checks that the ports of a command are free, and names the process that has a taken one.

import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Config, variableName } from '../platform/index.ts';
import { flagName } from './settings.ts';

export type PortSetting = {
  [K in keyof Config]: K extends `${string}Port` ? K : never;
}[keyof Config];

/** Ports of a role beside /metrics. */
export const ROLE_PORTS: Readonly<Record<string, readonly PortSetting[]>> = {
  orderbook: ['orderbookPort', 'gatewayPort'],
  history: ['historyPort'],
  page: ['pagePort'],
};

/** Processes of a killed run need about a second to end. */
const WAIT_MS = 3_000;
const RETRY_MS = 100;
const COMMAND_CHARS = 120;
/** State of a listening socket in /proc/net/tcp (include/net/tcp_states.h of Linux). */
const LISTENING = '0A';

export class PortTakenError extends Error {
  override readonly name = 'PortTakenError';
}

/**
 * Resolves when every port is free; port 0 always is. Rejects with a PortTakenError that names setting, process and remedy
 * when a port stays taken for `waitMs`.
 */
export async function assertPortsFree(
  config: Config,
  settings: readonly PortSetting[],
  waitMs = WAIT_MS,
): Promise<void> {
  const deadlineMs = performance.now() + waitMs;
  for (const setting of settings) {
    const port = config[setting];
    while (port !== 0 && (await isTaken(config.host, port))) {
      if (performance.now() > deadlineMs) throw new PortTakenError(explain(config.host, port, setting));
      await sleep(RETRY_MS);
    }
  }
}

function isTaken(host: string, port: number): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(true);
      else reject(error);
    });
    server.listen(port, host, () => server.close(() => resolve(false)));
  });
}

function explain(host: string, port: number, setting: PortSetting): string {
  const holder = holderOf(port);
  const who = holder ? `pid ${holder.pid} (${holder.command})` : 'another process';
  const stop = holder ? `end it with: kill ${holder.pid}` : 'end that process';
  return `port ${port} of ${host} is taken by ${who}; ${stop}, or choose another port with --${flagName(setting)} or ${variableName(setting)}`;
}

interface Holder {
  readonly pid: number;
  readonly command: string;
}

/** The process that listens on a port: only on Linux, and only when this user may inspect it. */
function holderOf(port: number): Holder | null {
  const sockets = new Set(['tcp', 'tcp6'].flatMap((table) => listeningSockets(table, port)));
  if (sockets.size === 0) return null;
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name) || !filesOf(name).some((file) => sockets.has(file))) continue;
    return { pid: Number(name), command: commandOf(name) };
  }
  return null;
}

/** Socket names that listen on a port, spelled like in /proc/PID/fd. */
function listeningSockets(table: string, port: number): string[] {
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  try {
    return readFileSync(`/proc/net/${table}`, 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter(([, local, , state]) => local?.endsWith(wanted) === true && state === LISTENING)
      .map((fields) => `socket:[${fields[9]}]`);
  } catch {
    return []; // not Linux
  }
}

function filesOf(pid: string): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((fd) => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${fd}`);
      } catch {
        return ''; // closed meanwhile
      }
    });
  } catch {
    return []; // ended meanwhile, or of another user
  }
}

function commandOf(pid: string): string {
  try {
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    return command.length > COMMAND_CHARS ? `${command.slice(0, COMMAND_CHARS)}...` : command;
  } catch {
    return 'ended meanwhile';
  }
}
