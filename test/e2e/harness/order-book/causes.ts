// Compares the causes of L3 changes with the blocks of the simulated cluster: each is a transaction of its block that names
// the account of the order.

import { WebSocket } from 'ws';
import type { BookCause, BookL3Diff, BookOrderRef } from '../../../../schemas/portable.ts';
import { eventually } from '../../../support/processes/processes.ts';
import type { Pipeline } from '../processes/pipeline.ts';

export interface CausedChange extends BookOrderRef {
  readonly cause: BookCause;
  /** Slot of the message. */
  readonly slot: number;
}

interface Block {
  readonly transactions: readonly {
    readonly transaction: { readonly signatures: readonly string[]; readonly message: { accountKeys: string[] } };
    readonly meta: { readonly loadedAddresses?: { readonly writable: string[]; readonly readonly: string[] } };
  }[];
}

/** Changes with a cause, of all perp markets: `count` from the first one on whose index in the block is known. */
export async function causedChanges(pipeline: Pipeline, count: number): Promise<readonly CausedChange[]> {
  const socket = new WebSocket(pipeline.url('gateway'));
  const found: CausedChange[] = [];
  socket.on('message', (bytes) => {
    const message = JSON.parse(bytes.toString()) as Partial<BookL3Diff>;
    const { slot, gone = [], bids = [], asks = [] } = message;
    if (message.diff === undefined || slot === undefined) return;
    for (const order of [...gone, ...bids, ...asks]) {
      const { cause } = order;
      if (cause && (found.length > 0 || cause.index !== null)) found.push({ ...order, cause, slot });
    }
  });
  const request = { type: 'subscribe', channel: 'book', market: '*', marketType: 'perp', level: 'l3', cause: true };
  socket.on('open', () => socket.send(JSON.stringify(request)));
  try {
    await eventually('changes with causes', async () => found.length >= count);
  } finally {
    socket.close();
  }
  return found.slice(0, count);
}

/** The keys of the transaction that a cause names, and its index in its block; null when its block does not have it. */
export async function transactionOf(pipeline: Pipeline, { slot, signature }: BookCause) {
  const shape = { encoding: 'json', transactionDetails: 'full', maxSupportedTransactionVersion: 0, rewards: false };
  const config = { ...shape, commitment: 'confirmed' };
  const { transactions } = await pipeline.cluster.rpc<Block>('getBlock', [slot, config]);
  const index = transactions.findIndex(({ transaction }) => transaction.signatures[0] === signature);
  const found = transactions[index];
  if (!found) return null;
  const { writable = [], readonly: read = [] } = found.meta.loadedAddresses ?? {};
  return { index, keys: [...found.transaction.message.accountKeys, ...writable, ...read] };
}
