// Appends to Kafka: idempotent producers, each with one open request for one partition. Calls meanwhile go into the next requests.

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

interface Batch {
  readonly topic: string;
  readonly messages: Message[];
}

const ACKS_ALL = -1;
/**
 * As many as most topics have partitions. Several requests of one producer would wait for kafkajs's lock of their broker, which
 * gives up after 65 s; the repetition could store the records twice.
 */
const PRODUCERS_MAX = 4;
/** Of the calls that are sent together. */
export const REQUEST_BYTES_MAX = 4 * 1024 * 1024;
/** kafkajs sorts the messages of a partition in quadratic time, so more requests are faster than larger ones. */
const REQUEST_RECORDS_MAX = 2000;
const CLOSE_WITHIN_MS = 5000;

export class KafkaWriter {
  readonly #kafka: Kafka;
  readonly #producers: Promise<Producer>[] = [];
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

  /** Waits for the open requests, but not for an unreachable broker. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.race([this.#running, sleep(CLOSE_WITHIN_MS, undefined, { ref: false })]);
    await this.#reset();
  }

  async #run(): Promise<void> {
    // Calls within one turn share the first requests.
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

  /** Offset of the first record by `topic/partition`. Ends when no request is open any more. */
  async #send(jobs: readonly Job[]): Promise<Map<string, bigint>> {
    const queue = [...batchesOf(jobs)];
    const bases = new Map<string, bigint>();
    const sendAll = async (at: number): Promise<void> => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
        const [name, batch] = next;
        try {
          this.#producers[at] ??= connect(this.#kafka);
          bases.set(name, await sendBatch(await this.#producers[at], name, batch));
        } catch (error) {
          queue.length = 0;
          throw error;
        }
      }
    };
    const settled = await Promise.allSettled(Array.from({ length: PRODUCERS_MAX }, (_, at) => sendAll(at)));
    for (const one of settled) if (one.status === 'rejected') throw one.reason;
    return bases;
  }

  async #reset(): Promise<void> {
    const producers = this.#producers.splice(0);
    await Promise.allSettled(producers.map(async (producer) => (await producer).disconnect()));
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

/** Messages of each partition by `topic/partition`, in the order of the calls. */
function batchesOf(jobs: readonly Job[]): Map<string, Batch> {
  const batches = new Map<string, Batch>();
  for (const { topic, parts } of jobs) {
    for (const { partition, records } of parts) {
      const at = `${topic}/${partition}`;
      const batch = batches.get(at) ?? { topic, messages: [] };
      batches.set(at, batch);
      for (const { key, value, headers } of records) {
        batch.messages.push({
          key,
          value: value === null ? null : asBuffer(value),
          partition,
          ...(headers && { headers }),
        });
      }
    }
  }
  return batches;
}

/**
 * Offset of the first record. One partition a call: kafkajs keeps its answers by broker, so a call over several brokers would
 * lose or repeat records when a partition moves between them.
 */
async function sendBatch(producer: Producer, name: string, { topic, messages }: Batch): Promise<bigint> {
  const [answer] = await producer.sendBatch({ acks: ACKS_ALL, topicMessages: [{ topic, messages }] });
  if (answer?.baseOffset === undefined) throw new Error(`${name}: the broker returned no offset`);
  return BigInt(answer.baseOffset);
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
