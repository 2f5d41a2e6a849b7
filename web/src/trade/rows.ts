// Rows of the ladder: levels, grouped and summed up from the best price on.

export interface Level {
  /** 1e6. */
  readonly price: bigint;
  /** In the units of the market. */
  readonly size: bigint;
  readonly sources: Readonly<Record<string, bigint | undefined>>;
}

export interface LadderRow extends Level {
  /** Sum of the sizes up to this row. */
  readonly total: bigint;
  /** Levels that were grouped into this row. */
  readonly levels: number;
}

export type Side = 'bids' | 'asks';

/**
 * The best `most` rows of a side. `group` is the width of a row, 1e6; 0n keeps every level alone. Bids are grouped down and
 * asks up, so that a row is never better than its levels.
 */
export function ladderRows(levels: readonly Level[], side: Side, group: bigint, most: number): readonly LadderRow[] {
  const rows: { price: bigint; size: bigint; sources: Record<string, bigint>; levels: number }[] = [];
  for (const { price, size, sources } of levels) {
    const grouped = group === 0n ? price : groupPrice(price, side, group);
    const last = rows.at(-1);
    if (last?.price === grouped) {
      last.size += size;
      last.levels += 1;
      addSources(last.sources, sources);
      continue;
    }
    if (rows.length === most) break;
    const own: Record<string, bigint> = {};
    addSources(own, sources);
    rows.push({ price: grouped, size, sources: own, levels: 1 });
  }
  let total = 0n;
  return rows.map((row) => {
    total += row.size;
    return { ...row, total };
  });
}

export function groupPrice(price: bigint, side: Side, group: bigint): bigint {
  const down = price - (price % group);
  return side === 'bids' || down === price ? down : down + group;
}

function addSources(sum: Record<string, bigint>, sources: Level['sources']): void {
  for (const [name, size] of Object.entries(sources)) if (size !== undefined) sum[name] = (sum[name] ?? 0n) + size;
}

/** Widths that a reader can choose, in ticks of the market: those that the gateway groups by. */
const TICKS = [1n, 10n, 100n, 500n, 1000n];

/** 0n, every level, comes first. */
export function groupChoices(tickSize: bigint): readonly bigint[] {
  return [0n, ...TICKS.map((ticks) => ticks * tickSize)];
}
