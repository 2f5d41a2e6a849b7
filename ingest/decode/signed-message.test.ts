// Decodes SignedMsgOrderRecord from bytes written by hand from its published layout.

import bs58 from 'bs58';
import { describe, expect, it } from 'vitest';
import { loadDefinition } from '../../schemas/index.ts';
import { compileEvents } from './events.ts';

const DISCRIMINATOR = 'd3c519128e56711b';
const PROGRAM = 'vELoC1audYbSYVRXn1vPaV8Axoa9oU6BYmNGZZBDZ1P';
const USER = new Uint8Array(32).fill(7);

const decoder = compileEvents(loadDefinition('velocity'));
const decode = (hex: string) =>
  decoder.decode({ program: PROGRAM, bytes: Buffer.from(hex.replace(/\s/g, ''), 'hex'), damaged: false });

const HEAD = `${DISCRIMINATOR} ${Buffer.from(USER).toString('hex')}
  04000000 68617368`; // hash: "hash"
/** order_type oracle, market_type perp, direction short, user_order_id 9, 2 base, price 0, market 258, reduce_only. */
const TERMS = '04 01 01 09 0094357700000000 0000000000000000 0201 01';
/** user_order_id 77, max_slot 400000000, uuid, ts 1790000000. */
const TAIL = '4d000000 0084d71700000000 6162636465666768 803bb16a00000000';

describe('SignedMsgOrderRecord', () => {
  it('decodes with every option present', () => {
    const options = [
      '01 01', // mustPostOnly, bit_flags
      '01 f827b16a00000000', // max_ts
      '01 4054ff0800000000', // trigger_price
      '01', // below
      '01 f9ffffffffffffff', // oracle_price_offset
      '01 0a000000', // activation_delay_slots
      '01 03', // builder_idx
      '01 6400', // builder_fee_tenth_bps
    ];
    const record = decode(`${HEAD} ${TERMS} ${options.join(' ')} ${TAIL}`);
    expect(record).toEqual({
      name: 'SignedMsgOrderRecord',
      problem: null,
      data: {
        user: USER,
        hash: 'hash',
        matching_order_params_order_type: 'oracle',
        matching_order_params_market_type: 'perp',
        matching_order_params_direction: 'short',
        matching_order_params_user_order_id: 9,
        matching_order_params_base_asset_amount: 2_000_000_000n,
        matching_order_params_price: 0n,
        matching_order_params_market_index: 258,
        matching_order_params_reduce_only: true,
        matching_order_params_post_only: 'mustPostOnly',
        matching_order_params_bit_flags: 1,
        matching_order_params_max_ts: 1_789_995_000n,
        matching_order_params_trigger_price: 150_950_976n,
        matching_order_params_trigger_condition: 'below',
        matching_order_params_oracle_price_offset: -7n,
        matching_order_params_activation_delay_slots: 10,
        matching_order_params_builder_idx: 3,
        matching_order_params_builder_fee_tenth_bps: 100,
        user_order_id: 77,
        signed_msg_order_max_slot: 400_000_000n,
        signed_msg_order_uuid: new Uint8Array(Buffer.from('abcdefgh')),
        ts: 1_790_000_000n,
      },
    });
  });

  it('decodes with every option absent', () => {
    const { data, problem } = decode(`${HEAD} ${TERMS} 00 00 00 00 00 00 00 00 00 ${TAIL}`);
    expect(problem).toBeNull();
    expect(data).toMatchObject({
      matching_order_params_post_only: 'none',
      matching_order_params_max_ts: null,
      matching_order_params_oracle_price_offset: null,
      matching_order_params_activation_delay_slots: null,
      matching_order_params_builder_fee_tenth_bps: null,
      user_order_id: 77,
      ts: 1_790_000_000n,
    });
  });

  it.each([
    ['with an auction', '01 14 01 0100000000000000 01 0200000000000000'],
    ['without an auction', '00 00 00'],
  ])('of the revision with auctions, %s, is kept as bytes', (_, auction) => {
    const hex = `${HEAD} ${TERMS} 00 00 00 00 00 00 ${auction} 00 00 ${TAIL}`;
    const { name, data, problem } = decode(hex);
    expect([name, problem?.reason, data.record_name]).toEqual([
      'UnknownRecord',
      'damaged_record',
      'SignedMsgOrderRecord',
    ]);
    expect(bs58.encode(data.program as Uint8Array)).toBe(PROGRAM);
    expect(Buffer.from(data.raw as Uint8Array).toString('hex')).toBe(hex.replace(/\s/g, ''));
  });
});
