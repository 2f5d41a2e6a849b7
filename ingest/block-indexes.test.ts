// Which changes of orders name the transaction that made them, and its index in the block.

import bs58 from 'bs58';
import { describe, expect, it } from 'vitest';
import { newDiffer, USER, update, userBytes, userKey } from '../test/support/ingest/accounts.ts';
import { BlockIndexes } from './block-indexes.ts';
import type { Output } from './diff/output.ts';
import type { AccountUpdate, TransactionLogs } from './source.ts';

const signatureOf = (seed: number) => new Uint8Array(64).fill(seed);

function transaction(seed: number, blockIndex: number | null): TransactionLogs {
  const signatureBytes = signatureOf(seed);
  const signature = bs58.encode(signatureBytes);
  return {
    kind: 'transaction',
    slot: 5,
    signature,
    signatureBytes,
    failed: false,
    logs: [],
    blockIndex,
    blockTime: null,
  };
}

function written(seed: number | null, price = 1n): AccountUpdate {
  const order = { slot: 0, orderId: 1, marketIndex: 0, price, size: 10n, filled: 0n, reduceOnly: false };
  const bytes = userBytes({ user: 1, orders: [order], positions: [] });
  const account = update(userKey(1), USER.owner, bytes, 5, price);
  return seed === null ? account : { ...account, signature: signatureOf(seed) };
}

function causesOf(updates: readonly AccountUpdate[]) {
  const differ = newDiffer();
  const outputs: Output[] = [];
  for (const one of updates) differ.account(one, (output) => outputs.push(output));
  return outputs.flatMap((output) => (output.name === 'BookOrders' ? [output.value.cause] : []));
}

describe('cause of an order change', () => {
  it('has the index of a transaction that comes before or after the account in a batch', () => {
    for (const place of [0, 1]) {
      const indexes = new BlockIndexes();
      const batch = [written(7), transaction(8, 2)].toSpliced(place, 0, transaction(7, 41));
      indexes.take(batch);
      const cause = { slot: 5, signature: signatureOf(7), index: 41 };
      expect(causesOf([indexes.joined(written(7))])).toEqual([cause]);
    }
  });

  it('has no index while its transaction has not come, or came without one', () => {
    const indexes = new BlockIndexes();
    indexes.take([transaction(8, 3), transaction(7, null)]);
    expect(causesOf([indexes.joined(written(7))])).toEqual([{ slot: 5, signature: signatureOf(7), index: null }]);
  });

  it('is null when the source does not name the transaction', () => {
    const indexes = new BlockIndexes();
    indexes.take([transaction(7, 3)]);
    expect(causesOf([indexes.joined(written(null))])).toEqual([null]);
  });

  it('is that of each write, and of the write that closed the account', () => {
    const closed = { ...written(9, 3n), data: new Uint8Array(0) };
    const signatures = causesOf([written(7), written(8, 2n), closed]).map((cause) => cause?.signature[0]);
    expect(signatures).toEqual([7, 8, 9]);
  });

  it('remembers the newest transactions alone', () => {
    const indexes = new BlockIndexes();
    const wide = (seed: number) => {
      const signature = signatureOf(1);
      new DataView(signature.buffer).setUint32(0, seed);
      return signature;
    };
    const one = transaction(1, 0);
    indexes.take(
      Array.from({ length: 20_001 }, (_, seed) => ({ ...one, blockIndex: seed, signatureBytes: wide(seed) })),
    );
    expect(indexes.joined({ ...written(null), signature: wide(0) }).blockIndex).toBeUndefined();
    expect(indexes.joined({ ...written(null), signature: wide(1) }).blockIndex).toBe(1);
  });
});
