// Messages that no client of `/ws` should send, made by fast-check from a seed like the requests of rest-inputs.ts.

import fc from 'fast-check';
import type { SocketInput } from './conversation.ts';
import { SPOT } from './full-stage.ts';
import { value } from './rest-inputs.ts';

/** Any value a member can have. */
export const member = fc.oneof(
  value,
  fc.integer(),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
  fc.jsonValue({ maxDepth: 3 }),
);
export const orMember = (known: fc.Arbitrary<unknown>) => fc.oneof({ weight: 4, arbitrary: known }, member);
const message = fc
  .record(
    {
      type: orMember(fc.constantFrom('subscribe', 'unsubscribe', 'SUBSCRIBE', 'ping', '')),
      channel: orMember(
        fc.constantFrom(
          'orderbook',
          'orderbook_indicative',
          'trades',
          'priorityfees',
          'book',
          'BOOK',
          'trades.v2',
          'account',
          'candles',
          '',
        ),
      ),
      market: orMember(fc.constantFrom('M0-PERP', 'm1-perp', SPOT.symbol, '*', 'M9-PERP', '')),
      marketType: orMember(fc.constantFrom('perp', 'PERP', 'spot', '*', 'future')),
      grouping: orMember(fc.constantFrom(1, 10, 100, 500, 1000, '100', '100abc')),
      level: orMember(fc.constantFrom('l2', 'l3', 'L2')),
      depth: orMember(fc.constantFrom(1, 20, 1000, 1001, 0, -1)),
      conflation: orMember(fc.constantFrom(0, 50, 100, 400, 1000, 75)),
      checksum: orMember(fc.constantFrom(true, false, 10, 100, 101)),
      resume: orMember(fc.record({ epoch: orMember(fc.nat()), seq: orMember(fc.nat()) })),
      account: orMember(fc.constantFrom('So11111111111111111111111111111111111111112', 'x')),
      authority: orMember(fc.constantFrom('So11111111111111111111111111111111111111112', '')),
      id: member,
    },
    { requiredKeys: ['type', 'channel'] },
  )
  .map((value) => JSON.stringify(value));

/** Mostly the given messages; also truncated ones, other JSON, random bytes, and oversized ones. */
export function nearly(message: fc.Arbitrary<string>): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 8, arbitrary: message },
    fc.json({ maxDepth: 4 }),
    message.chain((whole) => fc.nat({ max: whole.length }).map((end) => whole.slice(0, end))),
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.constantFrom(
      '',
      'null',
      '[]',
      '"x"',
      '1e999',
      '['.repeat(5_000),
      `{"type":"${'s'.repeat(16_000)}"}`,
      'x'.repeat(20_000),
    ),
  );
}

/** Text frames, text frames with invalid bytes, and binary frames. */
export function framesOf(text: fc.Arbitrary<string>): fc.Arbitrary<SocketInput> {
  const bytes = fc.uint8Array({ maxLength: 300 });
  return fc.oneof(
    { weight: 12, arbitrary: text.map((value) => ({ bytes: Buffer.from(value), isText: true })) },
    { weight: 1, arbitrary: bytes.map((value) => ({ bytes: Buffer.from(value), isText: true })) },
    { weight: 1, arbitrary: bytes.map((value) => ({ bytes: Buffer.from(value), isText: false })) },
  );
}

export const socketInput: fc.Arbitrary<SocketInput> = framesOf(nearly(message));
