import { describe, expect, it } from 'vitest';
import { AUCTION_CONTRACT } from './contracts/auction.ts';
import { BATCH_L2_CONTRACT, L2_CONTRACT, L3_CONTRACT, TOP_MAKERS_CONTRACT } from './contracts/books.ts';
import {
  BATCH_PRIORITY_FEES_CONTRACT,
  ORACLE_LAZER_CONTRACT,
  PRIORITY_FEES_CONTRACT,
  UNSETTLED_PNL_CONTRACT,
} from './contracts/feeds.ts';
import { QUALITY_CONTRACT } from './contracts/service.ts';

const CONTRACTS = [
  L2_CONTRACT,
  L3_CONTRACT,
  BATCH_L2_CONTRACT,
  TOP_MAKERS_CONTRACT,
  PRIORITY_FEES_CONTRACT,
  BATCH_PRIORITY_FEES_CONTRACT,
  UNSETTLED_PNL_CONTRACT,
  ORACLE_LAZER_CONTRACT,
  AUCTION_CONTRACT,
  QUALITY_CONTRACT,
];

interface Documented {
  readonly default?: string | number;
  readonly enum?: readonly string[];
  readonly examples?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
}

const parameters = CONTRACTS.flatMap((contract) =>
  Object.entries(contract.parameters).map(([name, { schema, read, isRequired }]) => ({
    name,
    read: read as (text: string | undefined) => unknown,
    isRequired,
    schema: schema as Documented,
  })),
);

describe('parameters of the order-book server', () => {
  it('take every value that the contract names', () => {
    for (const { name, read, schema } of parameters) {
      const named = [...(schema.enum ?? []), ...(schema.examples ?? []), schema.minimum, schema.maximum];
      for (const value of named.filter((one) => one !== undefined)) {
        expect([name, value, read(String(value))]).not.toEqual([name, value, null]);
      }
    }
  });

  it('mean by absence what the contract says is the default', () => {
    const withDefault = parameters.filter(({ schema }) => schema.default !== undefined);
    expect(withDefault.length).toBeGreaterThan(5);
    for (const { name, read, schema } of withDefault) {
      const absent = read(undefined);
      // What is derived from the market has no value of its own; its default is a word for that.
      if (absent !== undefined) expect([name, read(String(schema.default))]).toEqual([name, absent]);
    }
  });

  it('may be absent unless they are required', () => {
    for (const { name, read, isRequired } of parameters) {
      if (!isRequired) expect(() => read(undefined), name).not.toThrow();
    }
  });
});
