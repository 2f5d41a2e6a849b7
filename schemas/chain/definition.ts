// The chain definition, compiled from IDL files: programs to read, their account layouts and event shapes.

import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Idl } from '@coral-xyz/anchor';
import { type CompiledProgram, compileIdl, currentIdl } from './compile.ts';
import type { OldIdl } from './old-idl.ts';

export type { AccountDefinition, EventDefinition } from './compile.ts';

export interface ProgramDefinition extends CompiledProgram {
  readonly idl: Idl;
}

export interface ChainDefinition {
  readonly name: string;
  readonly programs: ProgramDefinition[];
}

const BUILT_IN: Readonly<Record<string, readonly string[]>> = {
  velocity: ['velocity.json', 'clob.json', 'vaults.json'].map((file) =>
    fileURLToPath(new URL(`./idl/${file}`, import.meta.url)),
  ),
};

/**
 * Reads a chain definition: `velocity` (built in), or the paths of Anchor IDL files separated by commas. The files may have
 * the current or the older format. Throws an Error that names a file it cannot read or compile.
 */
export function loadDefinition(spec: string): ChainDefinition {
  const builtIn = BUILT_IN[spec];
  const paths = builtIn ?? spec.split(',').map((path) => path.trim());
  const name = builtIn ? spec : paths.map((path) => basename(path, '.json')).join('+');
  return { name, programs: paths.map(loadProgram) };
}

/** Only the vault program has this account. */
const VAULT_ACCOUNT = 'Vault';

/**
 * The definition with the vault program under `programId` (base58); without the vault program when it is empty. The IDL
 * carries the id of the first deployment, whose vaults trade on another exchange.
 */
export function withVaultProgram(definition: ChainDefinition, programId: string): ChainDefinition {
  const programs = definition.programs.flatMap((program) => {
    if (!program.accounts.has(VAULT_ACCOUNT)) return [program];
    return programId === '' ? [] : [{ ...program, programId, idl: { ...program.idl, address: programId } }];
  });
  return { ...definition, programs };
}

function loadProgram(path: string): ProgramDefinition {
  try {
    return compileProgram(JSON.parse(readFileSync(path, 'utf8')) as Idl | OldIdl);
  } catch (cause) {
    const text = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`chain definition ${path}: ${text}`, { cause });
  }
}

/** Compiles one IDL of either format. Throws an Error for an unknown type. */
function compileProgram(source: Idl | OldIdl): ProgramDefinition {
  const idl = currentIdl(source as OldIdl);
  return { ...compileIdl(idl), idl: idl as Idl };
}
