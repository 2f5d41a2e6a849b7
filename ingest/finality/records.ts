// Records of dropped transactions in the log: the retractions of earlier processes, and events of one that landed again.

import bs58 from 'bs58';
import { type EventLog, readPages } from '../../platform/index.ts';
import { decodeMessage, type SlotRetraction, TOPICS } from '../../schemas/index.ts';
import { knownEvents } from '../backfill/known-events.ts';
import type { Pipeline } from '../pipeline.ts';
import type { Source, TransactionLogs, TransactionPlace } from '../source.ts';

/** All retractions, oldest first. They are rare: reading them takes one call in practice. */
export async function* recordedRetractions(log: EventLog): AsyncGenerator<SlotRetraction> {
  const { earliest } = await log.bounds(TOPICS.retractions, 0);
  for await (const records of readPages({ log, topic: TOPICS.retractions, partition: 0 }, earliest)) {
    for (const { value } of records) {
      const message = decodeMessage(value);
      if (message.name === 'SlotRetraction') yield message.value;
    }
  }
}

export interface LandedParts {
  readonly log: EventLog;
  readonly source: Pick<Source, 'transaction'>;
  readonly pipeline: () => Pick<Pipeline, 'landed'>;
  readonly signal: AbortSignal;
}

/** Writes the events of transactions with the slots they landed in. Returns those that no node returned there. */
export function writeLanded({ log, source, pipeline, signal }: LandedParts) {
  return async (places: readonly TransactionPlace[]): Promise<readonly TransactionPlace[]> => {
    const found: TransactionLogs[] = [];
    const lost: TransactionPlace[] = [];
    for (const place of places) {
      const transaction = await source.transaction(place.signature);
      if (transaction?.slot === place.slot) found.push(transaction);
      else lost.push(place);
    }
    const slots = found.map(({ slot }) => slot);
    if (found.length === 0) return lost;
    const known = await knownEvents(log, Math.min(...slots), Math.max(...slots), signal);
    await pipeline().landed(found, known);
    return lost;
  };
}

export const signaturesOf = ({ signatures }: SlotRetraction): readonly string[] =>
  signatures.map((one) => bs58.encode(one));
