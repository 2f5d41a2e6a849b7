// The messages of slotsUpdatesSubscribe: how each slot's bank goes from its first shred to the root, or dies.

import type { Happened } from '../chain/production.ts';
import type { Commitment, StoredBlock } from '../ledger.ts';

/** Slot updates of a node while it receives and replays a slot. `timestamp` has milliseconds, here of the chain's clock. */
export function bankUpdates(happened: Happened): object[] {
  if (happened.kind === 'skipped') return [];
  if (happened.kind === 'dead') {
    const { slot, parentSlot } = happened;
    return [
      { slot, timestamp: 0, type: 'firstShredReceived' },
      { parent: parentSlot, slot, timestamp: 0, type: 'createdBank' },
      { err: 'invalid block: TransactionError(AccountInUse)', slot, timestamp: 0, type: 'dead' },
    ];
  }
  const { slot, parentSlot, blockTime, transactions } = happened.block;
  const timestamp = blockTime * 1000;
  const failed = transactions.filter(({ err }) => err !== null).length;
  const stats = {
    maxTransactionsPerEntry: transactions.length,
    numFailedTransactions: failed,
    numSuccessfulTransactions: transactions.length - failed,
    numTransactionEntries: transactions.length === 0 ? 0 : 1,
  };
  return [
    { slot, timestamp, type: 'firstShredReceived' },
    { slot, timestamp, type: 'completed' },
    { parent: parentSlot, slot, timestamp, type: 'createdBank' },
    { slot, stats, timestamp, type: 'frozen' },
  ];
}

/** Slot update of a node when a level reaches a block. */
export function progressUpdate({ slot, blockTime }: StoredBlock, level: Exclude<Commitment, 'processed'>): object {
  return { slot, timestamp: blockTime * 1000, type: level === 'confirmed' ? 'optimisticConfirmation' : 'root' };
}
