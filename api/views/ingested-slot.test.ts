import { pino } from 'pino';
import { afterEach, expect, it } from 'vitest';
import { encodeMessage, TOPICS } from '../../schemas/index.ts';
import { FakeLog } from '../../test/support/api/fake-log.ts';
import { eventually } from '../../test/support/platform/eventually.ts';
import { IngestedSlot } from './ingested-slot.ts';

const log = new FakeLog();
const head = new IngestedSlot({ log, logger: pino({ level: 'silent' }) });

afterEach(() => head.stop());

/** Writes a slot to every partition, like ingest. */
async function reach(slot: number): Promise<void> {
  const value = encodeMessage('BookSlot', { slot });
  const partitions = Array.from({ length: TOPICS.positions.partitions }, (_, partition) => partition);
  await log.append(
    TOPICS.positions,
    partitions.map((partition) => ({ key: 'slot', value, partition })),
  );
}

it('the ingested slot is the newest one that ingest wrote, among any other records', async () => {
  await reach(400);
  await head.start();
  expect(head.slot).toBeNull();
  const bracket = encodeMessage('BookSnapshotBegin', { marketType: 'perp', marketIndex: 0, snapshotSlot: 900 });
  await log.append(TOPICS.positions, [
    { key: 'perp-0', value: bracket, partition: 0 },
    { key: 'broken', value: Uint8Array.of(255, 255), partition: 0 },
  ]);
  await reach(501);
  await reach(499);
  await reach(502);
  await eventually(() => expect(head.slot).toBe(502));
});
