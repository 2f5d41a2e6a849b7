import { describe, expect, it } from 'vitest';
import type { NewRecord } from '../port.ts';
import { awaitTurn } from './candidacy.ts';
import { type Candidate, RoleMarks } from './marks.ts';
import type { MarkWatch } from './watch.ts';

const SILENT_MS = 30;
const TIMES = { lookMs: 5, leaseMs: 50, handoverMs: 50, silentMs: SILENT_MS, askMs: 5, releaseMs: 50 };
const candidate = (startedMs: number): Candidate => {
  return { host: 'box', pid: startedMs, version: '1.0.0', startedMs, machine: null };
};
const mark = (by: Candidate, kind: 'asks' | 'began') => ({ ...by, role: 'role', mark: kind, epoch: null });

describe('a process that waits for a silent writer', () => {
  it('lets a newer one go first that asked behind it, however late it looks', async () => {
    const [older, newer] = [candidate(1), candidate(2)];
    const marks = new RoleMarks();
    marks.take('began', 0n, mark(candidate(0), 'began'), performance.now());
    const asks: NewRecord[] = [];
    let next = 1n;
    const watch = {
      of: () => marks,
      fresh: async () => {},
      put: async (record: NewRecord) => {
        asks.push(record);
        const offset = next++;
        marks.take('asks', offset, mark(older, 'asks'), performance.now());
        // As if this process had stood still since it read the ask.
        if (offset === 1n) marks.take('asks', next++, mark(newer, 'asks'), performance.now() - SILENT_MS);
        return offset;
      },
    };
    const options = { role: 'role', self: older, times: TIMES, signal: new AbortController().signal };
    const turn = await awaitTurn({ ...options, watch: watch as unknown as MarkWatch, onStandby: () => {} });
    // The newer one has not asked again, so it is dead.
    expect(turn).toEqual({ writer: 0n, ask: 3n });
    expect(asks).toHaveLength(2);
  });
});
