import { readFileSync } from 'node:fs';
import { type BN, BorshAccountsCoder, type Idl } from '@coral-xyz/anchor';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { convertOldIdl, type OldIdl } from '../../schemas/chain/old-idl.ts';
import { driftIdlPath } from '../../test/peers/drift-idl.ts';
import { AccountError } from './account.ts';
import { readOracle } from './oracle.ts';

const SWITCHBOARD = 'SW1TCH7qEPTdLsDHRgPuMQjbQxKdH2aBStViMFnt64f';
const AGGREGATOR_HEAD = [217, 230, 65, 101, 201, 162, 27, 125];
const PULL_FEED_HEAD = [196, 27, 108, 196, 10, 215, 219, 40];
const AGGREGATOR_BYTES = 3_851;
const PULL_FEED_BYTES = 3_208;
const U64_MAX = 2n ** 64n - 1n;

interface Decimal {
  readonly mantissa: BN;
  readonly scale: number;
}
interface Aggregator {
  readonly min_oracle_results: number;
  readonly latest_confirmed_round: {
    readonly num_success: number;
    readonly round_open_slot: BN;
    readonly round_open_timestamp: BN;
    readonly result: Decimal;
    readonly std_deviation: Decimal;
  };
}
interface PullFeed {
  readonly last_update_timestamp: BN;
  readonly result: { readonly value: BN; readonly std_dev: BN; readonly slot: BN };
}

function aggregator(round: { result: bigint; deviation: bigint; scale?: number; successes?: number }): Uint8Array {
  const bytes = Buffer.alloc(AGGREGATOR_BYTES);
  bytes.set(AGGREGATOR_HEAD);
  bytes.writeUInt32LE(3, 236);
  bytes.writeUInt32LE(round.successes ?? 3, 341);
  bytes.writeBigUInt64LE(250_000_000n, 350);
  bytes.writeBigInt64LE(1_700_000_000n, 358);
  for (const [at, mantissa] of [
    [366, round.result],
    [386, round.deviation],
  ] as const) {
    bytes.writeBigUInt64LE(BigInt.asUintN(64, mantissa), at);
    bytes.writeBigInt64LE(mantissa >> 64n, at + 8);
    bytes.writeUInt32LE(round.scale ?? 9, at + 16);
  }
  return bytes;
}

function pullFeed({ value, deviation, slot }: { value: bigint; deviation: bigint; slot: bigint }): Uint8Array {
  const bytes = Buffer.alloc(PULL_FEED_BYTES);
  bytes.set(PULL_FEED_HEAD);
  bytes.writeBigInt64LE(1_700_000_000n, 2_216);
  for (const [at, number] of [
    [2_264, value],
    [2_280, deviation],
  ] as const) {
    bytes.writeBigUInt64LE(BigInt.asUintN(64, number), at);
    bytes.writeBigInt64LE(number >> 64n, at + 8);
  }
  bytes.writeBigUInt64LE(slot, 2_368);
  return bytes;
}

describe('a Switchboard aggregator', () => {
  it('gives its confirmed result at 1e6, with slot and time of the round', () => {
    expect(readOracle(aggregator({ result: 154_500_000_123n, deviation: 200_000_000n }), 'Switchboard')).toEqual({
      price: 154_500_000n,
      confidence: 200_000n,
      oracleSlot: 250_000_000n,
      publishTs: 1_700_000_000n,
      hasSufficientNumberOfDataPoints: true,
      twap: null,
      twapConfidence: null,
      maxPrice: null,
      sequenceId: null,
    });
  });

  it('has a confidence of a thousandth of its price at least', () => {
    expect(readOracle(aggregator({ result: 154_500_000_000n, deviation: 1n }), 'Switchboard').confidence).toBe(
      154_500n,
    );
  });

  it('with a negative deviation has no confidence', () => {
    expect(readOracle(aggregator({ result: 1n, deviation: -1_000n }), 'Switchboard').confidence).toBe(U64_MAX);
  });

  it('with fewer results than it asks for has not enough of them', () => {
    const read = readOracle(aggregator({ result: 1n, deviation: 1n, successes: 2 }), 'Switchboard');
    expect(read.hasSufficientNumberOfDataPoints).toBe(false);
  });

  it.each([
    ['more digits than a decimal has', aggregator({ result: 1n, deviation: 1n, scale: 29 })],
    ['a price beyond an i64', aggregator({ result: 2n ** 100n, deviation: 1n })],
    ['a cut account', aggregator({ result: 1n, deviation: 1n }).subarray(0, 405)],
  ])('is refused with %s', (_what, bytes) => {
    expect(() => readOracle(bytes, 'Switchboard')).toThrow(AccountError);
  });
});

