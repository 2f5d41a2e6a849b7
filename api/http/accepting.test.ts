// A burst of connections meets a busy server. The tests count turns of its event loop, not time.

import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Server, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { RunningRole } from '../../platform/index.ts';
import { Stage, until } from '../../test/support/api/stage.ts';
import { NODE_FLAGS } from '../../test/support/platform/children.ts';
import { Sessions } from '../gateway/sessions.ts';
import { startOrderBook } from '../orderbook/start.ts';
import { AcceptBudget, type Entrant } from './accept-budget.ts';

/** A little less than the engine's listening socket can queue. */
const CLIENTS = 400;
/** Time to admit one client on a busy machine, milliseconds. */
const ENTRY_MS = 0.2;

describe('accept budget', () => {
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
  let nowMs = 0;
  let admitted: number[];
  const entrant = (name: number): Entrant => ({
    admit: () => {
      nowMs += 0.4;
      admitted.push(name);
    },
    refuse: () => admitted.push(-name),
  });

  beforeEach(() => {
    admitted = [];
  });

  it('admits connections while the turn has time, the rest in later turns in order of arrival', async () => {
    const budget = new AcceptBudget(() => nowMs);
    for (let name = 1; name <= 8; name += 1) budget.take(entrant(name));
    expect([admitted, budget.waiting]).toEqual([[1, 2, 3], 5]);
    await turn();
    expect(admitted).toEqual([1, 2, 3, 4, 5, 6]);
    budget.take(entrant(9));
    await turn();
    await turn();
    expect([admitted, budget.waiting]).toEqual([[1, 2, 3, 4, 5, 6, 7, 8, 9], 0]);
  });

  it('admits at least one in a turn, however long it takes', async () => {
    const budget = new AcceptBudget(() => nowMs);
    const slow = (): void => {
      nowMs += 5;
    };
    for (let count = 0; count < 3; count += 1) budget.take({ admit: slow, refuse: slow });
    await turn();
    await turn();
    expect(budget.waiting).toBe(0);
  });

  it('forgets connections that closed, and refuses waiting and later ones once it is closed', async () => {
    const budget = new AcceptBudget(() => nowMs);
    const all = [1, 2, 3, 4, 5, 6].map(entrant);
    for (const one of all) budget.take(one);
    budget.forget(all[4] as Entrant);
    budget.close();
    budget.take(entrant(7));
    await turn();
    expect(admitted).toEqual([1, 2, 3, -4, -6, -7]);
  });
});

describe('a burst of connections', () => {
  let folder: string;
  let role: RunningRole;
  let child: ChildProcess | undefined;
  let turns = 0;
  let isCounting = true;
  /** Turn of each admission. */
  let opens: number[];
  let accepted: number[];
  /** Number of admitted clients at each REST answer. */
  let opensAtAnswers: number[];

  beforeEach(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'slotbook-burst-'));
    opens = [];
    accepted = [];
    opensAtAnswers = [];
    const { end } = ServerResponse.prototype;
    vi.spyOn(ServerResponse.prototype, 'end').mockImplementation(function (this: ServerResponse, ...body: unknown[]) {
      opensAtAnswers.push(opens.length);
      return end.apply(this, body as Parameters<typeof end>);
    });
    const { open } = Sessions.prototype;
    vi.spyOn(Sessions.prototype, 'open').mockImplementation(function (this: Sessions, socket) {
      opens.push(turns);
      const untilMs = performance.now() + ENTRY_MS;
      while (performance.now() < untilMs);
      open.call(this, socket);
    });
    const { emit } = Server.prototype;
    vi.spyOn(Server.prototype, 'emit').mockImplementation(function (this: Server, ...event: unknown[]) {
      if (event[0] === 'connection') accepted.push(turns);
      return emit.apply(this, event as Parameters<typeof emit>);
    });
    const stage = new Stage();
    await stage.markets();
    role = await startOrderBook(stage.context());
    isCounting = true;
    const count = (): void => {
      turns += 1;
      if (isCounting) setImmediate(count);
    };
    count();
  });

  afterEach(async () => {
    isCounting = false;
    child?.kill('SIGKILL');
    await role.stop();
    vi.restoreAllMocks();
    rmSync(folder, { recursive: true });
  });

  const file = (name: string): string => path.join(folder, name);

  /** Starts the burst and blocks the event loop until all of it waits in the sockets. */
  async function burst(): Promise<void> {
    const { port } = new URL(role.endpoints.orderbook ?? '');
    const script = fileURLToPath(new URL('../../test/support/api/burst.ts', import.meta.url));
    child = spawn(process.execPath, [...NODE_FLAGS, script, folder, port, String(CLIENTS)], {
      stdio: ['pipe', 'inherit', 'inherit'],
    });
    await until(() => existsSync(file('ready')));
    accepted = [];
    opensAtAnswers = [];
    writeFileSync(file('go'), '');
    const clock = new Int32Array(new SharedArrayBuffer(4));
    while (!existsSync(file('sent'))) Atomics.wait(clock, 0, 0, 5);
  }

  const mostInATurn = (turnsOf: readonly number[]): number => {
    const counts = new Map<number, number>();
    for (const turn of turnsOf) counts.set(turn, (counts.get(turn) ?? 0) + 1);
    return Math.max(...counts.values());
  };

  it('at the REST port enters over many turns, with answers to other clients between', async () => {
    await burst();
    await until(() => opens.length === CLIENTS && opensAtAnswers.length > 0);
    expect(opensAtAnswers[0]).toBeLessThan(CLIENTS / 2);
    // The slices of two phases of the loop have room for about twelve.
    expect(mostInATurn(opens)).toBeLessThan(CLIENTS / 10);
  });

  it.runIf(process.platform === 'linux')('at the REST port needs far fewer turns than it has clients', async () => {
    await burst();
    await until(() => accepted.length >= CLIENTS);
    expect((accepted.at(-1) ?? 0) - (accepted[0] ?? 0)).toBeLessThan(CLIENTS / 2);
    expect(mostInATurn(accepted)).toBeLessThan(CLIENTS / 10);
  });
});
