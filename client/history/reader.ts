// Reads of the history REST alone: without writes, signatures and CSV, which a page does not need.

import {
  type PagedPathOf,
  type ReadAnswer,
  type ReadParams,
  type ReadPath,
  type RecordOf,
  RestReader,
} from '../rest/reader.ts';
import type { HistoryOperations as Operations } from './contract.ts';

/** Paths that can be read. */
export type HistoryPath = ReadPath<Operations>;
export type HistoryParams<P extends HistoryPath> = ReadParams<Operations, P>;
export type HistoryAnswer<P extends HistoryPath> = ReadAnswer<Operations, P>;
/** Paths whose answers have pages. */
export type PagedPath = PagedPathOf<Operations>;
export type HistoryRecord<P extends PagedPath> = RecordOf<Operations, P>;
/** Paths that answer as CSV too. */
export type CsvPath = {
  [P in HistoryPath]: 'csv' extends NonNullable<HistoryParams<P> extends { readonly format?: infer F } ? F : never>
    ? P
    : never;
}[HistoryPath];

/** Reads the history REST. `HistoryClient` writes and signs as well. */
export class HistoryReader extends RestReader<Operations> {}
