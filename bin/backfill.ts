// `slotbook backfill`: asks ingest to read a range of blocks again, and shows the progress.

import { setTimeout as delay } from 'node:timers/promises';
import { BackfillTail, type Config, ConfigError } from '../platform/index.ts';
import { type Backfill, encodeMessage, TOPICS } from '../schemas/index.ts';
import { openLog } from './log.ts';

export interface BackfillFlags {
  readonly from?: string;
  readonly to?: string;
  readonly wait?: boolean;
}

const EXIT_FAILURE = 1;
const EXIT_NO_LOG = 2;
const POLL_MS = 500;

/** Resolves to the exit code. Throws ConfigError for a range that is none. */
export async function backfill(config: Config, { from, to, wait = true }: BackfillFlags): Promise<number> {
  const [fromSlot, toSlot] = [slotOf('--from', from), slotOf('--to', to)];
  if (fromSlot > toSlot) throw new ConfigError('--from must not be above --to');
  const log = await openLog(config);
  if (log === null) {
    process.stderr.write(`slotbook: there is no log in ${config.dataDir}\n`);
    return EXIT_NO_LOG;
  }
  try {
    await log.ensureTopics([TOPICS.backfills]);
    const requests = new BackfillTail(log);
    const atMs = Date.now();
    const newest = [...(await requests.read()).values()]
      .filter((one) => one.fromSlot === fromSlot && one.toSlot === toSlot)
      .reduce<Backfill | null>((last, one) => (last === null || one.atMs >= last.atMs ? one : last), null);
    // A failed one goes on at its next slot.
    const same = newest !== null && (isPending(newest) || newest.state === 'failed') ? newest : null;
    const id = same?.id ?? `slots-${fromSlot}-${toSlot}-${atMs}`;
    if (same === null || !isPending(same)) {
      const counts = { nextSlot: same?.nextSlot ?? fromSlot, found: same?.found ?? 0, lost: same?.lost ?? 0, atMs };
      const value: Backfill = { id, fromSlot, toSlot, ...counts, state: 'asked', reason: 'asked for by an operator' };
      await log.append(TOPICS.backfills, [{ key: id, value: encodeMessage('Backfill', value) }]);
    }
    process.stderr.write('ingest reads the blocks; ctrl-C ends only this display\n');
    if (!wait) return 0;
    let printed = '';
    for (;;) {
      const one = (await requests.read()).get(id);
      const line = one ? lineOf(one) : '';
      if (line !== printed) process.stderr.write(`${line}\n`);
      printed = line;
      if (one && !isPending(one)) {
        process.stdout.write(`${JSON.stringify(one)}\n`);
        return one.state === 'done' ? 0 : EXIT_FAILURE;
      }
      await delay(POLL_MS);
    }
  } finally {
    await log.close();
  }
}

const isPending = ({ state }: Backfill): boolean => state === 'asked' || state === 'running';

function lineOf({ state, nextSlot, toSlot, found, lost, reason }: Backfill): string {
  const slots = lost > 0 ? `, ${lost} slots whose blocks no node has` : '';
  return `${state}: next slot ${nextSlot} of ${toSlot}, ${found} events found${slots}${state === 'failed' ? `: ${reason}` : ''}`;
}

function slotOf(flag: string, text: string | undefined): number {
  const slot = Number(text);
  if (text === undefined || text.trim() === '' || !Number.isSafeInteger(slot) || slot < 0) {
    throw new ConfigError(`${flag} must be a slot, not "${text ?? ''}"`);
  }
  return slot;
}
