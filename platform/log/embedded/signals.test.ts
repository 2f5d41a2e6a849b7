import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CommitSignals } from './signals.ts';

describe('commit signals', () => {
  let folder: string;
  let received: number;
  let reader: CommitSignals;
  let writer: CommitSignals;

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'signals-'));
    received = 0;
    reader = new CommitSignals(path.join(folder, 'signals'), () => {
      received += 1;
    });
    writer = new CommitSignals(path.join(folder, 'signals'), () => {});
  });
  afterEach(() => {
    reader.close();
    writer.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('reach who watches their topic, and nobody else', async () => {
    reader.watch(1);
    writer.send([2]);
    writer.send([3, 1]);
    await vi.waitFor(() => expect(received).toBe(1));
    writer.send([2, 3]);
    writer.send([1]);
    await vi.waitFor(() => expect(received).toBe(2));
    expect(reader.isComplete).toBe(true);
  });

  it('say that they may be missing where a topic cannot be watched', () => {
    writeFileSync(path.join(folder, 'signals'), 'not a folder');
    reader.watch(1);
    writer.send([1]);
    expect(reader.isComplete).toBe(false);
  });
});
