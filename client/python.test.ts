// Tests the Python client as a stranger gets it. Its wheel lies in an empty environment, its own tests run on that wheel, and
// it follows a running server beside the TypeScript client.

import { spawn } from 'node:child_process';
import { createWriteStream, readFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startOrderBook } from '../api/orderbook/start.ts';
import { openOrdersChecksum } from '../schemas/index.ts';
import { vectors } from '../test/conformance/vectors.ts';
import { diff, MAKER_A, Stage, snapshot, trade, until } from '../test/support/api/stage.ts';
import { linesOf } from '../test/support/client/lines.ts';
import {
  adapterTools,
  type InstalledWheel,
  installedWheel,
  PYTHON_CLIENT,
  type PythonTools,
  pythonTools,
  run,
} from '../test/support/client/python.ts';
import { ACCOUNT, AccountLedger } from '../test/support/feed/account-ledger.ts';
import { change, RandomBook } from '../test/support/feed/random-book.ts';
import { killWithUs } from '../test/support/platform/children.ts';
import { type BookEvent, FeedClient, type KeptOrder } from './index.ts';

/** The first run on a machine installs the tools from PyPI. */
const INSTALL_WITHIN_MS = 600_000;
const PYTEST = ['-m', 'pytest', '-p', 'no:cacheprovider', '-rs'];
const PUBLISH_INTERVAL_MS = 50;
/** Python starts slowly on a busy machine, and compiles what it imports. */
const PYTHON_WITHIN_MS = 300_000;
const VECTORS = Number(process.env.SLOTBOOK_VECTORS ?? 1_500);
const VECTOR_SEED = 7;
const ACCOUNT_VECTORS = fileURLToPath(new URL('conformance/accounts.jsonl', import.meta.url));
const PUBLISHED_VECTORS = fileURLToPath(new URL('conformance/book.jsonl', import.meta.url));

let tools: PythonTools | { readonly absent: string };
let adapters: PythonTools | { readonly absent: string };
let wheel: InstalledWheel | null = null;

beforeAll(async () => {
  tools = await pythonTools();
  adapters = 'absent' in tools ? tools : await adapterTools(tools);
  if ('absent' in tools) process.stdout.write(`client/python: NOT RUN, ${tools.absent}\n`);
  else {
    wheel = await installedWheel(tools);
    process.stdout.write(`client/python: run with Python ${tools.version} on ${path.basename(wheel.wheel)}\n`);
  }
}, INSTALL_WITHIN_MS);
afterAll(() => wheel?.remove());

/** The tools and the wheel. Skips the test where Python is missing: the run says why. */
function ready(skip: () => never): { readonly python: string; readonly wheel: InstalledWheel } {
  if ('absent' in tools || !wheel) return skip();
  return { python: tools.python, wheel };
}

async function passes(
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { isOk, text } = await run(file, args, { cwd: PYTHON_CLIENT, env });
  expect(isOk ? '' : text).toBe('');
  return text;
}

describe('the wheel', { timeout: PYTHON_WITHIN_MS }, () => {
  it('has the typed package, README, licence and metadata, and nothing else', async ({ skip }) => {
    const { python, wheel } = ready(skip);
    const list = 'import sys, zipfile; print("\\n".join(zipfile.ZipFile(sys.argv[1]).namelist()))';
    const files = (await passes(python, ['-c', list, wheel.wheel])).trim().split('\n');
    const isExpected = (file: string): boolean =>
      /^slotbook\/(([a-z_]+\/)*([a-z0-9_]+\.py)|py\.typed|accounts\/idl\/velocity\.json)$/.test(file);
    const others = files.filter((file) => !isExpected(file)).map((file) => file.replace(/^slotbook-[^/]*/, ''));
    expect(others.sort()).toEqual(['/METADATA', '/RECORD', '/WHEEL', '/licenses/LICENSE']);
    expect(files).toEqual(expect.arrayContaining(['slotbook/py.typed', 'slotbook/accounts/idl/velocity.json']));
    const show =
      'import sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); print(z.read(next(n for n in z.namelist() if n.endswith("METADATA"))).decode())';
    const metadata = await passes(python, ['-c', show, wheel.wheel]);
    const required = [...metadata.matchAll(/^Requires-Dist: (.*)$/gm)].map(([, text = '']) => text);
    expect(required.filter((text) => !text.includes('extra ==')).map((text) => text.split('>')[0])).toEqual([
      'msgspec',
      'websockets',
    ]);
    expect(metadata).toContain('Requires-Python: >=3.10');
    expect(metadata).toContain('License-Expression: Apache-2.0');
    expect(metadata).toContain('# slotbook');
  });

  it('imports where nothing but its two requirements is installed', async ({ skip }) => {
    const { wheel } = ready(skip);
    const script = `import pkgutil, importlib, slotbook
names = [m.name for m in pkgutil.walk_packages(slotbook.__path__, 'slotbook.') if '.adapters.' not in m.name]
for name in names: importlib.import_module(name)
print(len(names))`;
    expect(Number(await passes(wheel.python, ['-c', script]))).toBeGreaterThan(10);
  });
});

