// How long the statement of a busy account takes: a year with a million fills, among three million of the market. The exports
// role in a process of its own, ClickHouse as the managed child, the file in the data directory. `npm run bench export`.
// BENCH_ROWS makes it smaller.

import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createGunzip } from 'node:zlib';
import { ClickHouseLogLevel, createClient } from '@clickhouse/client';
import bs58 from 'bs58';
import { JobLog } from '../../api/history/exports/job-log.ts';
import { openEventLog, readConfig, silentLogger } from '../../platform/index.ts';
import { encodeMessage, marketKey, TOPICS } from '../../schemas/index.ts';
import { finalTo } from '../support/api/export-files.ts';
import { MARKETS } from '../support/api/market-views.ts';
import { familyOf } from '../support/processes/family.ts';
import { startRoles, temporaryDirectory } from '../support/processes/processes.ts';
import { cpuSeconds, machine, residentBytes } from './harness/processes.ts';
import { report } from './harness/report.ts';

const ROWS = Number(process.env.BENCH_ROWS ?? 1_000_000);
/** One fill in this many is the account's. */
const OWN_EVERY = 3;
const YEAR_S = 365 * 86_400;
const BATCH_ROWS = 500_000;
const LOOK_MS = 100;
const SECONDS_MAX = 60;
const MEMORY_MAX_MB = 200;
const MB = 1_000_000;

const to = Math.floor(Date.now() / 1000);
const from = to - YEAR_S;
const user = Buffer.from('u'.repeat(32));
const { dir, remove } = temporaryDirectory();
const settings = { DATA_DIR: dir };

async function seed(url: string): Promise<void> {
  const client = createClient({
    url,
    database: 'slotbook',
    request_timeout: 600_000,
    log: { level: ClickHouseLogLevel.OFF },
  });
  const key = (number: string) => `toFixedString(concat(sipHash128(${number}), sipHash128(${number}, 1)), 32)`;
  const fills = ROWS * OWN_EVERY;
  for (let first = 0; first < fills; first += BATCH_ROWS) {
    await client.command({
      query: `INSERT INTO order_action (signature, event_index, slot, ts, action, action_explanation, market_index, market_type,
          filler, filler_reward, fill_record_id, base_asset_amount_filled, quote_asset_amount_filled, taker_fee, maker_fee,
          quote_asset_amount_surplus, taker, taker_order_id, taker_order_direction, taker_order_base_asset_amount,
          taker_order_cumulative_base_asset_amount_filled, taker_order_cumulative_quote_asset_amount_filled,
          maker, maker_order_id, maker_order_direction, maker_order_base_asset_amount,
          maker_order_cumulative_base_asset_amount_filled, maker_order_cumulative_quote_asset_amount_filled,
          oracle_price, bit_flags)
        SELECT toFixedString(concat(${key('number')}, ${key('number + 1')}), 64), 2, 300000000 + intDiv(number, 4),
          ${from} + intDiv(number * ${YEAR_S}, ${fills}), 'fill', 'orderFilledWithMatch', 0, 'perp', ${key('toUInt64(7)')},
          10000, number, 1000000000 + cityHash64(number) % 1000000000, 150000000 + cityHash64(number, 1) % 1000000, 78855,
          -5632, 0, if(number % ${OWN_EVERY} = 0, toFixedString('${user}', 32), ${key('number % 1000')}), number % 4000000000,
          if(number % 2 = 0, 'long', 'short'), 5000000000, 1500000000, 225300000, ${key('number % 999 + 5000')},
          number % 4000000000, if(number % 2 = 0, 'short', 'long'), 5000000000, 1500000000, 225300000,
          150000000 + cityHash64(number, 3) % 1000000, 0
        FROM numbers(${first}, ${Math.min(BATCH_ROWS, fills - first)})`,
      clickhouse_settings: {
        max_partitions_per_insert_block: '0',
        insert_deduplicate: 0,
        max_insert_threads: '1',
        max_block_size: '65536',
        min_insert_block_size_rows: '65536',
        min_insert_block_size_bytes: '0',
      },
    });
  }
  await client.command({ query: `INSERT INTO projection (name, built_ts, log_end) VALUES ('events', 1, '')` });
  await client.close();
}

/** Lines of a gzip file. */
async function linesOf(file: string): Promise<number> {
  const gunzip = createReadStream(file).pipe(createGunzip());
  let lines = 0;
  gunzip.on('data', (chunk: Buffer) => {
    for (let at = chunk.indexOf(0x0a); at >= 0; at = chunk.indexOf(0x0a, at + 1)) lines += 1;
  });
  await once(gunzip, 'end');
  return lines;
}

const clickhouse = await startRoles(['clickhouse'], settings);
try {
  await seed(clickhouse.endpoints.clickhouse ?? '');
  const log = await openEventLog(readConfig({}, { dataDir: dir }), silentLogger());
  await log.ensureTopics([TOPICS.marketViews, TOPICS.finality]);
  const views = MARKETS.map((view) => ({ key: marketKey(view), value: encodeMessage('MarketView', view) }));
  await log.append(TOPICS.marketViews, views);
  await log.append(TOPICS.finality, [finalTo(to)]);
  const worker = await startRoles(['exports'], settings);
  const jobs = new JobLog({ log, logger: silentLogger() });
  await jobs.start();
  const requestId = randomUUID();
  const storeCpu = () => familyOf(clickhouse.pid).reduce((sum, { pid }) => sum + cpuSeconds(pid), 0);
  const before = { bytes: residentBytes(worker.pid), cpu: cpuSeconds(worker.pid), storeCpu: storeCpu() };
  let most = before.bytes;
  const startedMs = performance.now();
  const range = { fromTs: from, toTs: to, market: null, atMs: Date.now() };
  const authority = bs58.decode(bs58.encode(user));
  await jobs.append('ExportRequested', { requestId, authority, users: [user], fileType: 'trades', ...range });
  while (!jobs.jobs.get(requestId)?.end) {
    await sleep(LOOK_MS);
    most = Math.max(most, residentBytes(worker.pid));
  }
  const seconds = (performance.now() - startedMs) / 1000;
  const used = { cpu: cpuSeconds(worker.pid) - before.cpu, storeCpu: storeCpu() - before.storeCpu };
  const end = jobs.jobs.get(requestId)?.end;
  const lines = await linesOf(path.join(dir, 'exports', end?.file ?? ''));
  if (end?.outcome !== 'ready' || end.rows !== ROWS || lines !== ROWS + 1) {
    throw new Error(`${end?.outcome} ${end?.reason}: ${end?.rows} rows, ${lines} lines`);
  }
  const beside = {
    rows: ROWS,
    fileMb: Math.round(end.bytes / MB),
    cpuSeconds: used.cpu,
    storeCpuSeconds: used.storeCpu,
    ...machine(),
  };
  report({ name: 'export.year', value: seconds, unit: 's', bar: { atMost: SECONDS_MAX }, ...beside });
  const added = (most - before.bytes) / MB;
  report({ name: 'export.memory', value: added, unit: 'MB', bar: { atMost: MEMORY_MAX_MB }, ...beside });
  await worker.stop();
  await jobs.stop();
  await log.close();
} finally {
  await clickhouse.stop();
  remove();
}
