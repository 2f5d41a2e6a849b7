// Decodes accounts of a program by the names and layouts of its IDL.

import {
  type AccountDefinition,
  type CompiledAccount,
  type CurrentIdl,
  compileAccount,
  compileIdl,
  compileTail,
  currentIdl,
  DISCRIMINATOR_BYTES,
  discriminatorOf,
  type OldIdl,
  type Read,
} from '../../schemas/portable.ts';
import type { AccountTypes } from './account-types.ts';
import { type EventReader, eventReader } from './events.ts';
import { type FilterValue, filtersOf, type MemcmpFilter } from './filters.ts';
import { type Lazy, lazyReader } from './lazy.ts';
import { CLIENT_STYLE } from './style.ts';

/** An Anchor IDL in the current or the older format, as parsed JSON. */
export type IdlSource = object;

export type Decoded<T, N extends string> = N extends keyof T ? T[N] : Record<string, unknown>;

/** Decodes the accounts and events of one program. `T` has the types of its accounts; those of Velocity by default. */
export interface Decoder<T = AccountTypes> extends EventReader {
  /** Base58 id of the program that the IDL names. */
  readonly programId: string;
  /** PascalCase names of the accounts. */
  readonly names: readonly string[];
  /**
   * Every field of an account. 64 bits and more are bigints, keys 32 bytes, byte arrays arrays of numbers, enums their variant
   * (`unknown(7)` when the IDL does not know it). Bytes beyond the known layout are ignored, and fields that a shorter account
   * lacks are zero. Throws `Unknown account: <name>` for another name, and AccountError for another discriminator.
   */
  decode<N extends string>(name: N, data: Uint8Array): Decoded<T, N>;
  /** The same fields, read from the bytes at each access. Keeps the bytes. */
  view<N extends string>(name: N, data: Uint8Array): Lazy<Decoded<T, N>>;
  /** Name of the account kind that the data has; null when the IDL has none of that discriminator. */
  nameOf(data: Uint8Array): string | null;
  /** Filters for `getProgramAccounts`: the discriminator, and the values of fields. */
  filters(name: string, fields?: Readonly<Record<string, FilterValue>>): MemcmpFilter[];
}

interface Kind {
  readonly definition: AccountDefinition;
  /** Compiled at the first use: an IDL has many kinds, and a program uses a few. */
  compiled: { readonly account: CompiledAccount; readonly tail: (bytes: Uint8Array) => object } | null;
  lazy: Read<object> | null;
}

/** Throws an Error for an IDL that names no program or has an unknown type. */
export function createDecoder<T = AccountTypes>(idl: IdlSource): Decoder<T> {
  const program = compileIdl(currentIdl(idl as CurrentIdl | OldIdl));
  const kinds = new Map<string, Kind>();
  const names = new Map<bigint, string>();
  for (const definition of program.accounts.values()) {
    kinds.set(definition.name, { definition, compiled: null, lazy: null });
    names.set(discriminatorOf(definition.discriminator), definition.name);
  }
  const kindOf = (name: string): Kind => {
    const kind = kinds.get(name);
    if (!kind) throw new Error(`Unknown account: ${name}`);
    return kind;
  };
  return {
    programId: program.programId,
    names: [...kinds.keys()],
    decode: (name, data) => {
      const { definition, account, tail } = compiledOf(kindOf(name));
      const value = account.decode(data);
      if (definition.tail.length > 0) Object.assign(value, tail(data.subarray(account.bytes)));
      return value as never;
    },
    view: (name, data) => {
      const kind = kindOf(name);
      const { account } = compiledOf(kind);
      kind.lazy ??= lazyReader(kind.definition.layout);
      return kind.lazy(account.open(data), 0) as never;
    },
    nameOf: (data) => names.get(discriminatorOf(data)) ?? null,
    filters: (name, fields = {}) => filtersOf(kindOf(name).definition, fields),
    ...eventReader(program),
  };
}

function compiledOf(kind: Kind) {
  const { definition } = kind;
  kind.compiled ??= {
    account: compileAccount(definition, DISCRIMINATOR_BYTES, CLIENT_STYLE),
    tail: compileTail(definition.tail, CLIENT_STYLE),
  };
  return { definition, ...kind.compiled };
}
