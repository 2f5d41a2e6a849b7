// `slotbook audit`: says which numbered records the log has, which it lacks, and which slots have gaps. Of one account it
// says the same.

import {
  BackfillTail,
  type Config,
  ConfigError,
  CoverageTail,
  historySinkGroup,
  readHistoryCompleteness,
  readKey,
} from '../platform/index.ts';
import { coverageOfAccount } from '../processors/index.ts';
import {
  type AccountsCoverage,
  type Backfill,
  type ChainGap,
  type CoverageHole,
  provesRecord,
  type StreamCoverage,
} from '../schemas/index.ts';
import { openLog } from './log.ts';

const EXIT_INCOMPLETE = 1;
const EXIT_NO_LOG = 2;
/** Holes and gaps in the text; `--json` has all that the log names. */
const LINES_MAX = 20;

export interface AuditFlags {
  readonly json?: true;
  /** Key of an account in base58. */
  readonly account?: string;
}

/**
 * Resolves to the exit code: 0 when the log has every record between its first and the chain's newest. Throws ConfigError for
 * an account that is no key.
 */
export async function audit(config: Config, { json, account }: AuditFlags): Promise<number> {
  if (account !== undefined && readKey(account) === null)
    throw new ConfigError(`--account must be a public key, not "${account}"`);
  const asJson = json === true;
  const log = await openLog(config);
  if (log === null) {
    process.stderr.write(`slotbook: there is no log in ${config.dataDir}\n`);
    return EXIT_NO_LOG;
  }
  try {
    if (account !== undefined) return print(asJson, { streams: await coverageOfAccount(log, account) });
    const tail = new CoverageTail(log);
    const streams = await tail.read();
    const backfills = [...(await new BackfillTail(log).read()).values()];
    const group = historySinkGroup(config.clickhouseDatabase, config.clickhouseDatabase);
    const { gaps } = await readHistoryCompleteness(log, group);
    const open = (gaps ?? []).filter(({ filledAtMs }) => filledAtMs === null);
    return print(asJson, { streams, accounts: tail.accounts, gaps: open, backfills, isUnknown: gaps === null });
  } finally {
    await log.close();
  }
}

interface Findings {
  readonly streams: readonly StreamCoverage[];
  readonly accounts?: readonly AccountsCoverage[];
  readonly gaps?: readonly ChainGap[];
  readonly backfills?: readonly Backfill[];
  /** No ingest wrote the log. */
  readonly isUnknown?: boolean;
}

/** Whether coverage is known, no slot has a gap and no record is missing. */
export function isComplete({ streams, gaps = [], isUnknown = false }: Findings): boolean {
  if (isUnknown || streams.length === 0 || gaps.length > 0) return false;
  return streams.every((one) => one.missing === 0 || !provesRecord(one));
}

function print(asJson: boolean, given: Findings): number {
  const complete = isComplete(given);
  const { isUnknown: _, ...findings } = given;
  const answer = { complete, ...findings };
  process.stdout.write(asJson ? `${JSON.stringify(answer, null, 2)}\n` : textOf(complete, findings));
  return complete ? 0 : EXIT_INCOMPLETE;
}

/** One line per stream, hole and open gap. */
export function textOf(complete: boolean, { streams, accounts = [], gaps = [] }: Findings): string {
  const known = streams.length > 0 ? streams.map(lineOf) : ['no coverage known'];
  const lines = [...known, ...accounts.map(totalsLineOf)];
  for (const { fromSlot, toSlot, reason, isLasting } of gaps.slice(0, LINES_MAX)) {
    lines.push(`slots ${fromSlot} to ${toSlot}: ${reason}${isLasting ? ' (lasting)' : ''}`);
  }
  if (gaps.length > LINES_MAX) lines.push(`and ${gaps.length - LINES_MAX} more gaps`);
  lines.push(complete ? 'complete' : 'incomplete');
  return `${lines.join('\n')}\n`;
}

function totalsLineOf({ stream, accounts, withHoles, missing, lost, forgotten }: AccountsCoverage): string {
  const holes = `${withHoles} with holes, ${missing} missing, ${lost} of them lost`;
  return `accounts ${stream}: ${accounts} accounts, ${holes}${forgotten > 0 ? `, ${forgotten} forgotten` : ''}`;
}

function lineOf({ subject, stream, firstId, lastId, chainId, missing, holes }: StreamCoverage): string {
  const name = `${subject} ${stream}:`;
  const chain = `chain at ${chainId ?? 'unknown'}`;
  const stored = firstId === null || lastId === null ? 'no record' : `from ${firstId} to ${lastId}`;
  if (missing === 0 && firstId === null) return `${name} ${stored}, ${chain}`;
  const range = `${missing === 0 ? 'complete ' : ''}${stored}`;
  if (missing === 0) return `${name} ${range}, ${chain}`;
  const texts = holes.slice(0, LINES_MAX).map(holeText);
  if (holes.length > LINES_MAX) texts.push('...');
  return `${name} ${range}, ${missing} missing: ${texts.join(' ')}, ${chain}`;
}

function holeText({ fromId, toId, fromSlot, toSlot, isLost, ...hole }: CoverageHole): string {
  const known = hole.reconstructed.length + hole.reconstructedOrders.length;
  const lost = `${isLost ? ', lost' : ''}${known > 0 ? `, ${known} orders reconstructed` : ''}`;
  return `[${fromId}, ${toId}] (slots ${fromSlot} to ${toSlot}${lost})`;
}
