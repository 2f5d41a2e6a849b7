// Memory that books at commitment processed need for undos. Each of 10,000 accounts of a User's size changes in every second
// slot: 12,500 updates a second. First the chain confirms three slots behind, then it confirms nothing, so that the bound holds.

import { ForkStates } from '../../ingest/index.ts';
import { loadDefinition, PUBKEY_BYTES } from '../../schemas/index.ts';
import { machine } from './harness/processes.ts';
import { report } from './harness/report.ts';

const ACCOUNTS = 10_000;
const SLOTS = 24;
const CONFIRMED_BEHIND_SLOTS = 3;
const BAR_BYTES = 150_000_000;

const accountBytes = loadDefinition('velocity').programs[0]?.accounts.get('User')?.layout.size ?? 0;
const keys = Array.from({ length: ACCOUNTS }, (_, account) => {
  const key = Buffer.alloc(PUBKEY_BYTES);
  key.writeUInt32LE(account);
  return key;
});

function memory(): number {
  if (!globalThis.gc) throw new Error('node runs without --expose-gc');
  globalThis.gc();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** Greatest memory after any slot. `confirms`: the slot that each slot confirms. */
function greatest(confirms: (slot: number) => number) {
  const before = memory();
  let most = 0;
  let spentMs = 0;
  let fallbacks = 0;
  const forks = new ForkStates({ confirmed: () => null, emit: () => {}, reverted: () => {} });
  forks.restart(0);
  forks.confirm(0);
  for (let slot = 1; slot <= SLOTS; slot++) {
    const changing = keys.filter((_, account) => account % 2 === slot % 2);
    const states = changing.map((pubkey) => ({ pubkey, data: Buffer.alloc(accountBytes, slot) }));
    const startedMs = performance.now();
    forks.link(slot, slot - 1);
    for (const { pubkey, data } of states) {
      forks.account({ kind: 'account', slot, writeVersion: null, pubkey, owner: pubkey, data });
      forks.follow(slot);
      if (forks.bytes === 0) fallbacks += 1;
    }
    forks.confirm(confirms(slot));
    spentMs += performance.now() - startedMs;
    states.length = 0;
    most = Math.max(most, memory() - before);
  }
  return { bytes: most, msPerSlot: spentMs / SLOTS, fallbacks };
}

const beside = { accounts: ACCOUNTS, accountBytes, ...machine() };
const steady = greatest((slot) => slot - CONFIRMED_BEHIND_SLOTS);
const bar = { atMost: BAR_BYTES };
const { fallbacks } = steady;
report({
  name: 'undo memory, confirmed 3 slots behind',
  value: steady.bytes,
  unit: 'bytes',
  bar,
  fallbacks,
  ...beside,
});
report({ name: 'undo, time of a slot', value: steady.msPerSlot, unit: 'ms', ...beside });
const bound = greatest(() => 0);
report({
  name: 'undo memory, nothing confirmed',
  value: bound.bytes,
  unit: 'bytes',
  bar,
  fallbacks: bound.fallbacks,
  ...beside,
});
