// `npm run soak memory [minutes]`: what `npm start` runs, for ten minutes by default, with the resident memory of all its processes.
// One JSON line a minute, then the figures.

import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { report } from '../bench/harness/report.ts';
import { temporaryDirectory } from '../e2e/harness/processes.ts';

const DEFAULT_MINUTES = 10;
const SAMPLE_MS = 5_000;
const KIB_PER_MB = 1_000_000 / 1024;
const LIMIT_MB = 1_200;
/** The first minutes fill caches and rings of bounded size. */
const SETTLED_SHARE = 0.4;
const PORTS = ['orderbook', 'gateway', 'history', 'metrics', 'localnet-rpc', 'localnet-ws'];

interface Sample {
  readonly minute: number;
  readonly totalMb: number;
  readonly byProcess: Record<string, number>;
}

/** Resident memory of a process and all its descendants, in MB by command name. */
function residentMb(root: number): Record<string, number> {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
    } catch {
      // Gone since the listing.
    }
  }
  const isBelow = (pid: number): boolean =>
    pid === root || (parents.has(pid) && pid > 1 && isBelow(parents.get(pid) ?? 0));
  const found: Record<string, number> = {};
  for (const pid of parents.keys()) {
    if (!isBelow(pid)) continue;
    try {
      const kib = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
      const script = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
        .split('\0')
        .find((part) => /\.(ts|mjs)$/.test(part));
      found[`${pid} ${script?.split('/').slice(-2).join('/') ?? 'other'}`] = kib / KIB_PER_MB;
    } catch {
      // Gone since the listing.
    }
  }
  return found;
}

const minutes = Number(process.argv[2] ?? DEFAULT_MINUTES);
const { dir, remove } = temporaryDirectory();
const child = spawn(
  'node',
  ['bin/slotbook.mjs', 'dev', '--data-dir', dir, ...PORTS.flatMap((name) => [`--${name}-port`, '0'])],
  {
    stdio: ['pipe', 'pipe', 'inherit'],
  },
);
let lastLine = '';
child.stdout.on('data', (text: Buffer) => {
  lastLine = String(text).trim().split('\n').at(-1) ?? lastLine;
});
const started = Date.now();
const samples: Sample[] = [];
while (Date.now() - started < minutes * 60_000 && child.exitCode === null) {
  await new Promise((resolve) => setTimeout(resolve, SAMPLE_MS));
  const byProcess = residentMb(child.pid ?? 0);
  const minute = (Date.now() - started) / 60_000;
  samples.push({ minute, totalMb: Object.values(byProcess).reduce((sum, mb) => sum + mb, 0), byProcess });
  if (samples.length % (60_000 / SAMPLE_MS) === 0) {
    const rounded = Object.fromEntries(Object.entries(byProcess).map(([name, mb]) => [name, Math.round(mb)]));
    process.stdout.write(`${JSON.stringify({ minute: Math.round(minute), mb: rounded, status: lastLine })}\n`);
  }
}
const crashed = child.exitCode !== null;
child.kill('SIGTERM');
await new Promise((resolve) => child.once('exit', resolve));
remove();

const peakMb = Math.max(...samples.map(({ totalMb }) => totalMb));
const settled = samples.slice(Math.floor(samples.length * SETTLED_SHARE));
const growthMbPerMinute = slope(settled.map(({ minute, totalMb }) => [minute, totalMb]));
const beside = { minutes, limitMb: LIMIT_MB, crashed };
report({ name: 'memory-peak', value: peakMb, unit: 'MB', ...beside });
report({ name: 'memory-growth-settled', value: growthMbPerMinute, unit: 'MB/min', ...beside });
process.exit(crashed ? 1 : 0);

/** Least squares slope. */
function slope(points: readonly (readonly [number, number])[]): number {
  const mean = (index: 0 | 1) => points.reduce((sum, point) => sum + point[index], 0) / points.length;
  const [meanX, meanY] = [mean(0), mean(1)];
  const above = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0);
  const below = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  return below === 0 ? 0 : above / below;
}
