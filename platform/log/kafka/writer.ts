// Appends to Kafka: one idempotent producer with one open request. Calls meanwhile go into the next request.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Kafka, Message, Producer } from 'kafkajs';
import { asBuffer } from '../../../schemas/index.ts';
import type { Appended } from '../port.ts';

export interface WriteRecord {
  readonly key: string;
  /** null deletes the key of a compacted topic. */
  readonly value: Uint8Array | null;
  readonly headers?: Readonly<Record<string, Buffer>>;
}

export interface PartitionWrite {
  readonly partition: number;
  readonly records: readonly WriteRecord[];
  readonly bytes: number;
}

interface Job {
  readonly topic: string;
  readonly parts: readonly PartitionWrite[];
  readonly bytes: number;
  readonly count: number;
  resolve(appended: readonly Appended[]): void;
  reject(error: unknown): void;
}

const ACKS_ALL = -1;
const REQUEST_BYTES_MAX = 4 * 1024 * 1024;
/** kafkajs sorts the messages of a request in quadratic time, so more requests are faster than larger ones. */
const REQUEST_RECORDS_MAX = 2000;
const CLOSE_WITHIN_MS = 5000;

export class KafkaWriter {
  readonly #kafka: Kafka;
  #producer: Promise<Producer> | null = null;
  #jobs: Job[] = [];
  #running: Promise<void> | null = null;
  #closed = false;

  constructor(kafka: Kafka) {
    this.#kafka = kafka;
  }

  /**
   * Appends the parts of one call, each as one record batch that is stored as a whole or not at all. When it rejects, the
   * records may be stored; all later calls reject as well, so that the order stays intact.
   */
  append(topic: string, parts: readonly PartitionWrite[]): Promise<readonly Appended[]> {
    if (this.#closed) return Promise.reject(new Error('the event log is closed'));
    return new Promise((resolve, reject) => {
      let bytes = 0;
      let count = 0;
      for (const part of parts) {
        bytes += part.bytes;
        count += part.records.length;
      }
      this.#jobs.push({ topic, parts, bytes, count, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  /** Waits for the open request, but not for an unreachable broker. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.race([this.#running, sleep(CLOSE_WITHIN_MS, undefined, { ref: false })]);
    await this.#reset();
  }

  async #run(): Promise<void> {
    // Calls within one turn share the first request.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#jobs.length > 0) {
      const jobs = this.#take();
      try {
        const bases = await this.#send(jobs);
        for (const job of jobs) job.resolve(job.parts.map((part) => claim(bases, job.topic, part)));
      } catch (error) {
        for (const job of [...jobs, ...this.#jobs.splice(0)]) job.reject(error);
        await this.#reset();
      }
    }
    this.#running = null;
  }

  #take(): Job[] {
    let bytes = 0;
    let records = 0;
    let taken = 0;
    for (const job of this.#jobs) {
      bytes += job.bytes;
      records += job.count;
      if (taken > 0 && (bytes > REQUEST_BYTES_MAX || records > REQUEST_RECORDS_MAX)) break;
      taken += 1;
    }
    return this.#jobs.splice(0, taken);
  }

  /** Offset of the first record by `topic/partition`. */
  async #send(jobs: readonly Job[]): Promise<Map<string, bigint>> {
    const messages = new Map<string, Message[]>();
    for (const { topic, parts } of jobs) {
      const list = messages.get(topic) ?? [];
      messages.set(topic, list);
      for (const { partition, records } of parts) {
        for (const { key, value, headers } of records) {
          list.push({ key, value: value === null ? null : asBuffer(value), partition, ...(headers && { headers }) });
        }
      }
    }
    this.#producer ??= connect(this.#kafka);
    const producer = await this.#producer;
    const answers = await producer.sendBatch({
      acks: ACKS_ALL,
      topicMessages: [...messages].map(([topic, list]) => ({ topic, messages: list })),
    });
    return new Map(
      answers.map(({ topicName, partition, baseOffset }) => {
        if (baseOffset === undefined) throw new Error(`${topicName}/${partition}: the broker returned no offset`);
        return [`${topicName}/${partition}`, BigInt(baseOffset)];
      }),
    );
  }

  async #reset(): Promise<void> {
    const producer = this.#producer;
    this.#producer = null;
    await producer?.then((connected) => connected.disconnect()).catch(() => {});
  }
}

/** Takes the offsets of one part, in the order of the request's parts. */
function claim(bases: Map<string, bigint>, topic: string, { partition, records }: PartitionWrite): Appended {
  const at = `${topic}/${partition}`;
  const first = bases.get(at);
  if (first === undefined) throw new Error(`${at}: the broker returned no offset`);
  const next = first + BigInt(records.length);
  bases.set(at, next);
  return { partition, first, last: next - 1n };
}

async function connect(kafka: Kafka): Promise<Producer> {
  const producer = kafka.producer({
    idempotent: true,
    allowAutoTopicCreation: false,
    createPartitioner:
      () =>
      ({ message }) =>
        message.partition ?? 0,
  });
  await producer.connect();
  return producer;
}
