// State of a reducer as its group in the log keeps it. `piecesOf` of `processors/follow/pieces.ts` reads it.

import type { StatePiece } from '../../../processors/follow/pieces.ts';

export function keepPieces(saved: Map<string, Uint8Array>, pieces: Iterable<StatePiece>): void {
  for (const { name, bytes } of pieces) {
    if (bytes) saved.set(name, bytes);
    else saved.delete(name);
  }
}
