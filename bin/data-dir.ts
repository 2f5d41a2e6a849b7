// A data directory belongs to one chain or capture and to one definition: another one would mix two histories in one log.

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ConfigError } from '../platform/index.ts';

/** The chain by its genesis hash, or the capture by its absolute path. */
export type DataOwner = ({ readonly genesisHash: string } | { readonly capture: string }) & {
  readonly definition: string;
};

/** Claims the directory, or confirms the claim. Throws ConfigError when it has another owner. */
export function claimDataDir(dataDir: string, claim: DataOwner): void {
  const file = path.join(dataDir, 'chain.json');
  const owner = ownerIn(file);
  if (!owner) writeFileSync(file, `${JSON.stringify(claim)}\n`);
  if (!owner || nameOf(owner) === nameOf(claim)) return;
  throw new ConfigError(`${dataDir} holds ${nameOf(owner)}; name another directory with --data-dir`);
}

/** Null: no file, or one that an interrupted write left. */
function ownerIn(file: string): DataOwner | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as DataOwner | null;
  } catch {
    return null;
  }
}

function nameOf(owner: DataOwner): string {
  const source = 'capture' in owner ? `the capture ${owner.capture}` : `the chain with genesis ${owner.genesisHash}`;
  return `${source}, definition ${owner.definition}`;
}
