// Free text in a cell of CSV, which this process or the store writes (docs/internals/exports.md, "Cells").
// api/history/queries/account-days.test.ts compares both forms in ClickHouse.

// Patterns in the common syntax of JavaScript and RE2, whose `\s` differ.
const CONTROL = '[\\x00-\\x1f\\x7f]';
/** Also behind spaces of any kind: a spreadsheet may drop them. */
const FORMULA = '^([\\p{Z}\uFEFF]*[=+@-])';

const control = new RegExp(CONTROL, 'gu');
const formula = new RegExp(FORMULA, 'u');

/** Free text on one line, with an apostrophe before a sign that begins a formula. */
export const plainText = (text: string): string => text.replace(control, ' ').replace(formula, "'$1");

const literal = (pattern: string): string => `'${pattern.replaceAll('\\', '\\\\')}'`;

/** `plainText` of a text expression. */
export const plainTextSql = (text: string): string =>
  `replaceRegexpOne(replaceRegexpAll(${text}, ${literal(CONTROL)}, ' '), ${literal(FORMULA)}, '''\\\\1')`;
