import kafkajs from 'kafkajs';
import { expect, it } from 'vitest';
import { onceKnown } from './once-known.ts';

const { KafkaJSAggregateError, KafkaJSNonRetriableError } = kafkajs;

const refusal = (type: string) => Object.assign(new Error(type), { type });
const outOfRetries = (cause: Error) => Object.assign(new KafkaJSNonRetriableError(cause.message), { cause });

it.each<[string, () => Error]>([
  ['without a leader', () => refusal('LEADER_NOT_AVAILABLE')],
  ['whose leader does not know of it yet', () => refusal('NOT_LEADER_FOR_PARTITION')],
  ['without a leader for as long as kafkajs retries', () => outOfRetries(refusal('LEADER_NOT_AVAILABLE'))],
  ['of which kafkajs dropped the refusal', () => new TypeError("Cannot read properties of null (reading 'x')")],
  [
    'created by another process at the same time',
    () => new KafkaJSAggregateError('failed', [refusal('TOPIC_ALREADY_EXISTS')]),
  ],
])('a request for a topic %s is repeated until it is known', async (_, error) => {
  let requests = 0;
  const answer = await onceKnown(async () => {
    if (++requests < 3) throw error();
    return 'known';
  });
  expect([answer, requests]).toEqual(['known', 3]);
});

it('another failure is not repeated', async () => {
  let requests = 0;
  const answer = onceKnown(async () => {
    requests += 1;
    throw new Error('refused');
  });
  await expect(answer).rejects.toThrow('refused');
  expect(requests).toBe(1);
});
