import { BorshAccountsCoder, type Idl } from '@coral-xyz/anchor';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { loadDefinition } from '../../schemas/index.ts';
import { accountOf } from '../../test/support/ingest/accounts.ts';
import { plainFields } from '../../test/support/ingest/anchor-values.ts';
import { blankAccount, randomAccount } from '../../test/support/ingest/bytes.ts';
import { AccountError, compileAccount } from './account.ts';

const velocity = loadDefinition('velocity');
const programs = velocity.programs;
const exchange = programs.find((program) => program.accounts.has('User'));
if (!exchange) throw new Error('no exchange program');

describe('account decoder', () => {
  for (const program of programs) {
    const anchor = new BorshAccountsCoder(program.idl as Idl);
    // Anchor also reads the lists of an escrow, which plain-states.test.ts compares.
    const whole = [...program.accounts.values()].filter(({ name }) => name !== 'RevenueShareEscrow');
    for (const definition of whole) {
      it(`agrees with Anchor's coder on every field of ${definition.name}`, () => {
        const compiled = compileAccount(definition);
        fc.assert(
          fc.property(fc.nat(), (seed) => {
            const bytes = randomAccount(definition, seed);
            const theirs = anchor.decode(definition.name, bytes) as Record<string, unknown>;
            expect(compiled.decode(bytes)).toEqual(plainFields(theirs, definition.layout.fields));
          }),
          { numRuns: 8 },
        );
      });
    }
  }

  it('reads a grown account like the shorter original', () => {
    for (const definition of [accountOf('User'), accountOf('PerpMarket')]) {
      const compiled = compileAccount(definition);
      const bytes = randomAccount(definition, 7);
      const grown = Buffer.concat([bytes, Buffer.alloc(100, 0xff)]);
      expect(compiled.decode(grown)).toEqual(compiled.decode(bytes));
    }
  });

  it('reads appended fields as zero when the account has not grown', () => {
    const definition = accountOf('PerpMarket');
    const compiled = compileAccount(definition);
    expect(compiled.bytesMin).toBe(1304);
    const short = randomAccount(definition, 9).subarray(0, 1304);
    const value = compiled.decode(short);
    expect(value.clob_market).toEqual(new Uint8Array(32));
    expect(value.order_tick_size).toEqual(compiled.decode(randomAccount(definition, 9)).order_tick_size);
  });

  it('rejects another layout by its length and another kind by its discriminator', () => {
    const compiled = compileAccount(accountOf('User'));
    const bytes = blankAccount(accountOf('User'));
    const reasonOf = (data: Uint8Array) => {
      try {
        compiled.decode(data);
        return 'none';
      } catch (error) {
        return error instanceof AccountError ? error.reason : String(error);
      }
    };
    expect(reasonOf(bytes)).toBe('none');
    expect(reasonOf(bytes.subarray(0, 4496))).toBe('wrong_length');
    expect(reasonOf(bytes.subarray(0, 5))).toBe('unknown_discriminator');
    expect(reasonOf(blankAccount(accountOf('UserStats')))).toBe('unknown_discriminator');
  });
});