// Each is programs of Python that share nothing.
describe.concurrent('the package', { timeout: PYTHON_WITHIN_MS }, () => {
  it('passes its own tests, installed from the wheel', async ({ skip }) => {
    const { python, wheel } = ready(skip);
    const generated = path.join(wheel.folder, 'vectors.jsonl');
    const lines = Readable.from(vectors(VECTORS, VECTOR_SEED)).map((line) => `${JSON.stringify(line)}\n`);
    await pipeline(lines, createWriteStream(generated));
    const text = await passes(python, [...PYTEST, '--ignore', 'tests/test_live.py', '--ignore', 'tests/adapters'], {
      PYTHONPATH: wheel.site,
      SLOTBOOK_WHEEL_SITE: wheel.site,
      SLOTBOOK_PUBLISHED_VECTORS: PUBLISHED_VECTORS,
      SLOTBOOK_GENERATED_VECTORS: generated,
      SLOTBOOK_ACCOUNT_VECTORS: ACCOUNT_VECTORS,
    });
    process.stdout.write(`client/python: ${text.trim().split('\n').slice(-4).join('\n')}\n`);
    expect(text).toMatch(/\d+ passed/);
    expect(text).not.toMatch(/names no file/);
  });

  it('passes the tests of its adapters with the real libraries', async ({ skip }) => {
    const { wheel } = ready(skip);
    if ('absent' in adapters) {
      process.stdout.write(`client/python adapters: NOT RUN, ${adapters.absent}\n`);
      return skip();
    }
    const text = await passes(adapters.python, [...PYTEST, 'tests/adapters'], {
      PYTHONPATH: `${wheel.site}:tests`,
    });
    process.stdout.write(`client/python adapters: ${text.trim().split('\n').at(-1)}\n`);
    expect(text).toMatch(/\d+ passed/);
    expect(text).not.toContain('skipped');
  });

  it('has an API page that is what the docstrings say', async ({ skip }) => {
    const { python } = ready(skip);
    const written = readFileSync(path.join(PYTHON_CLIENT, 'API.md'), 'utf8');
    const isFresh = (await passes(python, ['tools/api_page.py'])) === written;
    expect(isFresh ? 'fresh' : 'stale: python tools/api_page.py > API.md').toBe('fresh');
  });

  it('is typed strictly, formatted and free of lint', async ({ skip }) => {
    const { python } = ready(skip);
    const cache = path.join(path.dirname(python), '..', 'mypy');
    const strict = ['-m', 'mypy', '--strict', '--cache-dir', cache];
    await Promise.all([
      passes(python, [...strict, '-p', 'slotbook'], { MYPYPATH: 'src' }).then(() =>
        passes(python, [...strict, 'tests', 'examples', 'tools'], { MYPYPATH: 'src:tests' }),
      ),
      passes(python, ['-m', 'ruff', 'check', '--no-cache', '.']),
      passes(python, ['-m', 'ruff', 'format', '--no-cache', '--check', '.']),
    ]);
  });
});

