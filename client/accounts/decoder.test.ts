// Accounts of any length, names, discriminators, lazy views, filters, and events from log lines.

import { readFileSync } from 'node:fs';
import { BorshAccountsCoder, type Idl } from '@coral-xyz/anchor';
import { PublicKey } from '@solana/web3.js';
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { fieldOf } from '../../schemas/index.ts';
import { accountOf } from '../../test/support/ingest/accounts.ts';
import { blankAccount, randomAccount, setField } from '../../test/support/ingest/bytes.ts';
import { AccountError, camelCase, createDecoder, fromBase58, fromBase64, nameText, toBase58 } from '../index.ts';

const idlOf = (name: string): object =>
  JSON.parse(readFileSync(new URL(`../../schemas/chain/idl/${name}.json`, import.meta.url), 'utf8')) as object;
const idl = idlOf('velocity');
const decoder = createDecoder(idl);

/** Anchor's value in our form. */
function plain(value: unknown): unknown {
  if (value instanceof PublicKey) return value.toBytes();
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== 'object' || value === null) return value;
  if (value.constructor.name === 'BN') return BigInt(String(value));
  const entries = Object.entries(value);
  const [first] = entries;
  if (entries.length === 1 && first && typeof first[1] === 'object' && Object.keys(first[1] ?? {}).length === 0) {
    return `variant ${first[0].toLowerCase()}`;
  }
  return Object.fromEntries(entries.map(([name, member]) => [camelCase(name), plain(member)]));
}

/** Enum variants in the same form. Byte arrays of Anchor are arrays of numbers already. */
function withVariants(value: unknown, like: unknown): unknown {
  if (typeof like === 'string' && like.startsWith('variant ')) return `variant ${String(value).toLowerCase()}`;
  if (value instanceof Uint8Array || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((member, index) => withVariants(member, (like as unknown[])[index]));
  const members = like as Record<string, unknown>;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, withVariants(member, members[name])]));
}

describe('createDecoder', () => {
  afterEach(() => vi.unstubAllGlobals());

  it('decodes every field as Anchor does, in camelCase, with exact integers and enum variants as text', () => {
    const anchor = new BorshAccountsCoder(idl as Idl);
    for (const name of ['User', 'UserStats', 'PerpMarket', 'SpotMarket', 'State']) {
      fc.assert(
        fc.property(fc.nat(), (seed) => {
          const bytes = randomAccount(accountOf(name), seed);
          const theirs = plain(anchor.decode(name, bytes));
          expect(withVariants(decoder.decode(name, bytes), theirs)).toEqual(theirs);
        }),
        { numRuns: 4 },
      );
    }
  });

  it('has the names of the protocol', () => {
    const bytes = blankAccount(accountOf('User'));
    const { layout } = accountOf('User');
    setField(bytes, layout, 'name', Buffer.from('Main Account'.padEnd(32)));
    setField(bytes, layout, 'orders.2.status', 'open');
    setField(bytes, layout, 'orders.2.oracle_price_offset', -5n);
    setField(bytes, layout, 'perp_positions.1.base_asset_amount', -(2n ** 62n));
    setField(bytes, layout, 'spot_positions.0.balance_type', 'borrow');
    const user = decoder.decode('User', bytes);
    expect(nameText(user.name)).toBe('Main Account');
    expect(user.name).toHaveLength(32);
    expect(user.orders[2]).toMatchObject({ status: 'open', oraclePriceOffset: -5n, reduceOnly: false, bitFlags: 0 });
    expect(user.perpPositions[1]?.baseAssetAmount).toBe(-(2n ** 62n));
    expect(user.spotPositions[0]?.balanceType).toBe('borrow');
    const market = decoder.decode('PerpMarket', blankAccount(accountOf('PerpMarket')));
    expect([market.oracle.length, typeof market.oracleSource, typeof market.marketStats]).toEqual([
      32,
      'string',
      'object',
    ]);
  });

  it('knows accounts by their PascalCase names only', () => {
    const bytes = blankAccount(accountOf('User'));
    for (const name of ['user', 'USER', 'perpMarket', '', 'constructor']) {
      expect(() => decoder.decode(name, bytes)).toThrow(`Unknown account: ${name}`);
      expect(() => decoder.view(name, bytes)).toThrow(`Unknown account: ${name}`);
    }
    expect(decoder.nameOf(bytes)).toBe('User');
    expect(decoder.nameOf(new Uint8Array(3))).toBeNull();
  });

  it('checks the discriminator', () => {
    const bytes = blankAccount(accountOf('UserStats'));
    for (const data of [bytes, bytes.subarray(0, 7), new Uint8Array()]) {
      expect(() => decoder.decode('User', data)).toThrow(AccountError);
      expect(() => decoder.view('User', data)).toThrow(AccountError);
    }
  });

  it('reads every length: missing bytes as zero, bytes beyond the layout not at all', () => {
    const definition = accountOf('UserStats');
    const whole = randomAccount(definition, 3);
    const { size } = definition.layout;
    for (let length = 8; length <= size + 64; length += 1) {
      const padded = Buffer.alloc(size);
      whole.copy(padded, 0, 0, Math.min(length, size));
      const data =
        length <= size ? whole.subarray(0, length) : Buffer.concat([whole, Buffer.alloc(length - size, 0xa5)]);
      expect(decoder.decode('UserStats', data)).toEqual(decoder.decode('UserStats', padded));
    }
    const user = randomAccount(accountOf('User'), 4);
    const grown = Buffer.concat([user, Buffer.alloc(1, 1)]);
    expect(decoder.decode('User', grown)).toEqual(decoder.decode('User', user));
  });

  it('reads an account at any place of its buffer', () => {
    const bytes = randomAccount(accountOf('User'), 5);
    const inside = Buffer.concat([Buffer.alloc(13, 7), bytes, Buffer.alloc(5, 9)]).subarray(13, 13 + bytes.length);
    expect(decoder.decode('User', inside)).toEqual(decoder.decode('User', bytes));
  });

  it('gives the same values where pages forbid generated code', () => {
    const bytes = randomAccount(accountOf('User'), 6);
    vi.stubGlobal(
      'Function',
      class {
        constructor() {
          throw new EvalError('refused by the content security policy');
        }
      },
    );
    const strict = createDecoder(idl).decode('User', bytes);
    vi.unstubAllGlobals();
    expect(strict).toEqual(decoder.decode('User', bytes));
  });

  it('takes IDLs of the older Anchor format', () => {
    const old = {
      name: 'thing',
      version: '1.0.0',
      metadata: { address: 'dRiftyHA39MWEi3m9aunc5MzRF1JYuBsbn6VPcn33UH' },
      accounts: [
        {
          name: 'User',
          type: {
            kind: 'struct',
            fields: [
              { name: 'authority', type: 'publicKey' },
              { name: 'last24hVolume', type: 'u64' },
              { name: 'kind', type: { defined: 'Kind' } },
              { name: 'ids', type: { vec: 'u32' } },
            ],
          },
        },
      ],
      types: [{ name: 'Kind', type: { kind: 'enum', variants: [{ name: 'Init' }, { name: 'InUse' }] } }],
    };
    const older = createDecoder<{ User: { last24hVolume: bigint; kind: string; ids: number[] } }>(old);
    const bytes = Buffer.alloc(8 + 32 + 8 + 1 + 12);
    bytes.set(accountOf('User').discriminator);
    bytes.writeBigUInt64LE(2n ** 64n - 1n, 40);
    bytes[48] = 1;
    bytes.writeUInt32LE(2, 49);
    bytes.writeUInt32LE(7, 53);
    bytes.writeUInt32LE(8, 57);
    expect(older.decode('User', bytes)).toMatchObject({ last24hVolume: 2n ** 64n - 1n, kind: 'inUse', ids: [7, 8] });
    for (const length of [49, 52, 55]) expect(older.decode('User', bytes.subarray(0, length)).ids).toEqual([]);
    expect(older.decode('User', Buffer.concat([bytes, Buffer.alloc(9, 1)])).ids).toEqual([7, 8]);
    bytes[48] = 9;
    expect(older.decode('User', bytes).kind).toBe('unknown(9)');
  });
});

