// An event of a program, with its place on the chain. ../log/event-codec.ts has its wire form.

export interface ChainEvent {
  /** Record name, or `UnknownRecord`. */
  name: string;
  /** Signature of the transaction, 64 bytes. */
  signature: Uint8Array;
  /** Index among all records of the transaction, from 0. */
  eventIndex: number;
  slot: number;
  /** Index of the transaction in its block; null when unknown. */
  txIndex: number | null;
  /**
   * Flat, with the program's snake_case names (see flattenRecord). Small integers are numbers, 64 and 128 bits bigints, keys
   * and byte arrays Uint8Arrays, enums their camelCase variant, absent options null, lists arrays.
   */
  data: Record<string, unknown>;
}
