// Reads fields of decoded records with their types.

import type { ChainEvent, Direction, MarketType } from '../schemas/index.ts';

type Data = ChainEvent['data'];
type Guard<T> = (value: unknown) => value is T;

export const isBigint: Guard<bigint> = (value) => typeof value === 'bigint';
export const isNumber: Guard<number> = (value) => typeof value === 'number';
export const isString: Guard<string> = (value) => typeof value === 'string';
export const isBoolean: Guard<boolean> = (value) => typeof value === 'boolean';
export const isKey: Guard<Uint8Array> = (value) => value instanceof Uint8Array;
export const isMarketType: Guard<MarketType> = (value) => value === 'perp' || value === 'spot';
export const isDirection: Guard<Direction> = (value) => value === 'long' || value === 'short';

export class FieldReader {
  readonly #Failure: new (
    text: string,
  ) => Error;
  readonly #record: string;

  /** `Failure` is thrown for a field of another type; `record` names the record in its text. */
  constructor(Failure: new (text: string) => Error, record: string) {
    this.#Failure = Failure;
    this.#record = record;
  }

  required<T>(data: Data, field: string, holds: Guard<T>): T {
    const value = data[field];
    if (!holds(value)) throw new this.#Failure(`${field} of ${this.#record} is ${String(value)}`);
    return value;
  }

  /** Null for an absent field. */
  optional<T>(data: Data, field: string, holds: Guard<T>): T | null {
    return data[field] === null || data[field] === undefined ? null : this.required(data, field, holds);
  }
}