describe('a lazy view', () => {
  it('has the values of a full decode', () => {
    const bytes = randomAccount(accountOf('User'), 8);
    const user = decoder.decode('User', bytes);
    const view = decoder.view('User', bytes);
    expect(view.subAccountId).toBe(user.subAccountId);
    expect(view.authority).toEqual(user.authority);
    expect(view.orders.length).toBe(32);
    for (const [index, order] of [...view.orders].entries()) {
      const whole = user.orders[index];
      for (const name of Object.keys(whole ?? {}) as (keyof typeof order)[]) {
        expect(order[name]).toEqual(whole?.[name as keyof typeof whole]);
      }
    }
    expect(view.orders.at(32)).toBeUndefined();
    const market = randomAccount(accountOf('PerpMarket'), 9);
    expect(decoder.view('PerpMarket', market).marketStats.lastMarkPriceTwap).toBe(
      decoder.decode('PerpMarket', market).marketStats.lastMarkPriceTwap,
    );
  });
});

describe('filters', () => {
  it('name the discriminator and fields, never the size', () => {
    const authority = new Uint8Array(32).fill(9);
    const filters = decoder.filters('User', { idle: false, authority: toBase58(authority), 'orders.3.status': 'open' });
    const { layout } = accountOf('User');
    const offsets = ['idle', 'authority', 'orders.3.status'].map((path) => fieldOf(layout, path)?.offset);
    expect(filters.map(({ memcmp: { offset } }) => offset)).toEqual([0, ...offsets]);
    const bytes = blankAccount(accountOf('User'));
    setField(bytes, accountOf('User').layout, 'authority', authority);
    setField(bytes, accountOf('User').layout, 'orders.3.status', 'open');
    for (const { memcmp } of filters) {
      const wanted = fromBase58(memcmp.bytes);
      expect(bytes.subarray(memcmp.offset, memcmp.offset + wanted.length)).toEqual(Buffer.from(wanted));
    }
    expect(JSON.stringify(filters)).not.toContain('dataSize');
  });

  it('refuse fields and values that the account does not have', () => {
    expect(() => decoder.filters('User', { idel: true })).toThrow('User has no field idel');
    expect(() => decoder.filters('User', { idle: 'yes' })).toThrow('idle cannot be yes');
    expect(() => decoder.filters('user')).toThrow('Unknown account: user');
  });
});

describe('base64', () => {
  it('reads any text as far as it is base64', () => {
    fc.assert(
      fc.property(fc.uint8Array(), fc.boolean(), (bytes, isPadded) => {
        const text = Buffer.from(bytes).toString('base64');
        expect(Buffer.from(fromBase64(isPadded ? text : text.replaceAll('=', '')))).toEqual(Buffer.from(bytes));
      }),
    );
    expect([...fromBase64('AQI!AQI')]).toEqual([1, 2]);
  });
});
