// The forms in which the sink sends rows to ClickHouse: column by column, or as an Avro container.

export interface RowFormat {
  /** Text after the table's name in the INSERT statement. */
  readonly into: string;
  /** An empty body with room for `rowsMax` rows. */
  open(rowsMax: number): Body;
}

/** Collects rows for one statement. */
export interface Body {
  /** Adds a row. False, with nothing added, when `bytes` from `start` to `end` are not exactly one valid datum. */
  add(bytes: Uint8Array, start: number, end: number): boolean;
  /** The body to send, in parts. */
  parts(): readonly Uint8Array[];
}
