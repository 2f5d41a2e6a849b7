// `npm run soak memory [minutes]`: runs `npm start` and measures the resident memory of all its processes. One JSON line a minute,
// then the figures. Anonymous memory is the processes' own; resident memory includes mapped libraries and the log's file.

import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { report } from '../bench/harness/report.ts';
import { killWithUs } from '../support/platform/children.ts';
import { temporaryDirectory } from '../support/processes/processes.ts';

const DEFAULT_MINUTES = 15;
const SAMPLE_MS = 5_000;
const KIB_PER_MB = 1_000_000 / 1024;
const LIMIT_MB = 1_200;
/** Bounded caches and rings fill until then; the simulated cluster's holds ten minutes. A short run takes a share of its length. */
const SETTLED_MINUTES = 10;
const SETTLED_SHARE = 0.4;
const SHORT_MINUTES = 13;
const PORTS = ['orderbook', 'gateway', 'history', 'metrics', 'page', 'localnet-rpc', 'localnet-ws'];

interface Memory {
  readonly residentMb: number;
  readonly anonymousMb: number;
}

interface Sample extends Memory {
  readonly minute: number;
}

/** Memory of a process and all its descendants by command name. */
function memoryBelow(root: number): Record<string, Memory> {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
    } catch {
      // The process has ended since the listing.
    }
  }
  const isBelow = (pid: number): boolean =>
    pid === root || (parents.has(pid) && pid > 1 && isBelow(parents.get(pid) ?? 0));
  const found: Record<string, Memory> = {};
  for (const pid of parents.keys()) {
    if (!isBelow(pid)) continue;
    try {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      const megabytes = (field: string) =>
        Number(new RegExp(`${field}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / KIB_PER_MB;
      const script = readFileSync(`/proc/${pid}/cmdline`, 'utf8')
        .split('\0')
        .find((part) => /\.(ts|mjs)$/.test(part));
      found[`${pid} ${script?.split('/').slice(-2).join('/') ?? 'other'}`] = {
        residentMb: megabytes('VmRSS'),
        anonymousMb: megabytes('RssAnon'),
      };
    } catch {
      // The process has ended since the listing.
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
killWithUs(child.pid ?? 0);
let lastLine = '';
child.stdout.on('data', (text: Buffer) => {
  lastLine = String(text).trim().split('\n').at(-1) ?? lastLine;
});
const started = Date.now();
const samples: Sample[] = [];
while (Date.now() - started < minutes * 60_000 && child.exitCode === null) {
  await new Promise((resolve) => setTimeout(resolve, SAMPLE_MS));
  const byProcess = memoryBelow(child.pid ?? 0);
  const minute = (Date.now() - started) / 60_000;
  const total = (kind: keyof Memory) => Object.values(byProcess).reduce((sum, memory) => sum + memory[kind], 0);
  samples.push({ minute, residentMb: total('residentMb'), anonymousMb: total('anonymousMb') });
  if (samples.length % (60_000 / SAMPLE_MS) === 0) {
    const rounded = Object.fromEntries(
      Object.entries(byProcess).map(([name, mb]) => [name, [Math.round(mb.residentMb), Math.round(mb.anonymousMb)]]),
    );
    process.stdout.write(`${JSON.stringify({ minute: Math.round(minute), mb: rounded, status: lastLine })}\n`);
  }
}
const crashed = child.exitCode !== null;
child.kill('SIGTERM');
await new Promise((resolve) => child.once('exit', resolve));
remove();

const settledFrom = minutes < SHORT_MINUTES ? minutes * SETTLED_SHARE : SETTLED_MINUTES;
const settled = samples.filter(({ minute }) => minute >= settledFrom);
const beside = { minutes, settledFrom, limitMb: LIMIT_MB, crashed };
for (const [name, kind] of [
  ['resident', 'residentMb'],
  ['anonymous', 'anonymousMb'],
] as const) {
  report({
    name: `memory-${name}-peak`,
    value: Math.max(...samples.map((sample) => sample[kind])),
    unit: 'MB',
    ...beside,
  });
  const growth = slope(settled.map((sample) => [sample.minute, sample[kind]]));
  report({ name: `memory-${name}-growth-settled`, value: growth, unit: 'MB/min', ...beside });
}
process.exit(crashed ? 1 : 0);

/** Least squares slope. */
function slope(points: readonly (readonly [number, number])[]): number {
  const mean = (index: 0 | 1) => points.reduce((sum, point) => sum + point[index], 0) / points.length;
  const [meanX, meanY] = [mean(0), mean(1)];
  const above = points.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0);
  const below = points.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
  return below === 0 ? 0 : above / below;
}
