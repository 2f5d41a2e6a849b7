// Records that a reducer could not apply.

import type { LogRecord, NewRecord } from '../../platform/index.ts';
import { errorText } from '../../platform/index.ts';
import { encodeMessage, type Topic } from '../../schemas/index.ts';

type Unapplied = Pick<LogRecord, 'partition' | 'offset' | 'value'>;

/** The letter of a record; its key is the reason. `slot`: of the reducer, 0 where it has none. */
export function deadLetter(
  reason: string,
  topic: Topic,
  { partition, offset, value: bytes }: Unapplied,
  error: unknown,
  slot = 0,
): NewRecord {
  const detail = errorText(error);
  const origin = `${topic.name}/${partition}/${offset}`;
  return { key: reason, value: encodeMessage('DeadLetter', { reason, detail, slot, origin, bytes }) };
}
