// An ingester with a log of its own, or a reader of the naive kind, that measures its own loop and memory around full reads.

import { readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Registry } from 'prom-client';
import { openSource, type Source, type SourceUpdate, startIngest } from '../../../ingest/index.ts';
import { openEventLog, readConfig, silentLogger } from '../../../platform/index.ts';
import { loadDefinition } from '../../../schemas/index.ts';
import { temporaryDirectory } from '../../support/processes/processes.ts';
import type { SenderReady } from './update-sender.ts';

/** Since the answer before. */
export interface ReadCounts {
  /** The longest time that the main thread did not come back to its loop, and how long it waited for a core in that. */
  readonly heldMs: number;
  readonly heldQueuedMs: number;
  /** The most processor time that it took without coming back. */
  readonly heldCpuMs: number;
  /** The same by Node's own histogram, which counts the time beyond its resolution. */
  readonly delayMs: number;
  /** Greatest resident memory without files, and what it was at the beginning. */
  readonly mostBytes: number;
  readonly restBytes: number;
  /** Growth of the live objects: the accounts, and the updates that came meanwhile. */
  readonly keptBytes: number;
  readonly accounts: number;
  readonly tookMs: number;
}

/** Ingest without and with its shadow check, or a reader of the naive kind. */
export type FullReadWay = 'ingest' | 'shadow' | 'naive';

const SHADOW_CHECK_MS = 3_000;
const TICK_MS = 2;
const NS_PER_MS = 1e6;
const KIB = 1024;
const delay = monitorEventLoopDelay({ resolution: TICK_MS });
delay.enable();

/** Milliseconds that the main thread has had a core, and has waited for one. */
function threadMs(): readonly [number, number] {
  const [ranNs, queuedNs] = readFileSync('/proc/self/schedstat', 'utf8').split(' ');
  return [Number(ranNs) / NS_PER_MS, Number(queuedNs) / NS_PER_MS];
}
const anonymousBytes = (): number =>
  Number(/RssAnon:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? 0) * KIB;

let [heldMs, heldQueuedMs, heldCpuMs, mostBytes, restBytes, liveBytes, accounts] = [0, 0, 0, 0, 0, 0, 0];
let [tickMs, beganMs] = [performance.now(), performance.now()];
let tickThread = threadMs();
let ticks = 0;

setInterval(() => {
  const [nowMs, thread] = [performance.now(), threadMs()];
  if (nowMs - tickMs > heldMs) [heldMs, heldQueuedMs] = [nowMs - tickMs, thread[1] - tickThread[1]];
  heldCpuMs = Math.max(heldCpuMs, thread[0] - tickThread[0]);
  [tickMs, tickThread] = [nowMs, thread];
  if (++ticks % 20 === 0) mostBytes = Math.max(mostBytes, anonymousBytes());
}, TICK_MS);

function collectedBytes(): number {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

function mark(): void {
  liveBytes = collectedBytes();
  restBytes = anonymousBytes();
  [mostBytes, accounts, beganMs] = [restBytes, 0, performance.now()];
  watchLoop();
}

function watchLoop(): void {
  [heldMs, heldQueuedMs, heldCpuMs, tickMs] = [0, 0, 0, performance.now()];
  tickThread = threadMs();
  delay.reset();
}

function answer(): void {
  mostBytes = Math.max(mostBytes, anonymousBytes());
  const counts = { heldMs, heldQueuedMs, heldCpuMs, delayMs: delay.max / NS_PER_MS, mostBytes, restBytes, accounts };
  const tookMs = performance.now() - beganMs;
  const keptBytes = collectedBytes() - liveBytes;
  process.send?.({ ...counts, keptBytes, tookMs } satisfies ReadCounts);
  mark();
}

/** The source, watched: an answer follows each full read that ingest has taken in. */
function watched(source: Source): Source {
  return {
    ...source,
    transaction: (signature) => source.transaction(signature),
    async *updates(resume, signal): AsyncIterable<readonly SourceUpdate[]> {
      let isReading = false;
      // Loading the program is over.
      watchLoop();
      for await (const batch of source.updates(resume, signal)) {
        for (const update of batch) {
          if (update.kind === 'snapshotBegin') isReading = true;
          if (isReading && update.kind === 'account') accounts += 1;
        }
        yield batch;
        // Ingest asks for the next batch once it has written this one.
        if (!batch.some(({ kind }) => kind === 'snapshotEnd')) continue;
        isReading = false;
        answer();
      }
    },
  };
}

async function ingest({ rpcUrl, wsUrl }: SenderReady, shadowCheckMs: number): Promise<void> {
  const settings = { dataDir: temporaryDirectory().dir, rpcUrl, rpcWsUrl: wsUrl, shadowCheckMs };
  const config = readConfig({}, settings);
  const logger = silentLogger();
  const definition = loadDefinition('velocity');
  const log = await openEventLog(config, logger);
  const source = watched(openSource(config, definition, logger));
  await startIngest({ config, log, logger, metrics: new Registry() }, { definition, source });
}

/** One request, one string, one parse, every account decoded from base64: the SDK's way. */
async function naive({ rpcUrl }: SenderReady): Promise<void> {
  const program = loadDefinition('velocity').programs[0];
  const discriminator = Buffer.from(program?.accounts.get('User')?.discriminator ?? []);
  const { default: bs58 } = await import('bs58');
  const filters = [{ memcmp: { offset: 0, bytes: bs58.encode(discriminator) } }];
  const params = [program?.programId, { encoding: 'base64+zstd', withContext: true, filters }];
  const { zstdDecompressSync } = await import('node:zlib');
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getProgramAccounts', params });
  const answered = await fetch(rpcUrl, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  const { result } = (await answered.json()) as { result: { value: { account: { data: [string, string] } }[] } };
  const states = result.value.map(({ account }) => zstdDecompressSync(Buffer.from(account.data[0], 'base64')));
  accounts = states.length;
  setTimeout(answer, TICK_MS * 2);
}

const { way, ...urls } = JSON.parse(process.argv[2] ?? '{}') as SenderReady & { readonly way: FullReadWay };
mark();
process.on('message', answer);
process.on('disconnect', () => process.exit(0));
await (way === 'naive' ? naive(urls) : ingest(urls, way === 'shadow' ? SHADOW_CHECK_MS : 0));
