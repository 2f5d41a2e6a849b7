// A new topic takes a moment until every broker knows it and its leader.

import { setTimeout as sleep } from 'node:timers/promises';

const WITHIN_MS = 20_000;
const RETRY_MS = 50;
const UNKNOWN_YET = new Set([
  'UNKNOWN_TOPIC_OR_PARTITION',
  'LEADER_NOT_AVAILABLE',
  'NOT_LEADER_FOR_PARTITION',
  'TOPIC_ALREADY_EXISTS',
]);

type Refusal = Error & { readonly type?: string; readonly errors?: readonly unknown[] };

/** Repeats a request while a topic is so new that not every broker knows it or its leader. */
export async function onceKnown<T>(request: () => Promise<T>): Promise<T> {
  const deadlineMs = performance.now() + WITHIN_MS;
  while (true) {
    try {
      return await request();
    } catch (error) {
      if (!isUnknownYet(error) || performance.now() > deadlineMs) throw error;
      await sleep(RETRY_MS);
    }
  }
}

function isUnknownYet(error: unknown): boolean {
  // kafkajs drops the errors of brokers that refuse metadata, and then reads the answer that is not there.
  if (error instanceof TypeError) return true;
  if (!(error instanceof Error)) return false;
  // After its own retries kafkajs gives the refusal as the cause.
  const { type, errors = [], cause } = error as Refusal;
  return (type !== undefined && UNKNOWN_YET.has(type)) || [cause, ...errors].some(isUnknownYet);
}
