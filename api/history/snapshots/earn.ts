// Earn snapshots of one account (history reference 3.2.1): what its tokens brought.

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
  /** Worth of the interest at the point's price, quote 1e6. */
  readonly interestQuoteValue: string;
  /** 1e6. */
  readonly oraclePrice: string;
}

export interface EarnSnapshot {
  /** Unix seconds. */
  readonly ts: number;
  readonly assets: readonly EarnAsset[];
}

/** Points from the account's first movement of tokens on, oldest first. */
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
