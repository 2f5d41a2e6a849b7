import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { geyserMessages } from '../../schemas/index.ts';
import { MessageError } from './frames.ts';
import { readUpdate } from './wire.ts';

const { SubscribeUpdate } = geyserMessages();
type Update = ReturnType<typeof SubscribeUpdate.fromPartial>;

const encode = (fields: object): Buffer =>
  Buffer.from(SubscribeUpdate.encode(SubscribeUpdate.fromPartial(fields)).finish());
const read = (fields: object) => readUpdate(encode(fields));

const safe = fc.maxSafeNat();
const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const bytes = (length: number) => fc.uint8Array({ minLength: length, maxLength: length });
const text = fc.string({ unit: 'grapheme', maxLength: 20 });
const account = fc.record({
  slot: safe.map(String),
  isStartup: fc.boolean(),
  account: fc.record({
    pubkey: bytes(32),
    lamports: u64.map(String),
    owner: bytes(32),
    executable: fc.boolean(),
    rentEpoch: u64.map(String),
    data: fc.uint8Array({ maxLength: 300 }),
    writeVersion: u64.map(String),
    txnSignature: fc.option(bytes(64), { nil: undefined }),
  }),
});
const meta = fc.record({
  err: fc.option(fc.record({ err: bytes(4) }), { nil: undefined }),
  fee: u64.map(String),
  preBalances: fc.array(u64.map(String), { maxLength: 3 }),
  logMessages: fc.array(text, { maxLength: 5 }),
  logMessagesNone: fc.boolean(),
  loadedWritableAddresses: fc.array(bytes(32), { maxLength: 2 }),
  computeUnitsConsumed: u64.map(String),
});
const transaction = fc.record({
  slot: safe.map(String),
  transaction: fc.record({
    signature: bytes(64),
    isVote: fc.boolean(),
    index: safe.map(String),
    transaction: fc.record({ signatures: fc.array(bytes(64), { maxLength: 2 }) }),
    meta: fc.option(meta, { nil: undefined }),
  }),
});
const blockMeta = fc.record({
  slot: safe.map(String),
  blockhash: text,
  blockTime: fc.option(fc.record({ timestamp: safe.map(String) }), { nil: undefined }),
  blockHeight: fc.record({ blockHeight: u64.map(String) }),
  parentSlot: safe.map(String),
  parentBlockhash: text,
  executedTransactionCount: u64.map(String),
});
const slot = fc.record({
  slot: safe.map(String),
  parent: fc.option(safe.map(String), { nil: undefined }),
  status: fc.integer({ min: 0, max: 6 }),
  deadError: fc.option(text, { nil: undefined }),
});
const update = fc.record({
  filters: fc.array(text, { maxLength: 3 }),
  createdAt: fc.constant(new Date(1_700_000_000_123)),
  of: fc.oneof(
    fc.record({ account }),
    fc.record({ transaction }),
    fc.record({ blockMeta }),
    fc.record({ slot }),
    fc.record({ ping: fc.constant({}) }),
    fc.record({ pong: fc.record({ id: fc.nat() }) }),
    fc.record({ entry: fc.record({ slot: safe.map(String), hash: bytes(32) }) }),
  ),
});

/** The result of the generated codec, in our form. */
function expected({ filters, account, transaction, blockMeta, slot, ping, pong }: Update) {
  const info = transaction?.transaction;
  return {
    filters,
    account: account
      ? {
          slot: Number(account.slot),
          pubkey: account.account?.pubkey,
          owner: account.account?.owner,
          data: account.account?.data,
          writeVersion: BigInt(account.account?.writeVersion ?? 0),
          txnSignature: account.account?.txnSignature ?? new Uint8Array(),
        }
      : null,
    transaction: transaction
      ? {
          slot: Number(transaction.slot),
          signature: info?.signature,
          index: Number(info?.index),
          failed: info?.meta?.err !== undefined,
          logs: info?.meta && !info.meta.logMessagesNone ? info.meta.logMessages : null,
        }
      : null,
    block: blockMeta
      ? {
          slot: Number(blockMeta.slot),
          blockhash: blockMeta.blockhash,
          parentSlot: Number(blockMeta.parentSlot),
          parentBlockhash: blockMeta.parentBlockhash,
          ts: Number(blockMeta.blockTime?.timestamp ?? 0),
        }
      : null,
    slot: slot
      ? { slot: Number(slot.slot), parent: slot.parent === undefined ? null : Number(slot.parent), status: slot.status }
      : null,
    isPing: ping !== undefined,
    pong: pong?.id ?? null,
  };
}

/** Byte arrays of any class as lists, so that they compare. */
const plain = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (_, one: unknown) => {
      if (typeof one === 'bigint') return `${one}n`;
      if (typeof one === 'object' && one !== null && 'type' in one && 'data' in one && one.type === 'Buffer')
        return one.data;
      return one instanceof Uint8Array ? [...one] : one;
    }),
  );

describe('messages of a gRPC stream', () => {
  it('are read as the generated codec reads them', () => {
    fc.assert(
      fc.property(update, ({ of, ...fields }) => {
        const bytes = encode({ ...fields, ...of });
        const { bytes: kept, ...got } = readUpdate(bytes);
        expect(plain(got)).toEqual(plain(expected(SubscribeUpdate.decode(bytes))));
        expect(kept).toBe(bytes);
      }),
      { numRuns: 500 },
    );
  });

  it('may have fields that nobody knows, in any order', () => {
    const unknown = Buffer.from([
      0xf8, 0x07, 0x96, 0x01, 0x81, 0x08, 1, 2, 3, 4, 5, 6, 7, 8, 0x8d, 0x08, 1, 2, 3, 4, 0x92, 0x08, 1, 9,
    ]);
    const bytes = Buffer.concat([
      unknown,
      encode({ slot: { slot: '5', status: 1 } }),
      unknown,
      encode({ filters: ['a'] }),
    ]);
    expect(readUpdate(bytes)).toMatchObject({
      filters: ['a'],
      slot: { slot: 5, parent: null, status: 1 },
      account: null,
    });
  });

  it('have exact write versions up to 2^64', () => {
    for (const version of [0n, 1n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n + 3n, 2n ** 64n - 1n]) {
      const fields = { account: { slot: '1', account: { writeVersion: String(version) } } };
      expect(read(fields).account?.writeVersion).toBe(version);
    }
  });

  it('are refused when they end inside a field', () => {
    const bytes = encode({
      account: { slot: '700', account: { pubkey: new Uint8Array(32), data: new Uint8Array(9) } },
    });
    for (let length = 1; length < bytes.length; length++) {
      expect(() => readUpdate(bytes.subarray(0, length)), String(length)).toThrow(MessageError);
    }
    expect(() => readUpdate(Buffer.alloc(12, 0xff))).toThrow('varint without an end');
    expect(() => readUpdate(Buffer.from([0x0b]))).toThrow('wire type 3');
  });
});
