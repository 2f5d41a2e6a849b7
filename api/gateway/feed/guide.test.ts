// Examples of README and the guide work: the client of 20 lines follows a book, and checksums match their texts.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { crc32 } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { BookKeeper } from '../../../client/index.ts';
import type { BookL3Snapshot } from '../../../schemas/index.ts';
import { diff, Stage, snapshot, until } from '../../../test/support/api/stage.ts';
import { NODE_FLAGS } from '../../../test/support/platform/children.ts';
import { startOrderBook } from '../../orderbook/start.ts';

const read = (path: string): string => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
const GUIDE = read('docs/guides/follow-a-book.md');

/** The fenced block with this info string. */
function block(text: string, info: string): string {
  const found = new RegExp(`\`\`\`${info}\\n([\\s\\S]*?)\\n\`\`\``).exec(text)?.[1];
  if (found === undefined) throw new Error(`no block ${info}`);
  return found;
}

let stops: (() => unknown)[] = [];
afterEach(async () => {
  for (const stop of stops) await stop();
  stops = [];
});

/** Runs the client of README against a port; its lines. */
function runReadme(port: string | number): string[] {
  const code = block(read('README.md'), 'js');
  expect(code.split('\n')).toHaveLength(20);
  const lines: string[] = [];
  const child: ChildProcess = spawn(process.execPath, [
    ...NODE_FLAGS,
    '--input-type=module',
    '-e',
    code.replace('6969', String(port)),
  ]);
  stops.push(() => child.kill());
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => lines.push(...text.trimEnd().split('\n')));
  }
  return lines;
}

describe('the client of README', () => {
  it('keeps the book of a running server', async () => {
    const stage = new Stage();
    await stage.markets();
    await stage.books(snapshot());
    const role = await startOrderBook(stage.context());
    stops.push(() => role.stop());
    const lines = runReadme(new URL(role.endpoints.orderbook ?? '').port);
    await until(() => lines.length === 1);
    await stage.books(diff(2, 488, { bids: [{ price: 81_120_000, dlob: 5n, vamm: 0n }] }));
    await until(() => lines.length === 2);
    await stage.books(diff(3, 489, { bids: [{ price: 81_120_000, dlob: 0n, vamm: 0n }] }));
    await until(() => lines.length === 3);
    expect(lines).toEqual([
      'slot 487 seq 1: bid 81114210 ask 81130450',
      'slot 488 seq 2: bid 81120000 ask 81130450',
      'slot 489 seq 3: bid 81114210 ask 81130450',
    ]);
  });

  it('subscribes again when a change is missing', async () => {
    const server = new WebSocketServer({ port: 0 });
    stops.push(() => server.close());
    await once(server, 'listening');
    const requests: string[] = [];
    const head = { epoch: 1, slot: 9, asks: [['12', '1']] };
    server.on('connection', (socket) => {
      stops.push(() => socket.terminate());
      socket.on('message', (text) => {
        requests.push(String(text));
        const seq = requests.length * 10;
        socket.send(JSON.stringify({ channel: 'book', type: 'snapshot', ...head, seq, bids: [[`${seq}`, '1']] }));
        if (requests.length === 1)
          socket.send(JSON.stringify({ diff: 1, ...head, seq: 13, prevSeq: 12, bids: [['99', '1']] }));
      });
    });
    const lines = runReadme((server.address() as AddressInfo).port);
    await until(() => lines.length === 2);
    expect(lines).toEqual(['slot 9 seq 10: bid 10 ask 12', 'slot 9 seq 20: bid 20 ask 12']);
    expect(requests).toHaveLength(2);
  });
});

describe('the checksums of the guide', () => {
  it.each(['l3', 'l2'])('are the CRC32 of their text: %s', (level) => {
    const after = GUIDE.slice(GUIDE.indexOf(`\`\`\`text ${level}`));
    const said = /CRC32 `(\d+)`/.exec(after)?.[1];
    expect(crc32(block(GUIDE, `text ${level}`))).toBe(Number(said));
  });

  it('of L3 matches its snapshot, and changes when two orders of a price change places', () => {
    const message = JSON.parse(block(GUIDE, 'json l3')) as BookL3Snapshot;
    const keeper = () => new BookKeeper({ level: 'l3', checksum: true });
    expect(keeper().apply(message)).toBe('applied');
    const [first, second, ...others] = message.bids;
    if (!first || !second) throw new Error('two bids expected');
    const bids = [{ ...first, rank: second.rank }, { ...second, rank: first.rank }, ...others];
    expect(keeper().apply({ ...message, bids })).toBe('checksum');
  });
});
