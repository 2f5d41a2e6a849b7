// kafkajs, set up our way: where its messages go, how long it tries, and the part of it below consumer groups.
//
// Consumer groups are no use to this log: every reader wants every record of the partitions it names, from an offset it
// keeps itself, at once. kafkajs offers no manual assignment, but its consumers stand on a cluster object that fetches
// from a partition leader directly. That object is reached through a private symbol, which is why the version is pinned.

import { Kafka, type LogEntry, logLevel, type RetryOptions } from 'kafkajs';
import type { Logger } from 'pino';

export interface FetchedMessage {
  readonly offset: string;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
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

/** What is used of kafkajs's internal cluster (src/cluster/index.js, version 2.2.4). */
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
/** About a minute in all: a broker that restarts is waited for, one that stays away is reported. */
const PATIENT: RetryOptions = { initialRetryTime: 100, maxRetryTime: 1000, multiplier: 2, factor: 0.2, retries: 60 };
const IMPATIENT: RetryOptions = { initialRetryTime: 50, retries: 0 };

export type Patience = 'patient' | 'impatient';

export function createKafka(brokers: string, logger: Logger, patience: Patience): Kafka {
  return new Kafka({
    clientId: 'slotbook',
    brokers: brokers.split(',').map((broker) => broker.trim()),
    connectionTimeout: CONNECT_WITHIN_MS,
    retry: patience === 'patient' ? PATIENT : IMPATIENT,
    logLevel: logLevel.INFO,
    logCreator: () => (entry) => report(logger, entry),
  });
}

/** A connection of its own to the brokers; connect it before use and disconnect it after. */
export function createCluster(kafka: Kafka): Cluster {
  const symbol = Object.getOwnPropertySymbols(kafka).find(({ description }) => description === CREATE_CLUSTER);
  const create: unknown = symbol && (kafka as unknown as Record<symbol, unknown>)[symbol];
  if (typeof create !== 'function')
    throw new Error('this version of kafkajs is not the one the Kafka log was made for');
  return (create as CreateCluster)({ metadataMaxAge: METADATA_MAX_AGE_MS, allowAutoTopicCreation: false });
}

/**
 * kafkajs calls every retry an error, above all a partition that has no leader yet. What matters reaches the caller as
 * a rejected promise, so its own lines are for someone who looks for a cause.
 */
function report(
  logger: Logger,
  { level, namespace, log: { message, timestamp: _, logger: __, ...rest } }: LogEntry,
): void {
  const at = level === logLevel.ERROR && !/leader|metadata|connect/i.test(message) ? 'warn' : 'debug';
  if (logger.isLevelEnabled(at)) logger[at]({ ...rest, part: namespace }, `kafkajs: ${message}`);
}
