// Two brokers in memory below kafkajs's own producer: one topic, and idempotent partitions that have leaders.

import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Kafka, Message, ProducerBatch } from 'kafkajs';

interface ProduceRequest {
  readonly producerId: number;
  readonly topicData: readonly {
    readonly topic: string;
    readonly partitions: readonly { partition: number; firstSequence: number; messages: readonly Message[] }[];
  }[];
}

interface SequenceKeeper {
  initProducerId(): Promise<void>;
}

type Create<Options, Result> = (options: Options) => Result;

/** Parts of kafkajs without types of their own (src/, version 2.2.4). */
const part = <Result>(path: string) =>
  createRequire(import.meta.url)(`kafkajs/src/${path}`) as Create<Record<string, unknown>, Result>;
const createSend = part<(batch: ProducerBatch) => Promise<never>>('producer/sendMessages.js');
const createSequenceKeeper = part<SequenceKeeper>('producer/eosManager/index.js');
const createRetry = part<unknown>('retry/index.js');
const { createErrorFromCode } = createRequire(import.meta.url)('kafkajs/src/protocol/error.js') as {
  createErrorFromCode(code: number): Error;
};

const BROKERS = ['A', 'B'];
const NOT_LEADER = 6;
const OUT_OF_ORDER_SEQUENCE = 45;
const RETRY = { retries: 10, initialRetryTime: 20, maxRetryTime: 40, multiplier: 2, factor: 0.2 };

export class FakeBrokers {
  /** Broker of each partition: A or B. */
  readonly leaders: string[];
  /** Where the client looks for each partition until a refusal makes it ask again. */
  readonly known: string[];
  /** Milliseconds until a broker has stored a request on its replicas. */
  readonly delaysMs: Record<string, number> = {};
  /** Called with the partition of each request before its leader stores it; throws to refuse it. */
  refuse: (partition: number) => void = () => {};
  /** Keys of the records of each partition. */
  readonly stored: string[][];
  /** True while no request is open. */
  get isIdle(): boolean {
    return this.#open === 0;
  }
  #open = 0;
  #producers = 0;
  /** Next sequence number by `producer/partition`. */
  readonly #sequences = new Map<string, number>();

  constructor(leaders: readonly string[]) {
    this.leaders = [...leaders];
    this.known = [...leaders];
    this.stored = leaders.map(() => []);
  }

  /** A client whose producers write to these brokers. */
  client(): Kafka {
    const logger = { debug() {}, info() {}, error() {}, namespace: () => logger };
    const cluster = this.#cluster();
    return {
      producer: () => {
        const eosManager = createSequenceKeeper({ logger, cluster, transactional: false });
        const partitioner = ({ message }: { readonly message: Message }) => message.partition;
        const send = createSend({ logger, cluster, partitioner, eosManager, retrier: createRetry(RETRY) });
        return { connect: () => eosManager.initProducerId(), disconnect: async () => {}, sendBatch: send };
      },
    } as unknown as Kafka;
  }

  #cluster() {
    const brokers = new Map(
      BROKERS.map((nodeId) => {
        return [nodeId, { nodeId, produce: (request: ProduceRequest) => this.#produce(nodeId, request) }];
      }),
    );
    return {
      targetTopics: new Set(['t']),
      retry: RETRY,
      isConnected: () => true,
      addMultipleTargetTopics: async () => {},
      refreshMetadataIfNecessary: async () => {},
      refreshMetadata: async () => void this.known.splice(0, this.known.length, ...this.leaders),
      findTopicPartitionMetadata: () => this.known.map((_, partitionId) => ({ partitionId })),
      findLeaderForPartitions: (_: string, partitions: readonly string[]) => {
        const of = (nodeId: string) => partitions.map(Number).filter((one) => this.known[one] === nodeId);
        const leading = BROKERS.filter((nodeId) => of(nodeId).length > 0);
        return Object.fromEntries(leading.map((nodeId) => [nodeId, of(nodeId)]));
      },
      findBroker: async ({ nodeId }: { readonly nodeId: string }) => brokers.get(nodeId),
      findControllerBroker: async () => ({
        initProducerId: async () => ({ producerId: ++this.#producers, producerEpoch: 0 }),
      }),
    };
  }

  async #produce(nodeId: string, { producerId, topicData }: ProduceRequest) {
    this.#open += 1;
    try {
      const parts = topicData.flatMap(({ partitions }) => partitions);
      for (const { partition } of parts) {
        if (this.leaders[partition] !== nodeId) throw createErrorFromCode(NOT_LEADER);
        this.refuse(partition);
      }
      const answers = parts.map(({ partition, firstSequence, messages }) => {
        const name = `${producerId}/${partition}`;
        const expected = this.#sequences.get(name) ?? 0;
        if (firstSequence > expected) throw createErrorFromCode(OUT_OF_ORDER_SEQUENCE);
        const stored = this.stored[partition] ?? [];
        const isRepeated = firstSequence < expected;
        if (!isRepeated) {
          this.#sequences.set(name, expected + messages.length);
          stored.push(...messages.map(({ key }) => String(key)));
        }
        return { partition, errorCode: 0, baseOffset: String(stored.length - messages.length) };
      });
      await sleep(this.delaysMs[nodeId] ?? 0);
      return { topics: topicData.map(({ topic }) => ({ topicName: topic, partitions: answers })) };
    } finally {
      this.#open -= 1;
    }
  }
}
