// State of a reducer in named pieces. A reducer keeps the pieces of its parts under prefixes.

export interface StatePiece {
  readonly name: string;
  /** null deletes the piece. */
  readonly bytes: Uint8Array | null;
}

export interface SavedPiece {
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** The pieces with `prefix` before their names. */
export function prefixed(prefix: string, pieces: readonly StatePiece[]): StatePiece[] {
  return pieces.map(({ name, bytes }) => ({ name: prefix + name, bytes }));
}

/** Inverse of `prefixed`, of pieces that are not deleted. */
export function piecesUnder(prefix: string, pieces: Iterable<SavedPiece>): SavedPiece[] {
  const found: SavedPiece[] = [];
  for (const { name, bytes } of pieces)
    if (name.startsWith(prefix)) found.push({ name: name.slice(prefix.length), bytes });
  return found;
}

/** The pieces of a state whose keys begin with `prefix`, under the rest of their keys. */
export function piecesOf(state: ReadonlyMap<string, Uint8Array>, prefix: string): SavedPiece[] {
  return piecesUnder(
    prefix,
    Array.from(state, ([name, bytes]) => ({ name, bytes })),
  );
}
