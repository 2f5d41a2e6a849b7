import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { claimDataDir } from './data-dir.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(path.join(tmpdir(), 'slotbook-claim-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

const CHAIN = { genesisHash: 'EtWT', definition: 'velocity' };
const CAPTURE = { capture: '/data/hour.ndjson.zst', definition: 'velocity' };

it.each([
  ['a chain', CHAIN],
  ['a capture', CAPTURE],
])('%s may use its directory again', (_, owner) => {
  claimDataDir(dir, owner);
  expect(() => claimDataDir(dir, owner)).not.toThrow();
});

it.each([
  ['another chain', CHAIN, { ...CHAIN, genesisHash: 'other' }, 'the chain with genesis EtWT'],
  ['another definition', CHAIN, { ...CHAIN, definition: 'drift' }, 'definition velocity'],
  ['a capture after a chain', CHAIN, CAPTURE, 'the chain with genesis EtWT'],
  ['a chain after a capture', CAPTURE, CHAIN, 'the capture /data/hour.ndjson.zst'],
  ['another capture', CAPTURE, { ...CAPTURE, capture: '/data/day.ndjson.zst' }, 'the capture /data/hour.ndjson.zst'],
])('%s is refused, with the owner and the remedy', (_, first, second, owner) => {
  claimDataDir(dir, first);
  expect(() => claimDataDir(dir, second)).toThrow(owner);
  expect(() => claimDataDir(dir, second)).toThrow('name another directory with --data-dir');
  expect(() => claimDataDir(dir, first)).not.toThrow();
});

it('a claim that was not written whole is written again', () => {
  writeFileSync(path.join(dir, 'chain.json'), '{"gen');
  claimDataDir(dir, CHAIN);
  expect(() => claimDataDir(dir, CAPTURE)).toThrow('the chain with genesis EtWT');
});
