// Records the updates of any source into a capture file.

import { isTruncated } from '../decode/logs.ts';
import type { Source, SourceUpdate } from '../source.ts';
import { openLineWriter } from './files.ts';
import { formatLine } from './format.ts';

export interface Recorded {
  readonly accounts: number;
  readonly transactions: number;
  readonly slots: number;
}

/**
 * Writes the source's updates until it ends or the signal aborts; `.gz` and `.zst` compress. Resolves with the counts.
 * Rejects when the file cannot be written or the source fails.
 */
export async function recordCapture(source: Source, path: string, signal: AbortSignal): Promise<Recorded> {
  const writer = openLineWriter(path);
  const startMs = performance.now();
  const counts = { accounts: 0, transactions: 0, slots: 0 };
  try {
    for await (const batch of source.updates(null, signal)) {
      for (const update of batch) {
        const line = formatLine(await completed(update, source), Math.round(performance.now() - startMs));
        if (line === null) continue;
        await writer.write(line);
        if (update.kind === 'account') counts.accounts += 1;
        else if (update.kind === 'transaction') counts.transactions += 1;
        else if (update.kind === 'slot') counts.slots += 1;
      }
    }
  } finally {
    await writer.end();
  }
  return counts;
}

/** Fetches truncated logs in full: a capture cannot fetch them when it is played. */
async function completed(update: SourceUpdate, source: Source): Promise<SourceUpdate> {
  if (update.kind !== 'transaction' || !isTruncated(update.logs)) return update;
  return (await source.transaction(update.signature)) ?? update;
}
