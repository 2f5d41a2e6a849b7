// Reads of the order-book REST, typed by its contract.

import { type ReadAnswer, type ReadParams, type ReadPath, RestReader } from '../rest/reader.ts';
import type { OrderbookOperations as Operations } from './contract.ts';

/** Paths that can be read. */
export type OrderbookPath = ReadPath<Operations>;
export type OrderbookParams<P extends OrderbookPath> = ReadParams<Operations, P>;
export type OrderbookAnswer<P extends OrderbookPath> = ReadAnswer<Operations, P>;

/** Reads the order-book REST. */
export class OrderbookReader extends RestReader<Operations> {}
