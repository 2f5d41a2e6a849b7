// Texts that a number parser might accept, for tests of every numeric parameter.

/** More digits than a double holds. */
const MANY_DIGITS = '9'.repeat(400);

const NOT_FINITE = ['Infinity', '-Infinity', 'NaN', '1e309', '-1e309', MANY_DIGITS] as const;
export const ODD_NUMBERS = [...NOT_FINITE, '1e21', '0x10', ''] as const;
