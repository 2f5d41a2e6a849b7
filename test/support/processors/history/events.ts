// Events for tests and benches: any kind with values from a number, and realistic fills.

import { type ChainEvent, columnsOf, encodeEvent, HEAD_FIELDS, UNKNOWN_RECORD } from '../../../../schemas/index.ts';

const HEAD: ReadonlySet<string> = new Set(HEAD_FIELDS);
const DAY_SECONDS = 86_400;
const FIRST_TS = 1_767_225_600n;

/** 64 bytes that differ for each number. */
export function signatureOf(n: number): Uint8Array {
  const bytes = Buffer.alloc(64, n % 251);
  bytes.writeUInt32LE(n, 0);
  bytes.writeUInt32BE(Math.imul(n, 0x9e3779b1) >>> 0, 40);
  return bytes;
}

/** An event of any kind. Whole numbers cover the ends and the middle of their range; optionals are sometimes absent. */
export function sampleEvent(name: string, n: number): ChainEvent {
  const data: Record<string, unknown> = {};
  for (const { name: field, type } of columnsOf(name)) {
    if (HEAD.has(field)) continue;
    if (field === 'ts') data[field] = FIRST_TS + BigInt(n);
    else data[field] = field === 'raw' ? sampleBytes(n + field.length) : sampleValue(type, n + field.length);
  }
  return { name, signature: signatureOf(n), eventIndex: n % 7, slot: 300_000_000 + n, txIndex: n % 2 ? n : null, data };
}

/** The encoded event. A record of no known kind has a name or none. */
export function sampleRecord(name: string, n: number): Buffer {
  const event = sampleEvent(name, n);
  if (name === UNKNOWN_RECORD) event.data.record_name = n % 2 ? 'SomeRecord' : null;
  return encodeEvent(event);
}

function sampleValue(type: string, n: number): unknown {
  const inner = /^(Nullable|Array|LowCardinality|FixedString)\((.*)\)$/.exec(type);
  if (inner?.[1] === 'Nullable') return n % 3 === 0 ? null : sampleValue(inner[2] ?? '', n);
  if (inner?.[1] === 'Array')
    return Array.from({ length: n % 4 }, (_, index) => sampleValue(inner[2] ?? '', n + index));
  if (inner?.[1] === 'FixedString') return Buffer.alloc(Number(inner[2]), (n * 37) % 256);
  if (inner?.[1] === 'LowCardinality') return sampleText(inner[2] ?? '', n);
  if (type === 'Bool') return n % 2 === 0;
  if (type === 'String') return ['', 'hash', 'ü "quoted"\n\t\\', 'x'.repeat(300)][n % 4];
  return sampleInteger(type, n);
}

function sampleBytes(n: number): Buffer {
  return Buffer.from([n % 256, 0, 255, 10]);
}

function sampleText(type: string, n: number): string | null {
  if (type.startsWith('Nullable') && n % 3 === 0) return null;
  return ['fill', 'perp', 'orderFilledWithAmm', 'unknown(7)'][n % 4] ?? '';
}

function sampleInteger(type: string, n: number): number | bigint {
  const match = /^(U?)Int(\d+)$/.exec(type);
  if (!match) throw new Error(`no sample for ${type}`);
  const bits = BigInt(match[2] ?? '0');
  const [min, max] = match[1] === 'U' ? [0n, (1n << bits) - 1n] : [-(1n << (bits - 1n)), (1n << (bits - 1n)) - 1n];
  const value = [min, max, BigInt(n % 100), max - BigInt(n % 100)][n % 4] ?? 0n;
  return bits <= 32n ? Number(value) : value;
}

/** A fill like the exchange emits it; one in four matches the AMM. */
export function fillEvent(n: number): ChainEvent {
  const amm = n % 4 === 0;
  const base = BigInt(1_000_000_000 + (n % 1_000) * 10_000_000);
  const quote = (base * 150n) / 1_000n;
  const taker = account(n % 5_000);
  const maker = amm ? null : account(10_000 + (n % 300));
  return {
    name: 'OrderActionRecord',
    signature: signatureOf(n),
    eventIndex: n % 5,
    slot: 300_000_000 + Math.floor(n / 20),
    txIndex: null,
    data: {
      ts: FIRST_TS + ((BigInt(n) / 50n) % BigInt(20 * DAY_SECONDS)),
      action: 'fill',
      action_explanation: amm ? 'orderFilledWithAmm' : 'orderFilledWithMatch',
      market_index: n % 8,
      market_type: 'perp',
      filler: account(20_000 + (n % 20)),
      filler_reward: 10_000n,
      fill_record_id: BigInt(n),
      base_asset_amount_filled: base,
      quote_asset_amount_filled: quote,
      taker_fee: quote / 1_000n,
      maker_fee: amm ? null : -(quote / 5_000n),
      referrer_reward: null,
      quote_asset_amount_surplus: amm ? 1_234n : null,
      spot_fulfillment_method_fee: null,
      taker,
      taker_order_id: n % 100_000,
      taker_order_direction: n % 2 ? 'long' : 'short',
      taker_order_base_asset_amount: base * 2n,
      taker_order_cumulative_base_asset_amount_filled: base,
      taker_order_cumulative_quote_asset_amount_filled: quote,
      maker,
      maker_order_id: amm ? null : n % 90_000,
      maker_order_direction: amm ? null : n % 2 ? 'short' : 'long',
      maker_order_base_asset_amount: amm ? null : base * 3n,
      maker_order_cumulative_base_asset_amount_filled: amm ? null : base,
      maker_order_cumulative_quote_asset_amount_filled: amm ? null : quote,
      oracle_price: 150_000_000n + BigInt(n % 10_000),
      bit_flags: 0,
      taker_existing_quote_entry_amount: null,
      taker_existing_base_asset_amount: null,
      maker_existing_quote_entry_amount: null,
      maker_existing_base_asset_amount: null,
      trigger_price: null,
      builder_idx: null,
      builder_fee: null,
    },
  };
}

function account(n: number): Uint8Array {
  const bytes = Buffer.alloc(32);
  for (let word = 0; word < 8; word++) bytes.writeUInt32LE(Math.imul(n + 1, 0x9e3779b1 + word * 2) >>> 0, word * 4);
  return bytes;
}
