// Records the genesis in the first block, so that a history built from records alone knows every account.

import { GENESIS_SLOT } from './clock.ts';
import { announceDeposit } from './savings.ts';
import type { SlotRun } from './slot-run.ts';
import { emit, enterExchange, leave, mention, type Transaction } from './transaction.ts';
import { statsOf, type Trader } from './world.ts';

/** One transaction per genesis account: its creation and its deposits. */
export function announceTurn(run: SlotRun): void {
  const { world } = run;
  if (world.slot !== GENESIS_SLOT + 1) return;
  for (const trader of world.traders) {
    run.transact((tx) => {
      announceAccount(tx, trader);
      for (const spot of world.spots) announceDeposit(tx, trader, spot);
    });
  }
}

function announceAccount(tx: Transaction, trader: Trader): void {
  const user = trader.account;
  enterExchange(tx, 'InitializeUser');
  mention(tx, trader.key, user.authority);
  emit(tx, 'NewUserRecord', {
    ts: BigInt(tx.now),
    user_authority: user.authority,
    user: trader.key,
    sub_account_id: user.sub_account_id,
    name: user.name,
    referrer: statsOf(tx.world, trader).account.referrer,
  });
  leave(tx);
}
