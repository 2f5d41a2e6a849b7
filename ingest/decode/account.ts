// Account decoders for ingest: those of the definition, with the smallest size that each account can have.

import type { AccountDefinition, ChainDefinition, CompiledAccount } from '../../schemas/index.ts';
import { compileAccount as compile, discriminatorOf } from '../../schemas/index.ts';
import { bytesMin } from './layout.ts';

export { AccountError, type CompiledAccount, discriminatorOf, viewOf } from '../../schemas/index.ts';

export function compileAccount(definition: AccountDefinition): CompiledAccount {
  return compile(definition, bytesMin(definition.layout));
}

/** All accounts of a definition, by name and by discriminator. */
export interface AccountDecoder {
  /** The account kind with the discriminator of the data, or null. */
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
