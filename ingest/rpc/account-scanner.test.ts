import fc from 'fast-check';
import { expect, it } from 'vitest';
import { AccountScanner } from './account-scanner.ts';

it('gives every account and the rest of the answer, wherever the text is cut', () => {
  const account = fc.record({
    pubkey: fc.string(),
    account: fc.record({ owner: fc.string(), data: fc.tuple(fc.string(), fc.constant('base64')) }),
  });
  const name = fc.constantFrom('value', 'accounts');
  fc.assert(
    fc.property(
      fc.array(account, { maxLength: 5 }),
      name,
      fc.array(fc.nat(400), { maxLength: 6 }),
      (accounts, key, cuts) => {
        const result = { context: { slot: 5 }, [key]: accounts, paginationKey: 'x' };
        const text = JSON.stringify({ jsonrpc: '2.0', result, id: 1 });
        const found: unknown[] = [];
        const scanner = new AccountScanner((one) => found.push(one));
        const ends = [0, ...cuts.map((cut) => cut % text.length), text.length].sort((a, b) => a - b);
        for (let at = 1; at < ends.length; at++) scanner.write(text.slice(ends[at - 1], ends[at]));
        expect(scanner.end()).toEqual({ jsonrpc: '2.0', result: { ...result, [key]: [] }, id: 1 });
        expect(found).toEqual(accounts);
      },
    ),
  );
});

it('gives an error answer as it is, and refuses one that ends early', () => {
  const error = { jsonrpc: '2.0', error: { code: -32601, message: 'Method not found' }, id: 1 };
  const scanner = new AccountScanner(() => {});
  scanner.write(JSON.stringify(error));
  expect(scanner.end()).toEqual(error);
  const cut = new AccountScanner(() => {});
  cut.write('{"result":{"context":{"slot":1},"value":[{"pubkey":"a"},{"pub');
  expect(() => cut.end()).toThrow('ended among the accounts');
});
