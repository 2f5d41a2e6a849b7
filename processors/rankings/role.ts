// The rankings role: follows `positions` and writes the ranking of each market to `views.rankings`. Rankings, position in
// the log and changed positions are left behind in one commit per batch.

import { Counter, Gauge, type Registry } from 'prom-client';
import {
  type EventLog,
  type LogBatch,
  type Logger,
  type NewRecord,
  positionKey,
  type RoleContext,
  type RunningRole,
  type StateWrite,
} from '../../platform/index.ts';
import { partitionOf, TOPICS } from '../../schemas/index.ts';
import { remembered } from './market.ts';
import { PartitionRankings, type RankingOutput } from './partition.ts';

export const RANKINGS_GROUP = 'rankings';
/** State writes of one commit: about 170 bytes each, far below what a log takes at once. */
const WRITES_MAX = 10_000;

/** Starts the role. Rejects when the log cannot be read; `done` rejects when the log fails. */
export async function startRankings(context: RoleContext): Promise<RunningRole> {
  const { log } = context;
  await log.ensureTopics([TOPICS.positions, TOPICS.rankingViews, TOPICS.deadLetters]);
  const role = new RankingsRole(context);
  const from = await role.restore();
  const stopping = new AbortController();
  const done = role.run(from, stopping.signal);
  done.catch(() => {}); // whoever waits for `done` gets the failure
  return {
    name: 'rankings',
    endpoints: {},
    done,
    stop: async () => {
      stopping.abort();
      await done.catch(() => {});
    },
  };
}

class RankingsRole {
  readonly #log: EventLog;
  readonly #logger: Logger;
  readonly #metrics: ReturnType<typeof rankingMetrics>;
  readonly #partitions = Array.from(
    { length: TOPICS.positions.partitions },
    (_, partition) => new PartitionRankings(partition),
  );

  constructor({ log, logger, metrics }: RoleContext) {
    this.#log = log;
    this.#logger = logger;
    this.#metrics = rankingMetrics(metrics);
  }

  async restore(): Promise<Map<number, bigint | 'earliest'>> {
    const { positions, state } = await this.#log.load(RANKINGS_GROUP);
    for (const [key, value] of state) {
      const known = remembered(key, value);
      if (!known) continue;
      this.#partitions[partitionOf(TOPICS.positions, known.marketKey)]?.restore(key, value);
    }
    const from = new Map<number, bigint | 'earliest'>();
    for (const { partition } of this.#partitions) {
      from.set(partition, positions.get(positionKey(TOPICS.positions.name, partition)) ?? 'earliest');
    }
    return from;
  }

  async run(from: Map<number, bigint | 'earliest'>, signal: AbortSignal): Promise<void> {
    try {
      for await (const batch of this.#log.follow({ topic: TOPICS.positions, from, signal })) {
        await this.#take(batch);
        if (signal.aborted) break;
      }
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  async #take({ partition, records, end }: LogBatch): Promise<void> {
    const rankings = this.#partitions[partition];
    const last = records.at(-1);
    if (!rankings || !last) return;
    const outputs: RankingOutput[] = [];
    for (const record of records) rankings.apply(record, outputs);
    await this.#leave(rankings, outputs, last.offset + 1n);
    this.#metrics.lag.set({ partition }, Number(end - last.offset - 1n));
    for (const { key, positions } of rankings.markets.values()) {
      this.#metrics.positions.set({ market: key }, positions.size);
    }
  }

  /**
   * Outputs, position and state together. While positions are being told in full only outputs go out: a restart then
   * begins before the telling. State is absolute, so parts of it may be ahead of the position.
   */
  async #leave(rankings: PartitionRankings, outputs: readonly RankingOutput[], next: bigint): Promise<void> {
    const written = this.#outputs(rankings.partition, outputs);
    if (!rankings.isWhole) {
      if (written.length > 0) await this.#log.commit(RANKINGS_GROUP, { outputs: written });
      return;
    }
    const changes: StateWrite[] = rankings.takeChanges();
    while (changes.length > WRITES_MAX) {
      await this.#log.commit(RANKINGS_GROUP, { state: changes.splice(0, WRITES_MAX) });
    }
    const positions = [{ topic: TOPICS.positions.name, partition: rankings.partition, next }];
    await this.#log.commit(RANKINGS_GROUP, { outputs: written, positions, state: changes });
  }

  #outputs(partition: number, outputs: readonly RankingOutput[]) {
    const of = (kind: RankingOutput['kind']): NewRecord[] =>
      outputs.filter((output) => output.kind === kind).map(({ key, value }) => ({ key, value }));
    const [rankings, letters] = [of('ranking'), of('dead')];
    this.#metrics.rankings.inc(rankings.length);
    if (letters.length > 0) {
      this.#metrics.parked.inc(letters.length);
      this.#logger.warn({ records: letters.length, partition }, 'position records parked');
    }
    return [
      { topic: TOPICS.rankingViews, records: rankings },
      { topic: TOPICS.deadLetters, records: letters },
    ].filter(({ records }) => records.length > 0);
  }
}

function rankingMetrics(registry: Registry) {
  const registers = [registry];
  return {
    rankings: new Counter({ name: 'slotbook_rankings_total', help: 'P&L rankings published', registers }),
    positions: new Gauge({
      name: 'slotbook_rankings_positions',
      help: 'open positions ranked',
      labelNames: ['market'] as const,
      registers,
    }),
    lag: new Gauge({
      name: 'slotbook_rankings_lag_records',
      help: 'records of `positions` not yet applied',
      labelNames: ['partition'] as const,
      registers,
    }),
    parked: new Counter({ name: 'slotbook_rankings_parked_total', help: 'records put into dead-letters', registers }),
  };
}
