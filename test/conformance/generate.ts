// `npm run conformance -- <messages> <seed>`: writes conformance vectors to standard output. A thousand of seed 1 stand in
// client/conformance/. `npm run conformance -- accounts` writes those of account and event decoding.

import { once } from 'node:events';
import { accountVectors } from './account-vectors.ts';
import { vectors } from './vectors.ts';

const MESSAGES = 1_000_000;
const [first = String(MESSAGES), second = '1'] = process.argv.slice(2);
const [messages, seed] = [Number(first), Number(second)];

function* lines(): Generator<string, void, undefined> {
  if (first === 'accounts') yield* accountVectors();
  else for (const line of vectors(messages, seed)) yield `${JSON.stringify(line)}\n`;
}

if (first !== 'accounts' && (!Number.isSafeInteger(messages) || !Number.isSafeInteger(seed) || messages < 1)) {
  process.stderr.write('usage: npm run conformance -- <messages> <seed>, both whole numbers, or: -- accounts\n');
  process.exitCode = 2;
} else for (const line of lines()) if (!process.stdout.write(line)) await once(process.stdout, 'drain');
