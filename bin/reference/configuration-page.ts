// The reference page of settings, from the table that reads them.

import { SETTINGS, variableName } from '../../platform/index.ts';
import { DEV_SETTINGS, flagName } from '../settings.ts';
import { code, page, table, written } from './markdown.ts';

type Setting = (typeof SETTINGS)[number];

/** Units by the end of a setting's name. */
const UNITS: readonly (readonly [RegExp, string])[] = [
  [/Ms$/, 'ms'],
  [/Mb$/, 'MB'],
  [/Port$/, 'port'],
  [/Slots$|SlotDiffThreshold$/, 'slots'],
  [/Rows$/, 'records'],
  [/Quorum$/, 'replicas'],
  [/Quote$/, 'quote units'],
  [/Multiplier/, 'factor'],
  [/Slippage|CrossSpreadCap$/, 'percent'],
];

const unitOf = (key: string): string => UNITS.find(([pattern]) => pattern.test(key))?.[1] ?? '';

function valuesOf({ choices, min, max, fallback, decimals, secret }: Setting): string {
  if (choices) return choices.map(code).join(', ');
  if (typeof fallback === 'number') return `${decimals ? '' : 'whole '}number from ${min ?? 0} to ${max ?? '2^53 - 1'}`;
  return secret ? 'text, secret' : 'text';
}

export function configurationPage(): string {
  return page([
    '# Configuration',
    written('the table of settings'),
    'Every setting has an environment variable and a flag. A flag wins over the variable, and the variable over the default.',
    'A process refuses to start with an unknown `SLOTBOOK_` variable, or with a value out of range.',
    'Secrets never appear in logs.',
    table(
      ['Setting, variable, flag', 'Default', 'Values', 'Unit', 'Meaning'],
      SETTINGS.map((setting) => {
        const { key, fallback, help } = setting;
        const dev = DEV_SETTINGS[key];
        return [
          [key, variableName(key), `--${flagName(key)}`].map(code).join('<br>'),
          `${fallback === '' ? 'empty' : code(String(fallback))}${dev === undefined ? '' : `; ${code(dev)} with \`npm start\``}`,
          valuesOf(setting),
          unitOf(key),
          help,
        ];
      }),
    ),
  ]);
}
