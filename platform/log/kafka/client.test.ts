import { describe, expect, it } from 'vitest';
import { isAway } from './client.ts';

/** As kafkajs makes them; it exports few of its classes. */
const refusal = (name: string, type: string, retriable: boolean) =>
  Object.assign(new Error(type), { name, type, retriable });
const creation = (...types: readonly (readonly [string, boolean])[]) =>
  Object.assign(new Error('Topic creation errors'), {
    name: 'KafkaJSAggregateError',
    errors: types.map(([type, retriable]) => refusal('KafkaJSCreateTopicError', type, retriable)),
  });

describe('brokers are away', () => {
  it('when a busy controller creates no topic in time', () => {
    expect(isAway(creation(['REQUEST_TIMED_OUT', true], ['REQUEST_TIMED_OUT', true]))).toBe(true);
  });

  it('when a broker refuses with what can be repeated, as the cause of another error too', () => {
    const busy = refusal('KafkaJSProtocolError', 'NOT_LEADER_FOR_PARTITION', true);
    expect(isAway(busy)).toBe(true);
    expect(isAway(new Error('not read', { cause: busy }))).toBe(true);
  });

  it('not when a topic cannot be created, is there already or is missing', () => {
    expect(isAway(creation(['TOPIC_AUTHORIZATION_FAILED', false], ['REQUEST_TIMED_OUT', true]))).toBe(false);
    expect(isAway(creation(['TOPIC_ALREADY_EXISTS', false]))).toBe(false);
    expect(isAway(refusal('KafkaJSProtocolError', 'UNKNOWN_TOPIC_OR_PARTITION', true))).toBe(false);
    expect(isAway(Object.assign(new Error('empty'), { name: 'KafkaJSAggregateError', errors: [] }))).toBe(false);
  });
});
