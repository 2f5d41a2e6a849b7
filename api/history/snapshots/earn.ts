// Earn snapshots of one account: interest on its tokens (docs/internals/history-semantics.md, "Snapshots").

import type { BalancePoint } from './balances.ts';

export interface EarnAsset {
  readonly marketIndex: number;
  /** Tokens, mint decimals; see `TokenBalance`. */
  readonly balance: string;
  readonly deposits: string;
  readonly withdrawals: string;
  readonly rewards: string;
  readonly pnl: string;
  readonly interestBaseValue: string;
  /** Value of the interest at the point's price, quote 1e6. */
  readonly interestQuoteValue: string;
  /** 1e6. */
  readonly oraclePrice: string;
}

export interface EarnSnapshot {
  /** Unix seconds. */
  readonly ts: number;
  readonly assets: readonly EarnAsset[];
}

/** Points from the account's first token movement, oldest first. */
export function earnSnapshots(times: readonly number[], points: readonly BalancePoint[]): readonly EarnSnapshot[] {
  return times.flatMap((ts, index) => {
    const balances = points[index]?.balances ?? [];
    return balances.length === 0 ? [] : [{ ts, assets: balances.map(asset) }];
  });
}

function asset({ worth, price, interest, ...tokens }: BalancePoint['balances'][number]): EarnAsset {
  return {
    marketIndex: tokens.marketIndex,
    balance: String(tokens.balance),
    deposits: String(tokens.deposits),
    withdrawals: String(tokens.withdrawals),
    rewards: String(tokens.rewards),
    pnl: String(tokens.pnl),
    interestBaseValue: String(interest),
    interestQuoteValue: String(worth(interest)),
    oraclePrice: String(price),
  };
}