describe('the examples and the README', { timeout: PYTHON_WITHIN_MS }, () => {
  it('run on a server whose books and trades change', async ({ skip }) => {
    const { python, wheel } = ready(skip);
    const stage = new Stage();
    await stage.markets();
    await stage.books(snapshot());
    const role = await startOrderBook(stage.context());
    let seq = 1;
    const publish = async (): Promise<void> => {
      seq += 1;
      const order = {
        price: 81_114_210,
        size: BigInt(seq),
        maker: MAKER_A,
        orderId: seq,
        source: 'user',
        rank: [1, 1, seq],
      } as const;
      await stage.books(diff(seq, 487 + seq, { bidOrders: [order] }));
      await stage.trades(trade(BigInt(seq)));
    };
    let publishing = Promise.resolve();
    const timer = setInterval(() => {
      publishing = publishing.then(publish);
    }, PUBLISH_INTERVAL_MS);
    try {
      const url = `${(role.endpoints.orderbook ?? '').replace('http', 'ws')}/ws`;
      const text = await passes(python, [...PYTEST, 'tests/test_live.py'], {
        PYTHONPATH: wheel.site,
        SLOTBOOK_WHEEL_SITE: wheel.site,
        SLOTBOOK_FEED_URL: url,
      });
      expect(text).toMatch(/\d+ passed/);
      expect(text).not.toContain('skipped');
    } finally {
      clearInterval(timer);
      await publishing;
      await role.stop();
    }
  });
});

interface Seen {
  readonly type: string;
  readonly stream: string;
  readonly version: readonly [number, number] | null;
  readonly crc: number;
  /** CRC32 of the causes of a book's orders. */
  readonly causes?: number;
  /** Slot of a fill, index of its transaction in the block, and its own in the transaction. */
  readonly place?: readonly (number | null)[];
}

/** CRC32 of each book, its causes and each account that was seen, and id and place of each fill, by stream and version. */
function statesOf(events: readonly Seen[]): Map<string, string> {
  const applied = events.filter(({ type }) => ['snapshot', 'change', 'trade'].includes(type));
  return new Map(
    applied.map(({ stream, version, crc, causes, place }) => [
      `${stream} ${version?.join('/')}`,
      JSON.stringify([crc, causes, place]),
    ]),
  );
}

function seenBy(event: BookEvent): Seen {
  const { book } = event;
  const text = ['bids', ...linesOf(book, 'bids'), 'asks', ...linesOf(book, 'asks')].join('\n');
  const { epoch = -1, seq = -1 } = book.position ?? {};
  const causes = (['bids', 'asks'] as const).flatMap((side) => book.orders(side).map(({ cause }) => causeText(cause)));
  const head = { type: event.type, stream: book.stream, version: [epoch, seq] as const };
  return { ...head, crc: crc32(text), causes: crc32(causes.join('\n')) };
}

function causeText(cause: KeptOrder['cause']): string {
  return cause ? `${cause.slot} ${cause.signature} ${cause.index ?? ''}` : '';
}

