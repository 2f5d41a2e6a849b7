import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import bs58 from 'bs58';
import { afterAll, describe, expect, it } from 'vitest';
import type { ResumePoint, Source, SourceUpdate, TransactionLogs } from '../source.ts';
import { formatLine } from './format.ts';
import { recordCapture } from './record.ts';
import { CaptureSource } from './source.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'slotbook-capture-'));
afterAll(() => rmSync(directory, { recursive: true }));

const transaction = (slot: number): TransactionLogs => ({
  kind: 'transaction',
  slot,
  signature: bs58.encode(Buffer.alloc(64, slot)),
  failed: false,
  logs: ['Program log: a'],
  blockIndex: null,
  blockTime: 1_700_000_000,
});
const account = (slot: number, writeVersion: bigint | null): SourceUpdate => ({
  kind: 'account',
  slot,
  writeVersion,
  pubkey: Uint8Array.from({ length: 32 }, () => slot),
  owner: Uint8Array.from({ length: 32 }, () => 9),
  data: Buffer.from([1, 2, slot]),
});
const recorded: SourceUpdate[] = [
  { kind: 'snapshotBegin', slot: 5 },
  account(5, null),
  account(6, 2n ** 60n),
  { kind: 'snapshotEnd', slot: 5 },
  transaction(6),
  { kind: 'gap', fromSlot: 1, toSlot: 2, filled: true, reason: 'x' },
  { kind: 'gap', fromSlot: 3, toSlot: 4, filled: false, reason: 'gone', isLasting: true },
  transaction(7),
  { kind: 'slot', slot: 7 },
  { kind: 'time', slot: 7, ts: 1_700_000_003 },
];

async function play(source: Source, resume: ResumePoint | null = null): Promise<SourceUpdate[]> {
  const updates: SourceUpdate[] = [];
  for await (const batch of source.updates(resume, new AbortController().signal)) updates.push(...batch);
  return updates;
}

const playing = (updates: readonly SourceUpdate[], whole: TransactionLogs | null = null): Source => ({
  async *updates() {
    yield updates;
  },
  transaction: async () => whole,
});

describe('capture', () => {
  for (const ending of ['ndjson', 'ndjson.gz', 'ndjson.zst']) {
    it(`plays a recording back (${ending})`, async () => {
      const file = path.join(directory, `a.${ending}`);
      const source = playing([...recorded, { kind: 'reconnect', reason: 'not recorded' }]);
      const counts = await recordCapture(source, file, new AbortController().signal);
      expect(counts).toEqual({ accounts: 2, transactions: 2, slots: 1 });
      const updates = await play(new CaptureSource(file));
      const plain = updates.filter(({ kind }) => kind !== 'progress');
      expect(plain.map((update) => JSON.stringify(update, bigints))).toEqual(
        recorded.map((update) => JSON.stringify(update, bigints)),
      );
      expect(updates.at(-1)).toMatchObject({ kind: 'progress', resume: { slot: 7, line: recorded.length } });
    });
  }

  it('records truncated logs in full', async () => {
    const file = path.join(directory, 'cut.ndjson');
    const cut = { ...transaction(6), logs: ['Log truncated'] };
    await recordCapture(playing([cut], transaction(6)), file, new AbortController().signal);
    expect((await play(new CaptureSource(file)))[0]).toEqual(transaction(6));
  });

  it('has the members of the format alone, also of a transaction whose signature was read already', () => {
    const known = { ...transaction(7), signatureBytes: new Uint8Array(64).fill(7) };
    expect(formatLine(known, 5)).toBe(formatLine(transaction(7), 5));
    expect(Object.keys(JSON.parse(formatLine(known, 5) ?? ''))).toEqual([...Object.keys(transaction(7)), 'atMs']);
  });

  it('plays a folder in order of names and ends with the last slot of a recording without slots', async () => {
    const folder = mkdtempSync(path.join(directory, 'folder-'));
    const line = (slot: number) => `${JSON.stringify(transaction(slot))}\n`;
    writeFileSync(path.join(folder, '2.ndjson'), line(12));
    writeFileSync(path.join(folder, '1.jsonl'), line(11));
    writeFileSync(path.join(folder, 'notes.txt'), 'no capture');
    const updates = await play(new CaptureSource(folder));
    expect(updates.map((update) => [update.kind, 'slot' in update ? update.slot : null])).toEqual([
      ['transaction', 11],
      ['transaction', 12],
      ['slot', 12],
      ['progress', null],
    ]);
  });

  it('resumes transactions after the line of the resume point and replays all accounts', async () => {
    const file = path.join(directory, 'resume.ndjson');
    await recordCapture(playing(recorded), file, new AbortController().signal);
    const chain = 'capture:resume.ndjson';
    const kinds = async (resume: ResumePoint) => (await play(new CaptureSource(file), resume)).map(({ kind }) => kind);
    const at5 = await kinds({ slot: 6, signatures: {}, chain, line: 5 });
    expect(at5.filter((kind) => kind === 'transaction').length).toBe(1);
    expect(at5.filter((kind) => kind === 'account').length).toBe(2);
    const other = await kinds({ slot: 6, signatures: {}, chain: 'capture:other', line: 5 });
    expect(other.filter((kind) => kind === 'transaction').length).toBe(2);
  });

  it('reports unreadable lines as garbage and continues', async () => {
    const file = path.join(directory, 'garbage.ndjson');
    const short = JSON.stringify({ ...transaction(3), signature: 'abc' });
    writeFileSync(file, `garbage\n${short}\n{"kind":"other"}\n\n${JSON.stringify(transaction(4))}\n`);
    const updates = await play(new CaptureSource(file));
    expect(updates.map(({ kind }) => kind)).toEqual([
      'garbage',
      'garbage',
      'garbage',
      'transaction',
      'slot',
      'progress',
    ]);
    expect(updates[1]).toMatchObject({ origin: 'garbage.ndjson:2', reason: 'garbage_line' });
  });

  it('fails without a file to play', async () => {
    await expect(play(new CaptureSource(''))).rejects.toThrow('no capture path');
    await expect(play(new CaptureSource(path.join(directory, 'missing.ndjson')))).rejects.toThrow();
  });
});

function bigints(_: string, value: unknown): unknown {
  return typeof value === 'bigint' ? `${value}n` : value;
}
