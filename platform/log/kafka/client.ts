// Sets up kafkajs: its log lines, its retries, and its internal cluster object.
//
// Consumer groups do not fit this log: every reader reads all records of the partitions it names, from its own offsets.
// kafkajs has no manual assignment, but its internal cluster fetches from a partition leader directly. A private symbol leads
// to that object, so package.json pins the version.

import { Kafka, type LogEntry, logLevel, type RetryOptions } from 'kafkajs';
import type { Logger } from 'pino';
import type { Config } from '../../config.ts';
import { kafkaSecurity } from './security.ts';

export interface FetchedMessage {
  readonly offset: string;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: Readonly<Record<string, Buffer | undefined>>;
  readonly isControlRecord: boolean;
}

export interface FetchResponse {
  readonly responses: readonly {
    readonly topicName: string;
    readonly partitions: readonly {
      readonly partition: number;
      readonly highWatermark: string;
      readonly messages: readonly FetchedMessage[];
    }[];
  }[];
}

export interface FetchRequest {
  readonly replicaId: number;
  readonly isolationLevel: number;
  readonly maxWaitTime: number;
  readonly minBytes: number;
  readonly maxBytes: number;
  readonly topics: readonly {
    readonly topic: string;
    readonly partitions: readonly { partition: number; fetchOffset: string; maxBytes: number }[];
  }[];
}

interface OffsetsRequest {
  readonly topic: string;
  readonly partitions: readonly { partition: number }[];
  readonly fromBeginning: boolean;
}

interface OffsetsResponse {
  readonly topic: string;
  readonly partitions: readonly { partition: number; offset: string }[];
}

/** The part of kafkajs's internal cluster in use here (src/cluster/index.js, version 2.2.4). */
export interface Cluster {
  connect(): Promise<void>;
  disconnect(): Promise<void>;
  addTargetTopic(topic: string): Promise<void>;
  refreshMetadataIfNecessary(): Promise<void>;
  findBroker(node: { nodeId: string }): Promise<{ fetch(request: FetchRequest): Promise<FetchResponse> }>;
  /** Partitions by the node id of their leader. */
  findLeaderForPartitions(topic: string, partitions: readonly number[]): Record<string, number[]>;
  fetchTopicsOffset(topics: readonly OffsetsRequest[]): Promise<OffsetsResponse[]>;
}

type CreateCluster = (options: { metadataMaxAge: number; allowAutoTopicCreation: boolean }) => Cluster;

const CREATE_CLUSTER = 'private:Kafka:createCluster';
const METADATA_MAX_AGE_MS = 60_000;
const CONNECT_WITHIN_MS = 5000;
/** Retries bridge the restart of a broker; after about `patienceMs` the caller gets the error. */
const RETRY_MAX_MS = 1_000;
const patient = (patienceMs: number): RetryOptions => ({
  initialRetryTime: 100,
  maxRetryTime: RETRY_MAX_MS,
  multiplier: 2,
  factor: 0.2,
  retries: Math.ceil(patienceMs / RETRY_MAX_MS),
});
const IMPATIENT: RetryOptions = { initialRetryTime: 50, retries: 0 };

/** `patienceMs`: how long to retry requests; 0 = never. Throws ConfigError like `kafkaSecurity`. */
export function createKafka(config: Config, logger: Logger, patienceMs: number): Kafka {
  return new Kafka({
    ...kafkaSecurity(config),
    clientId: 'slotbook',
    brokers: config.kafkaBrokers.split(',').map((broker) => broker.trim()),
    connectionTimeout: CONNECT_WITHIN_MS,
    retry: patienceMs > 0 ? patient(patienceMs) : IMPATIENT,
    logLevel: logLevel.INFO,
    logCreator: () => (entry) => report(logger, entry),
  });
}

/** A separate connection to the brokers; the caller connects and disconnects it. */
export function createCluster(kafka: Kafka): Cluster {
  const symbol = Object.getOwnPropertySymbols(kafka).find(({ description }) => description === CREATE_CLUSTER);
  const create: unknown = symbol && (kafka as unknown as Record<symbol, unknown>)[symbol];
  if (typeof create !== 'function') throw new Error('the Kafka log does not support this version of kafkajs');
  return (create as CreateCluster)({ metadataMaxAge: METADATA_MAX_AGE_MS, allowAutoTopicCreation: false });
}

const AWAY = new Set([
  'KafkaJSConnectionError',
  'KafkaJSConnectionClosedError',
  'KafkaJSRequestTimeoutError',
  'KafkaJSBrokerNotFound',
  'KafkaJSNoBrokerAvailableError',
  'KafkaJSMetadataNotLoaded',
  'KafkaJSTopicMetadataNotLoaded',
  'KafkaJSLockTimeout',
  'KafkaJSNumberOfRetriesExceeded',
]);

/** Refusals of brokers: those that can be repeated come from brokers that are busy or have no leader. */
const ANSWERS = new Set(['KafkaJSProtocolError', 'KafkaJSCreateTopicError']);

/** True when an error, or its cause, only says that brokers do not answer or have no leader at the moment. */
export function isAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const {
    name,
    cause,
    originalError,
    retriable,
    type,
    errors = [],
  } = error as Error & {
    readonly originalError?: unknown;
    readonly retriable?: boolean;
    readonly type?: string;
    /** One for each topic that was not created. */
    readonly errors?: readonly unknown[];
  };
  if (type === 'UNKNOWN_TOPIC_OR_PARTITION') return false;
  if (AWAY.has(name) || (ANSWERS.has(name) && retriable === true)) return true;
  return isAway(cause) || isAway(originalError) || (errors.length > 0 && errors.every(isAway));
}

/**
 * Answers of brokers that start, have new topics, or receive the same topic from two processes. kafkajs logs them as errors
 * and retries.
 */
const TRANSIENT =
  /leader|metadata|connect|topic creation errors|topic with this name already exists|does not host this topic|coordinator/i;

/** Callers get failures as rejected promises, so kafkajs's own lines only help to find a cause. */
function report(
  logger: Logger,
  { level, namespace, log: { message, timestamp: _, logger: __, ...rest } }: LogEntry,
): void {
  const isTransient = TRANSIENT.test(message) || TRANSIENT.test(String(rest.error));
  const at = level === logLevel.ERROR && !isTransient ? 'warn' : 'debug';
  if (logger.isLevelEnabled(at)) logger[at]({ ...rest, part: namespace }, `kafkajs: ${message}`);
}
