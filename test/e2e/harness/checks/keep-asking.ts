// Readers that never stop: each repeats its own requests to the history and reports every answer that fails or contradicts
// earlier answers.

import { setTimeout as sleep } from 'node:timers/promises';

/** Pause between rounds, so that the servers have time for their own work. */
const PAUSE_MS = 500;
/** A round that takes long is repeated less often: asking takes an eighth of the time at most. */
const PAUSES_PER_ROUND = 7;
const PAUSE_MAX_MS = 3_000;
const FAULTS_KEPT = 5;

/** One reader's loop. */
export interface Reader {
  readonly name: string;
  /** One round; `ask` returns the body of a 200 answer. Returns the fault, or null. */
  readonly round: (ask: (path: string) => Promise<string>) => Promise<string | null>;
}

export interface Asking {
  /** Rounds of each reader so far. */
  rounds(): Readonly<Record<string, number>>;
  /** All faults, at most a few of each reader. */
  readonly faults: readonly string[];
  stop(): Promise<void>;
}

export function keepAsking(base: string, readers: readonly Reader[]): Asking {
  const rounds: Record<string, number> = {};
  const faults: string[] = [];
  let isOver = false;
  const ask = async (path: string): Promise<string> => {
    const answer = await fetch(base + path);
    const body = await answer.text();
    if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${body.slice(0, 300)}`);
    return body;
  };
  const asking = readers.map(async ({ name, round }) => {
    let reported = 0;
    while (!isOver) {
      const beganMs = performance.now();
      const fault = await round(ask).catch((error: unknown) => String(error));
      if (fault !== null && ++reported <= FAULTS_KEPT) faults.push(`${name}, round ${rounds[name] ?? 0}: ${fault}`);
      rounds[name] = (rounds[name] ?? 0) + 1;
      await sleep(Math.max(PAUSE_MS, Math.min(PAUSES_PER_ROUND * (performance.now() - beganMs), PAUSE_MAX_MS)));
    }
  });
  return {
    rounds: () => ({ ...rounds }),
    faults,
    stop: async () => {
      isOver = true;
      await Promise.all(asking);
    },
  };
}

/** Answers that cannot change are the same each time. */
export function unchanging(name: string, paths: readonly string[]): Reader {
  const first = new Map<string, string>();
  return {
    name,
    round: async (ask) => {
      for (const path of paths) {
        const body = await ask(path);
        const known = first.get(path);
        first.set(path, known ?? body);
        if (known !== undefined && known !== body)
          return `${path} changed from ${known.slice(0, 200)} to ${body.slice(0, 200)}`;
      }
      return null;
    },
  };
}

/** Pages a list to its end, round after round, and finds exactly these members each time. */
export function paging(name: string, path: string, member: string, expected: readonly string[]): Reader {
  return {
    name,
    round: async (ask) => {
      const found: string[] = [];
      let page: string | null = null;
      do {
        const url: string = page === null ? path : `${path}&page=${page}`;
        const body: { records: Record<string, string>[]; meta: { nextPage: string | null } } = JSON.parse(
          await ask(url),
        );
        found.push(...body.records.map((row) => row[member] ?? ''));
        page = body.meta.nextPage;
        await sleep(PAUSE_MS);
      } while (page !== null);
      return found.join() === expected.join() ? null : `${found.length} rows of ${expected.length}, or others`;
    },
  };
}

/** Lists that grow: the newest row is never older than it was. */
export function growing(name: string, paths: readonly string[]): Reader {
  const newest = new Map<string, number>();
  return {
    name,
    round: async (ask) => {
      for (const path of paths) {
        const body = JSON.parse(await ask(path)) as { ts: number }[] | { records: { ts: number }[] };
        const rows = Array.isArray(body) ? body : body.records;
        const [now, before] = [Math.max(...rows.map(({ ts }) => ts ?? 0)), newest.get(path) ?? 0];
        if (!(now >= before)) return `${path} went back from ${before} to ${now}`;
        newest.set(path, now);
      }
      return null;
    },
  };
}

/** Any answer but 200 is a fault; bodies are not compared. */
export function answered(name: string, paths: readonly string[]): Reader {
  return {
    name,
    round: async (ask) => {
      for (const path of paths) await ask(path);
      return null;
    },
  };
}
