// Parts that all runs of a thread share: compiled readers, derived addresses and tapes.

import { compileReaders, type IngestParts, userAddress } from '../../ingest/index.ts';
import { VAULT_PROGRAM } from '../../localnet/exchange/keys.ts';
import { type ChainDefinition, loadDefinition, withVaultProgram } from '../../schemas/index.ts';
import { recordTape, type Tape } from './tape.ts';

const TAPES = 1;
const TAPE_BLOCKS = 260;
const TAPE_SEED = 71;

export interface Stage {
  readonly definition: ChainDefinition;
  readonly readers: NonNullable<IngestParts['readers']>;
  readonly deriveUser: NonNullable<IngestParts['deriveUser']>;
  readonly tapes: readonly Tape[];
  readonly blocks: number;
}

export function openStage(): Stage {
  const definition = withVaultProgram(loadDefinition('velocity'), VAULT_PROGRAM);
  const derive = userAddress(definition);
  const known = new Map<string, Uint8Array>();
  return {
    definition,
    readers: compileReaders(definition),
    deriveUser: (authority, subAccountId) => {
      const key = `${Buffer.from(authority).toString('latin1')}${subAccountId}`;
      const address = known.get(key) ?? derive(authority, subAccountId);
      known.set(key, address);
      return address;
    },
    tapes: Array.from({ length: TAPES }, (_, number) => recordTape(TAPE_SEED + number, TAPE_BLOCKS)),
    blocks: TAPE_BLOCKS,
  };
}