describe('both clients on a running server', { timeout: PYTHON_WITHIN_MS }, () => {
  it('hold the same books, causes, fills and open orders at every version, across a restart of the server', async ({
    skip,
  }) => {
    const { python, wheel } = ready(skip);
    const stage = new Stage();
    await stage.markets();
    const books = [new RandomBook(0), new RandomBook(1)];
    const drawn = fc.sample(fc.array(change, { maxLength: 5 }), { numRuns: 200, seed: 20_261_123 });
    // A stream shows only changes in its window, and a client that was away begins at any version. So the last changes touch
    // every stream.
    for (const last of [99, 199]) {
      drawn[last] = [{ side: 'bid', tick: 0, dlob: last, vamm: 0, orderId: last, size: 1, slots: 1, isGone: false }];
    }
    const ledger = new AccountLedger(stage.log);
    const publish = async (index: number): Promise<void> => {
      for (const book of books) await stage.books(book.diff(drawn[index] ?? []));
      const place = { txIndex: index % 3 === 0 ? null : index, txSigIndex: index % 5 };
      await stage.trades(trade(BigInt(index + 1), place));
      await ledger.change(index % 7, index % 3 === 2 ? 'cancelled' : index % 2 === 1 ? 'filled' : 'placed');
    };
    for (const book of books) await stage.books(book.snapshot());
    let role = await startOrderBook(stage.context());
    const { port } = new URL(role.endpoints.orderbook ?? '');
    const url = `ws://127.0.0.1:${port}/ws`;
    const mine: Seen[] = [];
    const client = new FeedClient({ url });
    for (const choice of [
      { market: '*' },
      { market: '*', level: 'l3' as const },
      { market: 'SOL-PERP', level: 'l3' as const, cause: true },
      { market: 'SOL-PERP', depth: 3, conflation: 50 as const },
    ]) {
      const subscription = client.book(choice);
      for (const name of ['snapshot', 'change', 'stale', 'resumed'] as const)
        subscription.on(name, (event) => mine.push(seenBy(event)));
    }
    client.numberedTrades({ market: 'SOL-PERP' }).on('trade', ({ epoch, seq, slot, txIndex, txSigIndex, trade }) => {
      const place = [slot, txIndex, txSigIndex];
      const crc = Number(trade.fillRecordId);
      mine.push({ type: 'trade', stream: 'fills', version: [epoch, seq], crc, place });
    });
    const account = client.accountOrders({ account: ACCOUNT });
    for (const name of ['snapshot', 'change', 'stale', 'resumed'] as const) {
      account.on(name, ({ orders: { slot, open } }) => {
        mine.push({ type: name, stream: 'account', version: [0, slot], crc: openOrdersChecksum(open) });
      });
    }
    const child = spawn(python, [path.join(PYTHON_CLIENT, 'tests/follow.py'), url, ACCOUNT], {
      env: { ...process.env, PYTHONPATH: wheel.site },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const release = killWithUs(child.pid ?? 0);
    const theirs: Seen[] = [];
    createInterface(child.stdout).on('line', (line) => theirs.push(JSON.parse(line) as Seen));
    const newest = (events: readonly Seen[], stream: string) => events.findLast((event) => event.stream === stream);
    const bothStandAt = async (seq: number): Promise<void> => {
      for (const stream of [
        'perp_0_l2_k10',
        'perp_1_l2_k10',
        'perp_0_l3_k10',
        'perp_1_l3_k10',
        'perp_0_l3_k10_cause',
        'perp_0_l2_d3_c50_k10',
      ]) {
        await until(() => [mine, theirs].every((events) => newest(events, stream)?.version?.[1] === seq));
      }
      if (seq === 0) return;
      await until(() => [mine, theirs].every((events) => newest(events, 'fills')?.version?.[1] === seq));
      await until(() => [mine, theirs].every((events) => newest(events, 'account')?.version?.[1] === 100 + seq));
    };
    try {
      await bothStandAt(0);
      for (let index = 0; index < 100; index += 1) await publish(index);
      await bothStandAt(100);
      await role.stop();
      await until(() => [mine, theirs].every((events) => events.some(({ type }) => type === 'stale')));
      role = await startOrderBook(stage.context({ orderbookPort: Number(port) }));
      for (let index = 100; index < 200; index += 1) await publish(index);
      await bothStandAt(200);
    } finally {
      child.stdin.end();
      client.close();
      await role.stop();
    }
    await until(() => child.exitCode !== null);
    release();
    expect(child.exitCode).toBe(0);
    const [own, other] = [statesOf(mine), statesOf(theirs)];
    const shared = [...own.keys()].filter((key) => other.has(key));
    expect(shared.filter((key) => own.get(key) !== other.get(key))).toEqual([]);
    for (const stream of ['perp_0_l2_k10', 'perp_0_l3_k10_cause', 'fills', 'account']) {
      expect(shared.filter((key) => key.startsWith(`${stream} `)).length, stream).toBeGreaterThan(20);
    }
    const causes = mine.filter(({ stream }) => stream.endsWith('_cause')).map(({ causes }) => causes);
    expect(new Set(causes).size).toBeGreaterThan(20);
    const fills = theirs.filter(({ type }) => type === 'trade').map(({ crc }) => crc);
    expect(fills).toEqual(mine.filter(({ type }) => type === 'trade').map(({ crc }) => crc));
    expect(fills).toEqual(Array.from({ length: fills.length }, (_, index) => 200 - fills.length + index + 1));
    for (const type of ['snapshot', 'change', 'stale', 'resumed']) {
      expect(theirs.filter((event) => event.type === type).length, type).toBeGreaterThan(0);
    }
  });
});
