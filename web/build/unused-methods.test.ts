// Methods that nothing names leave the code; every method that can be called stays.

import fc from 'fast-check';
import { parseAst } from 'vite';
import { describe, expect, it } from 'vitest';
import { withoutUnusedMethods } from './unused-methods.ts';

const reduced = (code: string, used: readonly string[] = []) => withoutUnusedMethods(code, parseAst(code), used);

describe('unused methods', () => {
  it('leave with those that only they call', () => {
    const code = 'class A { run() { this.help(); } help() {} dead() { this.deader(); } deader() {} } new A().run();';
    const left = reduced(code);
    expect(left).toContain('help()');
    expect(left).not.toContain('dead');
  });

  it('stay when the page, a text, a pattern or an object names them', () => {
    const code = `class A { one() {} two() {} three() {} four() {} five() {} }
      const a = new A(); const { two } = a; a['three'](); export const api = { four: 1 };`;
    const left = reduced(code, ['one']);
    for (const name of ['one', 'two', 'three', 'four']) expect(left).toContain(`${name}() {}`);
    expect(left).not.toContain('five');
  });

  it('never include constructors, computed names and private names', () => {
    const code = 'class A { constructor() { this.#go(); } [Symbol.iterator]() {} #go() {} static make() {} }';
    expect(reduced(code)).toBe('class A { constructor() { this.#go(); } [Symbol.iterator]() {} #go() {}  }');
  });

  it('change no result, for any chain of calls', () => {
    const calls = fc.array(fc.array(fc.nat(9), { maxLength: 3 }), { minLength: 10, maxLength: 10 });
    fc.assert(
      fc.property(calls, fc.nat(9), (targets, first) => {
        // Each method calls only methods after it, so every chain ends.
        const body = (index: number, called: readonly number[]) =>
          called
            .filter((one) => one > index)
            .map((one) => `s += this.m${one}();`)
            .join(' ');
        const methods = targets.map(
          (called, index) => `m${index}() { let s = ${index}; ${body(index, called)} return s; }`,
        );
        const code = `class A { ${methods.join('\n')} }`;
        const run = (text: string) => new Function(`${text}; return new A().m${first}();`)() as number;
        expect(run(reduced(code, [`m${first}`]))).toBe(run(code));
      }),
    );
  });
});
