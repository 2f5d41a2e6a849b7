// Account decoders compiled from a definition: a full decode of every field, and the guarded view that fast readers use.

import type { AccountDefinition, ChainDefinition } from '../../schemas/index.ts';
import { DISCRIMINATOR_BYTES } from '../../schemas/index.ts';
import { bytesMin } from './layout.ts';
import { structReader } from './values.ts';

/** Why bytes cannot be read as an account. `reason` is what the parked-bytes counter is labelled with. */
export class AccountError extends Error {
  override readonly name = 'AccountError';
  readonly reason: 'unknown_discriminator' | 'wrong_length' | 'bad_value';
  constructor(reason: AccountError['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

/** First eight bytes as one number, for cheap comparison. */
export function discriminatorOf(data: Uint8Array): bigint {
  if (data.byteLength < DISCRIMINATOR_BYTES) return -1n;
  return new DataView(data.buffer, data.byteOffset, DISCRIMINATOR_BYTES).getBigUint64(0, true);
}

export interface CompiledAccount {
  readonly name: string;
  /** Bytes the layout names, discriminator included. */
  readonly bytes: number;
  readonly bytesMin: number;
  readonly discriminator: bigint;
  /**
   * View of the known prefix, at least `bytes` long: what an account not yet grown lacks reads as zero, what a grown
   * one has more is ignored. Throws AccountError on another discriminator or on data shorter than `bytesMin`.
   */
  open(data: Uint8Array): DataView;
  /** Every field by its snake case name. Throws AccountError like `open`. */
  decode(data: Uint8Array): Record<string, unknown>;
}

export function compileAccount(definition: AccountDefinition): CompiledAccount {
  const { name, layout } = definition;
  const discriminator = discriminatorOf(definition.discriminator);
  const least = bytesMin(layout);
  const read = structReader(layout);
  const open = (data: Uint8Array): DataView => {
    if (discriminatorOf(data) !== discriminator) {
      throw new AccountError('unknown_discriminator', `not a ${name} account`);
    }
    if (data.byteLength < least) {
      throw new AccountError('wrong_length', `${name} has ${data.byteLength} bytes, needs ${least}`);
    }
    return viewOf(data, layout.size);
  };
  return {
    name,
    bytes: layout.size,
    bytesMin: least,
    discriminator,
    open,
    decode: (data) => read(open(data), 0),
  };
}

/** View of at least `bytes` bytes; shorter data is copied and filled up with zeros. */
export function viewOf(data: Uint8Array, bytes: number): DataView {
  if (data.byteLength >= bytes) return new DataView(data.buffer, data.byteOffset, data.byteLength);
  const grown = new Uint8Array(bytes);
  grown.set(data);
  return new DataView(grown.buffer);
}

/** All accounts of a definition, by name and by discriminator. */
export interface AccountDecoder {
  /** The account whose discriminator the data begins with, or null. */
  find(data: Uint8Array): CompiledAccount | null;
  /** Decodes as the named account. Throws `Unknown account: <name>` unless it is a PascalCase name of the definition. */
  decode(name: string, data: Uint8Array): Record<string, unknown>;
}

export function compileAccounts(definition: ChainDefinition): AccountDecoder {
  const byName = new Map<string, CompiledAccount>();
  const byDiscriminator = new Map<bigint, CompiledAccount>();
  for (const program of definition.programs) {
    for (const account of program.accounts.values()) {
      const compiled = compileAccount(account);
      byName.set(account.name, compiled);
      byDiscriminator.set(compiled.discriminator, compiled);
    }
  }
  return {
    find: (data) => byDiscriminator.get(discriminatorOf(data)) ?? null,
    decode: (name, data) => {
      const account = byName.get(name);
      if (!account) throw new Error(`Unknown account: ${name}`);
      return account.decode(data);
    },
  };
}
