// The CSV of an export job as a stream: the header line, then slices of rows. The next slice is read while the consumer
// compresses the one before.

import type { ChainFinality } from '../../../schemas/index.ts';
import { EXPORT_FAILURES, type ExportFailureCode } from '../../http/errors.ts';
import type { MarketRegistry } from '../../views/registry.ts';
import type { BuiltParts } from '../built-parts.ts';
import { marketParameters, registryParameters } from '../lists.ts';
import type { HistoryStore } from '../store.ts';
import { BALANCES_HEADER, balanceLines, balanceRows } from './balances-file.ts';
import { type FileType, fileTypeOf } from './file-types.ts';
import type { ExportJob } from './jobs.ts';
import { ROWS_MAX } from './limits.ts';
import { headerOf, lineCount, linesOf, type RowScope, SLICE_ROWS, slicesOf } from './row-slices.ts';

/** A job that cannot succeed. */
export class ExportFailure extends Error {
  override readonly name = 'ExportFailure';
  readonly code: ExportFailureCode;

  constructor(code: ExportFailureCode) {
    super(EXPORT_FAILURES[code]);
    this.code = code;
  }
}

export interface StatementSources {
  readonly store: HistoryStore;
  readonly markets: MarketRegistry;
  readonly builtParts: Pick<BuiltParts, 'require'>;
  /** False for a capture: it may never say what is final, and takes nothing back. */
  readonly isLive: boolean;
  /** The newest final block time; null while the source has not said it. */
  readonly finality: () => Pick<ChainFinality, 'ts'> | null;
  /** For tests: bounds in place of `ROWS_MAX` and `SLICE_ROWS`. */
  readonly bounds?: { readonly rows?: number; readonly slice?: number };
}

/** False while statements must wait: they could have rows that the chain takes back. */
export function knowsFinality({ isLive, finality }: StatementSources): boolean {
  return !isLive || finality() !== null;
}

export interface Statement {
  /** CSV, at most once. */
  readonly chunks: AsyncIterable<Buffer>;
  /** Rows so far. */
  rows(): number;
}

/**
 * For sources with `knowsFinality`. Null for a job without final rows: the file ends before the second of the newest final slot. Rejects, or fails
 * while it is read, with ExportFailure or with an error of the store.
 */
export async function statementOfJob(sources: StatementSources, job: ExportJob): Promise<Statement | null> {
  const { markets, builtParts } = sources;
  const type = fileTypeOf(job.fileType);
  const market = job.market === null ? null : markets.byName(job.market);
  if (type === null || (job.market !== null && !market)) throw new ExportFailure(type ? 'unknownMarket' : 'internal');
  await builtParts.require('events');
  const finality = sources.finality();
  // Later slots of the final slot's second may not be final.
  const to = finality === null ? job.to : Math.min(job.to, finality.ts - 1);
  if (to < job.from) return null;
  // One database for the whole file, also when the history is rebuilt meanwhile.
  const store = sources.store.pinned();
  if (type.source === null) {
    const scope = { users: job.users, from: job.from, to, marketIndex: market?.marketIndex ?? null };
    const rows = await balanceRows(store, markets, scope);
    return rows.length === 0 ? null : wholeText(`${BALANCES_HEADER}${balanceLines(rows)}`, rows.length);
  }
  const scope: RowScope = {
    source: type.source(market?.marketType ?? null),
    users: type.of === 'accounts' ? job.users : null,
    parameters: {
      ...registryParameters(markets),
      ...(market ? marketParameters(market) : {}),
      ...walletParameter(type, job),
    },
    from: job.from,
    to,
    sliceRows: sources.bounds?.slice ?? SLICE_ROWS,
  };
  return rowStatement(store, scope, sources.bounds?.rows ?? ROWS_MAX);
}

const walletParameter = ({ of }: FileType, { authority }: ExportJob) => (of === 'wallet' ? { authority } : {});

function wholeText(text: string, rows: number): Statement {
  const chunks = async function* () {
    yield Buffer.from(text);
  };
  return { chunks: chunks(), rows: () => rows };
}

async function rowStatement(store: HistoryStore, scope: RowScope, rowsMax: number): Promise<Statement | null> {
  const slices = await slicesOf(store, scope);
  if (slices.length === 0) return null;
  let rows = 0;
  const read = (at: number) => {
    const slice = slices[at];
    const lines = slice ? linesOf(store, scope, slice) : Promise.resolve([]);
    lines.catch(() => {}); // awaited later
    return lines;
  };
  const chunks = async function* () {
    yield Buffer.from(headerOf(scope.source));
    let next = read(0);
    for (let at = 1; at <= slices.length; at++) {
      const lines = await next;
      next = read(at);
      rows += lineCount(lines);
      if (rows > rowsMax) throw new ExportFailure('tooManyRows');
      yield* lines;
    }
  };
  return { chunks: chunks(), rows: () => rows };
}