describe('a Switchboard pull feed', () => {
  it('gives its newest result of 18 digits at 1e6', () => {
    const bytes = pullFeed({
      value: 154_500_000_999_999_999_999n,
      deviation: -2_000_000_000_000_000n,
      slot: 300_000_000n,
    });
    expect(readOracle(bytes, 'SwitchboardOnDemand')).toMatchObject({
      price: 154_500_000n,
      confidence: 2_000n,
      oracleSlot: 300_000_000n,
      publishTs: 1_700_000_000n,
      hasSufficientNumberOfDataPoints: true,
    });
  });

  it('without a result is refused', () => {
    expect(() => readOracle(pullFeed({ value: 1n, deviation: 1n, slot: 0n }), 'SwitchboardOnDemand')).toThrow(
      'a feed without a result',
    );
  });
});

describe("the members of Switchboard's accounts", () => {
  let coders: { readonly aggregator: BorshAccountsCoder; readonly pullFeed: BorshAccountsCoder };
  beforeAll(async () => {
    const idl = async (name: 'switchboard' | 'switchboard_on_demand_30') =>
      JSON.parse(readFileSync(await driftIdlPath(name), 'utf8')) as unknown;
    coders = {
      aggregator: new BorshAccountsCoder(
        convertOldIdl({
          ...((await idl('switchboard')) as OldIdl),
          metadata: { address: SWITCHBOARD },
        }) as unknown as Idl,
      ),
      pullFeed: new BorshAccountsCoder((await idl('switchboard_on_demand_30')) as Idl),
    };
  });
  /** Random members as far as they are read; the rest is zero, which every published type has. */
  const bytesOf = (head: readonly number[], random: number, length: number) =>
    fc.uint8Array({ minLength: random, maxLength: random }).map((bytes) => {
      const account = Buffer.alloc(length);
      account.set(bytes);
      account.set(head);
      return account;
    });

  it('stand where the published definition of an aggregator has them', () => {
    fc.assert(
      fc.property(bytesOf(AGGREGATOR_HEAD, 406, AGGREGATOR_BYTES), fc.nat(2 ** 30), (bytes, mantissa) => {
        for (const flag of [308, 349]) bytes[flag] = mantissa & 1;
        for (const at of [366, 386]) {
          bytes.fill(0, at, at + 20);
          bytes.writeUInt32LE(mantissa, at);
          bytes.writeUInt32LE(8, at + 16);
        }
        const { min_oracle_results: least, latest_confirmed_round: round } =
          coders.aggregator.decodeUnchecked<Aggregator>('AggregatorAccountData', bytes);
        expect(Number(round.result.mantissa)).toBe(mantissa);
        expect([round.result.scale, round.std_deviation.scale]).toEqual([8, 8]);
        expect(readOracle(bytes, 'Switchboard')).toMatchObject({
          price: BigInt(mantissa) / 100n,
          confidence: BigInt(mantissa) / 100n,
          oracleSlot: BigInt(round.round_open_slot.toString()),
          publishTs: BigInt(round.round_open_timestamp.toString()),
          hasSufficientNumberOfDataPoints: round.num_success >= least,
        });
      }),
    );
  });

  it('stand where the published definition of a pull feed has them', () => {
    fc.assert(
      fc.property(bytesOf(PULL_FEED_HEAD, 2_376, PULL_FEED_BYTES), (bytes) => {
        for (const at of [2_264, 2_280]) bytes.fill(0, at + 8, at + 16);
        const { result, last_update_timestamp: ts } = coders.pullFeed.decodeUnchecked<PullFeed>(
          'PullFeedAccountData',
          bytes,
        );
        expect(readOracle(bytes, 'SwitchboardOnDemand')).toMatchObject({
          price: BigInt(result.value.toString()) / 10n ** 12n,
          confidence: BigInt(result.std_dev.toString()) / 10n ** 12n,
          oracleSlot: BigInt(result.slot.toString()),
          publishTs: BigInt(ts.toString()),
        });
      }),
    );
  });
});
