// Open perp positions of an account, from what the history serves. A funding payment names the position of its market, and a
// fill that turned a position around names the part it closed. The newer of both, plus the fills since, is the position.

import type { Row } from './row.ts';

export interface OpenPosition {
  readonly symbol: string;
  /** Raw integer in the units of the market; negative is short. */
  readonly base: bigint;
  /** False when older fills could be missing. */
  readonly isCertain: boolean;
  readonly slot: number;
}

/** The side of the account in a fill. */
export function sideOf(row: Row, account: string): string {
  const direction = row.taker === account ? row.takerOrderDirection : row.makerOrderDirection;
  return String(direction ?? '–');
}

/** `fundings` and `fills` newest first. */
export function openPositions(
  account: string,
  fundings: readonly Row[],
  fills: readonly Row[],
  isWhole: boolean,
): readonly OpenPosition[] {
  const found = new Map<string, Found>();
  for (const row of fundings) {
    const symbol = String(row.symbol);
    if (found.has(symbol)) continue;
    const slot = Number(row.slot);
    found.set(symbol, {
      base: 0n,
      funded: integer(row.baseAssetAmount),
      slot,
      since: slot,
      isCertain: true,
      isTurned: false,
    });
  }
  for (const row of fills) {
    if (row.marketType !== 'perp') continue;
    const symbol = String(row.symbol);
    const entry = found.get(symbol) ?? { ...NOTHING_FOUND, isCertain: isWhole };
    found.set(symbol, entry);
    const slot = Number(row.slot);
    if (slot <= entry.since || entry.isTurned) continue;
    addFill(entry, row, account);
    entry.slot = Math.max(entry.slot, slot);
  }
  return [...found]
    .map(([symbol, { base, funded, slot, isCertain }]) => ({ symbol, base: base + funded, slot, isCertain }))
    .filter(({ base }) => base !== 0n);
}

interface Found {
  /** Of the fills since `since`. */
  base: bigint;
  /** Position at the newest funding payment. */
  funded: bigint;
  slot: number;
  /** Slot of the newest funding payment; -1 without one. */
  readonly since: number;
  isCertain: boolean;
  /** True once a fill has named the position before it: older records add nothing. */
  isTurned: boolean;
}

const NOTHING_FOUND = { base: 0n, funded: 0n, slot: 0, since: -1, isTurned: false };
const integer = (value: Row[string] | undefined): bigint => BigInt(String(value ?? 0));

function addFill(entry: Found, row: Row, account: string): void {
  const sign = sideOf(row, account) === 'long' ? 1n : -1n;
  entry.base += sign * integer(row.baseAssetAmountFilled);
  const closed = row.taker === account ? row.takerExistingBaseAssetAmount : row.makerExistingBaseAssetAmount;
  if (closed === null || closed === undefined) return;
  // The fill closed the whole position before it, the one of the funding payment included.
  entry.base -= sign * integer(closed);
  entry.funded = 0n;
  entry.isTurned = true;
  entry.isCertain = true;
}
