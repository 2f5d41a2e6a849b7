import { describe, expect, it } from 'vitest';
import { formatStatus } from './status.ts';

describe('status line', () => {
  it('shows totals, and rates per second since the previous reading', () => {
    const before = { slot: 10, events: 100, changes: 1000, rows: 5, clients: 0 };
    const now = { slot: 12, events: 150, changes: 5000, rows: 1234, clients: 1 };
    expect(formatStatus(before, now, 2)).toBe('slot 12 | 25 events/s | 2,000 book changes/s | 1,234 rows | 1 client');
  });
});
