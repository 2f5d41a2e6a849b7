// `slotbook audit`: says which numbered records the log has, which it lacks, and which slots have gaps.

import {
  BackfillTail,
  type Config,
  CoverageTail,
  historySinkGroup,
  readHistoryCompleteness,
} from '../platform/index.ts';
import type { ChainGap, StreamCoverage } from '../schemas/index.ts';
import { openLog } from './log.ts';

const EXIT_INCOMPLETE = 1;
const EXIT_NO_LOG = 2;
/** Holes and gaps in the text; `--json` has all that the log names. */
const LINES_MAX = 20;

/** Resolves to the exit code: 0 when the log has every record between its first and the chain's newest. */
export async function audit(config: Config, asJson: boolean): Promise<number> {
  const log = await openLog(config);
  if (log === null) {
    process.stderr.write(`slotbook: there is no log in ${config.dataDir}\n`);
    return EXIT_NO_LOG;
  }
  try {
    const streams = await new CoverageTail(log).read();
    const backfills = [...(await new BackfillTail(log).read()).values()];
    const group = historySinkGroup(config.clickhouseDatabase, config.clickhouseDatabase);
    const { gaps } = await readHistoryCompleteness(log, group);
    const open = (gaps ?? []).filter(({ filledAtMs }) => filledAtMs === null);
    const complete = gaps !== null && open.length === 0 && streams.every(({ missing }) => missing === 0);
    const answer = { complete, streams, gaps: open, backfills };
    process.stdout.write(asJson ? `${JSON.stringify(answer, null, 2)}\n` : textOf(complete, streams, open));
    return complete ? 0 : EXIT_INCOMPLETE;
  } finally {
    await log.close();
  }
}

/** One line per stream, hole and open gap. */
export function textOf(complete: boolean, streams: readonly StreamCoverage[], gaps: readonly ChainGap[]): string {
  const lines = streams.map(lineOf);
  for (const { fromSlot, toSlot, reason, isLasting } of gaps.slice(0, LINES_MAX)) {
    lines.push(`slots ${fromSlot} to ${toSlot}: ${reason}${isLasting ? ' (lasting)' : ''}`);
  }
  if (gaps.length > LINES_MAX) lines.push(`and ${gaps.length - LINES_MAX} more gaps`);
  lines.push(complete ? 'complete' : 'incomplete');
  return `${lines.join('\n')}\n`;
}

function lineOf({ subject, stream, firstId, lastId, chainId, missing, holes }: StreamCoverage): string {
  const name = `${subject} ${stream}:`;
  const chain = `chain at ${chainId ?? 'unknown'}`;
  if (firstId === null || lastId === null) return `${name} no record, ${chain}`;
  const range = `${missing === 0 ? 'complete ' : ''}from ${firstId} to ${lastId}`;
  if (missing === 0) return `${name} ${range}, ${chain}`;
  const texts = holes.slice(0, LINES_MAX).map(({ fromId, toId, fromSlot, toSlot, isLost }) => {
    return `[${fromId}, ${toId}] (slots ${fromSlot} to ${toSlot}${isLost ? ', lost' : ''})`;
  });
  if (holes.length > LINES_MAX) texts.push('...');
  return `${name} ${range}, ${missing} missing: ${texts.join(' ')}, ${chain}`;
}
