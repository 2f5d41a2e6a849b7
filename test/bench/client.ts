// Costs of an integrator: decoding of accounts beside Anchor's coder, the book keeper, a frame from socket to callback, and the
// size of a browser bundle. `npm run bench client`; one JSON line per figure. No network.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { BorshAccountsCoder, type Idl } from '@coral-xyz/anchor';
import { BookKeeper, createDecoder, FeedClient } from '../../client/index.ts';
import type { BookL2Diff } from '../../schemas/index.ts';
import { loadDefinition } from '../../schemas/index.ts';
import { CHANGES_PER_MESSAGE, diffs, LEVELS, snapshot } from '../support/client/busy-book.ts';
import { browserBundle, packedProject } from '../support/client/packed.ts';
import { ScriptedSocket } from '../support/client/scripted-socket.ts';
import { randomAccount } from '../support/ingest/bytes.ts';
import { report } from './harness/report.ts';

const ROUND_MS = 700;
const ROUNDS = 3;
const KIB = 1024;

/** Best of some rounds, calls per second. */
function measure(call: () => unknown): number {
  for (let warm = 0; warm < 500; warm += 1) call();
  let best = 0;
  for (let round = 0; round < ROUNDS; round += 1) {
    const startMs = performance.now();
    let count = 0;
    while (performance.now() - startMs < ROUND_MS) {
      for (let index = 0; index < 20; index += 1) call();
      count += 20;
    }
    best = Math.max(best, (count * 1000) / (performance.now() - startMs));
  }
  return best;
}

function decoding(): void {
  const [program] = loadDefinition('velocity').programs;
  const definition = program?.accounts.get('User');
  if (!program || !definition) throw new Error('the definition has no User account');
  const accounts = Array.from({ length: 100 }, (_, seed) => randomAccount(definition, seed + 1));
  const decoder = createDecoder(program.idl);
  const coder = new BorshAccountsCoder(program.idl as Idl);
  let at = 0;
  let sum = 0n;
  const next = (): Buffer => accounts[at++ % accounts.length] ?? Buffer.alloc(0);
  const anchor = measure(() => coder.decode('User', next()));
  const whole = measure(() => decoder.decode('User', next()));
  const one = measure(() => {
    const order = decoder.view('User', next()).orders.at(3);
    if (order?.status !== 'init') sum += (order?.price ?? 0n) + (order?.baseAssetAmount ?? 0n);
  });
  const beside = { anchorPerSecond: Math.round(anchor), node: process.version, sum: Number(sum % 97n) };
  report({ name: 'client: full User decode', value: whole, unit: 'accounts/s', beside });
  report({
    name: 'client: full User decode, ratio to Anchor',
    value: whole / anchor,
    unit: 'x',
    beside,
    bar: { atLeast: 20 },
  });
  report({
    name: 'client: one order lazily, ratio to Anchor',
    value: one / anchor,
    unit: 'x',
    beside,
    bar: { atLeast: 200 },
  });
}

function keeping(messages: readonly BookL2Diff[]): void {
  const first = snapshot();
  let best = 0;
  for (let round = 0; round < ROUNDS * 3; round += 1) {
    const keeper = new BookKeeper({ level: 'l2', checksum: true });
    keeper.apply(first);
    const startMs = performance.now();
    for (const message of messages)
      if (keeper.apply(message) !== 'applied') throw new Error('the keeper lost the book');
    best = Math.max(best, (messages.length * CHANGES_PER_MESSAGE * 1000) / (performance.now() - startMs));
  }
  const beside = { levels: 2 * LEVELS, changesPerMessage: CHANGES_PER_MESSAGE, checksumEachChanges: 100 };
  const name = 'client: book keeper with a checksum each 100 changes';
  report({ name, value: best, unit: 'level changes/s', beside, bar: { atLeast: 500_000 } });
}

/** From the text of a frame in the socket to the user's callback, which reads the changed levels. */
function framePath(messages: readonly BookL2Diff[]): void {
  const socket = new ScriptedSocket();
  const client = new FeedClient({ url: '', open: () => socket });
  let changed = 0;
  client.book({ market: 'SOL-PERP' }).on('change', ({ bids, asks }) => {
    changed += bids.length + asks.length;
  });
  socket.open();
  const texts = messages.map((message) => JSON.stringify(message));
  const times = new Float64Array(texts.length);
  for (let round = 0; round < 2; round += 1) {
    socket.say(snapshot());
    for (const [index, text] of texts.entries()) {
      const startMs = performance.now();
      socket.say(text);
      times[index] = (performance.now() - startMs) * 1000;
    }
  }
  client.close();
  if (changed !== 2 * messages.length * CHANGES_PER_MESSAGE) throw new Error('changes are missing');
  const sorted = times.toSorted();
  const beside = {
    p99Us: Number((sorted[Math.floor(texts.length * 0.99)] ?? 0).toFixed(1)),
    changesPerFrame: CHANGES_PER_MESSAGE,
  };
  report({ name: 'client: frame to callback, median', value: sorted[texts.length >> 1] ?? 0, unit: 'us', beside });
}

async function bundleSize(): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'slotbook-packed-'));
  const project = await packedProject(folder);
  try {
    const entry = path.join(project.folder, 'feed.js');
    writeFileSync(entry, "export { FeedClient } from '@slotbook/client/feed';\n");
    const { code, gzipBytes } = await browserBundle(entry);
    const name = 'client: browser bundle with feeds only, gzip';
    report({ name, value: gzipBytes / KIB, unit: 'KiB', minifiedBytes: code.length, bar: { atMost: 12 } });
  } finally {
    project.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

decoding();
const messages = diffs();
keeping(messages);
framePath(messages);
await bundleSize();
