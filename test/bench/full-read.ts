// A full read of 200,000 user accounts from a local node beside live traffic. It measures the ingester's memory, and the time
// for which its main loop is held. The first read is measured, and the read after a lost connection, when all accounts are
// known. Each once in pages, once in one answer. The node has a low priority. The shadow check reads all accounts too, and
// compares them. The naive reader parses one answer as a whole.

import { setTimeout as pause } from 'node:timers/promises';
import type { ReadCounts } from './harness/full-reader.ts';
import { machine } from './harness/processes.ts';
import { report } from './harness/report.ts';
import { FullReader, NODE_NICENESS, UpdateNode } from './harness/update-node.ts';

const USERS = Number(process.env.BENCH_USERS ?? 200_000);
const LIVE = { accountsPerSecond: 1_000, transactionsPerSecond: 100 };
const SETTLE_MS = 5_000;
/** Long enough for the shadow check's first read, and for its comparison. */
const SHADOW_MS = 40_000;
const HELD_BAR_MS = 20;
const MEMORY_BAR_BYTES = 400_000_000;

function say(name: string, counts: ReadCounts, hasBars = true): void {
  const { heldMs, heldQueuedMs, heldCpuMs, delayMs, mostBytes, restBytes, keptBytes, accounts, tookMs } = counts;
  const beside = { accounts, tookMs: Math.round(tookMs), live: LIVE, nodeNiceness: NODE_NICENESS, ...machine() };
  const heldBar = hasBars ? { bar: { atMost: HELD_BAR_MS } } : {};
  const held = { heldQueuedMs, heldCpuMs, delayMs };
  report({ name: `full-read-${name}-held`, value: heldMs, unit: 'ms', ...held, ...heldBar, ...beside });
  const more = mostBytes - restBytes;
  const memoryBar = hasBars ? { bar: { atMost: MEMORY_BAR_BYTES } } : {};
  report({ name: `full-read-${name}-memory`, value: more, unit: 'bytes', restBytes, keptBytes, ...memoryBar });
  // Beside what the read brings.
  report({ name: `full-read-${name}-transient-memory`, value: more - Math.max(0, keptBytes), unit: 'bytes' });
}

async function naive(): Promise<void> {
  const node = await UpdateNode.start({ users: USERS, hasPages: false });
  const reader = new FullReader(node.urls, 'naive');
  say('naive', await reader.read(), false);
  await reader.stop();
  await node.stop();
}

async function measure(hasPages: boolean): Promise<void> {
  const node = await UpdateNode.start({ users: USERS, hasPages });
  const reader = new FullReader(node.urls, 'ingest');
  node.rate = LIVE;
  const how = hasPages ? 'pages' : 'one-answer';
  say(`${how}-first`, await reader.read());
  await pause(SETTLE_MS);
  const live = await reader.counts();
  report({ name: `full-read-${how}-live-alone-held`, value: live.heldMs, unit: 'ms', heldCpuMs: live.heldCpuMs });
  node.drop();
  say(`${how}-again`, await reader.read());
  await reader.stop();
  await node.stop();
}

async function shadow(): Promise<void> {
  const node = await UpdateNode.start({ users: USERS, hasPages: true });
  const reader = new FullReader(node.urls, 'shadow');
  node.rate = LIVE;
  await reader.read();
  await pause(SHADOW_MS);
  say('shadow-check', await reader.counts(), false);
  await reader.stop();
  await node.stop();
}

await naive();
for (const hasPages of [true, false]) await measure(hasPages);
await shadow();
process.exit();
