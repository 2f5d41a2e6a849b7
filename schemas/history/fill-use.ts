// Use of a fill, by its action explanation. One table gives the TypeScript rule and the SQL fragment.
// docs/internals/history-semantics.md, "Candles": liquidations have no market price; position transfers are no trades.

/** Use of a fill: a market price and volume, volume only, nothing. */
export type FillUse = 'price' | 'volume' | 'none';

/** Explanations of fills that are not ordinary trades. */
const SPECIAL_USES: Readonly<Record<string, Exclude<FillUse, 'price'>>> = {
  liquidation: 'volume',
  transferPerpPosition: 'none',
};

/** Use of a fill with this `action_explanation`. */
export function fillUse(explanation: unknown): FillUse {
  return SPECIAL_USES[String(explanation)] ?? 'price';
}

const transfers = Object.keys(SPECIAL_USES).filter((explanation) => SPECIAL_USES[explanation] === 'none');

/** SQL condition over `action_explanation`: the fill counts for nothing. */
export const IS_TRANSFER_SQL = `action_explanation IN (${transfers.map((explanation) => `'${explanation}'`).join(', ')})`;
