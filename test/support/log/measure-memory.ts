// Resident file pages of a process that reads an embedded log from its beginning, with and without their return to the kernel:
// npm run measure-log memory

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { readConfig } from '../../../platform/config.ts';
import { openEventLog } from '../../../platform/log/open.ts';
import type { EventLog } from '../../../platform/log/port.ts';
import { silentLogger } from '../../../platform/runtime/logger.ts';
import { TOPICS, type Topic } from '../../../schemas/index.ts';
import { NODE_FLAGS } from '../platform/children.ts';

const RECORDS = 1_000_000;
/** Too long for packing and too random for deflating: the file has all of it. */
const RECORD_BYTES = 900;
const PER_APPEND = 1000;
const TOPIC: Topic = TOPICS.events;
/** Values of `logTrimMs`: off, a second, and that of `npm start`. */
const INTERVALS_MS = [0, 1000, 10_000];
const SAMPLE_MS = 50;
const REST_MS = 12_000;

const [, dataDir, logTrimMs] = process.argv.slice(2);
if (dataDir === undefined) await measureAll();
else await readAll(dataDir, Number(logTrimMs));

async function measureAll(): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'slotbook-measure-'));
  await writeAll(dir);
  for (const intervalMs of INTERVALS_MS) {
    const script = fileURLToPath(import.meta.url);
    const child = spawn(process.execPath, [...NODE_FLAGS, script, 'memory', dir, String(intervalMs)], {
      stdio: ['pipe', 'inherit', 'inherit'],
    });
    await once(child, 'exit');
  }
  await rm(dir, { recursive: true });
}

function open(dir: string, trimMs: number): Promise<EventLog> {
  return openEventLog(readConfig({}, { log: 'embedded', dataDir: dir, logTrimMs: trimMs }), silentLogger());
}

async function writeAll(dir: string): Promise<void> {
  const log = await open(dir, 0);
  await log.ensureTopics([TOPIC]);
  for (let at = 0; at < RECORDS; at += PER_APPEND) {
    const batch = Array.from({ length: PER_APPEND }, () => {
      const value = crypto.getRandomValues(Buffer.allocUnsafe(RECORD_BYTES));
      return { key: 'perp-0', value, partition: 0 };
    });
    await log.append(TOPIC, batch);
  }
  await log.close();
}

/** Resident file pages of this process, MB. */
function residentMb(): number {
  const [, kilobytes = '0'] = /^RssFile:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
  return Math.round(Number(kilobytes) / 1000);
}

async function readAll(dir: string, trimMs: number): Promise<void> {
  const log = await open(dir, trimMs);
  const atStartMb = residentMb();
  let peakMb = atStartMb;
  const sampler = setInterval(() => {
    peakMb = Math.max(peakMb, residentMb());
  }, SAMPLE_MS);
  const stop = new AbortController();
  const startMs = performance.now();
  let [records, bytes] = [0, 0];
  for await (const batch of log.follow({ topic: TOPIC, from: new Map([[0, 0n]]), signal: stop.signal })) {
    records += batch.records.length;
    for (const { value } of batch.records) bytes += value.length;
    if (records >= RECORDS) stop.abort();
  }
  const seconds = (performance.now() - startMs) / 1000;
  peakMb = Math.max(peakMb, residentMb());
  await sleep(REST_MS);
  clearInterval(sampler);
  process.stdout.write(
    `logTrimMs ${trimMs}: ${Math.round(bytes / 1e6)} MB read in ${seconds.toFixed(1)} s, resident file pages ` +
      `${atStartMb} MB at the start, ${peakMb} MB at the peak, ${residentMb()} MB after ${REST_MS / 1000} s of rest\n`,
  );
  await log.close();
}
