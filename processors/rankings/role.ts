// The rankings role: follows `positions` and writes the ranking of each market to `views.rankings`. One commit per batch
// stores rankings, offset and changed positions.

import { Counter, Gauge, type Registry } from 'prom-client';
import type { LogBatch, Logger, NewRecord, RoleContext, RunningRole } from '../../platform/index.ts';
import { partitionOf, TOPICS, type Topic } from '../../schemas/index.ts';
import { endOf, type ReducerRole, type Step, startReducerRole } from '../follow/reducer-role.ts';
import { savedValue } from './market.ts';
import { PartitionRankings, type RankingOutput } from './partition.ts';

export const RANKINGS_GROUP = 'rankings';

/** Starts the role. Rejects when the log cannot be read; `done` rejects when the log fails. */
export function startRankings(context: RoleContext): Promise<RunningRole> {
  return startReducerRole(context, new Rankings(context));
}

class Rankings implements ReducerRole {
  readonly name = 'rankings';
  readonly group = RANKINGS_GROUP;
  readonly reads = [TOPICS.positions];
  readonly writes = [TOPICS.rankingViews, TOPICS.deadLetters];
  readonly #logger: Logger;
  readonly #metrics: ReturnType<typeof rankingMetrics>;
  readonly #partitions = Array.from(
    { length: TOPICS.positions.partitions },
    (_, partition) => new PartitionRankings(partition),
  );

  constructor({ logger, metrics }: Pick<RoleContext, 'logger' | 'metrics'>) {
    this.#logger = logger;
    this.#metrics = rankingMetrics(metrics);
  }

  restore(state: ReadonlyMap<string, Uint8Array>): void {
    for (const [key, value] of state) {
      const known = savedValue(key, value);
      if (!known) continue;
      this.#partitions[partitionOf(TOPICS.positions, known.marketKey)]?.restore(key, value);
    }
  }

  take(_: Topic, batch: LogBatch): Step[] {
    const rankings = this.#partitions[batch.partition];
    if (!rankings) return [];
    const outputs: RankingOutput[] = [];
    for (const record of batch.records) rankings.apply(record, outputs);
    this.#metrics.lag.set({ partition: batch.partition }, Number(batch.end - endOf(batch)));
    for (const { key, positions } of rankings.markets.values()) {
      this.#metrics.positions.set({ market: key }, positions.size);
    }
    const written = this.#outputs(batch.partition, outputs);
    // During a whole read only outputs are written, so that a restart begins before it.
    if (!rankings.isWhole) return [{ outputs: written, state: [], next: null }];
    return [{ outputs: written, state: rankings.takeChanges(), next: endOf(batch) }];
  }

  #outputs(partition: number, outputs: readonly RankingOutput[]): Step['outputs'] {
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
    ];
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
