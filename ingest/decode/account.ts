// Account decoders for ingest: those of the definition, with the smallest size that each account can have.

import { type AccountDefinition, type CompiledAccount, compileAccount as compile } from '../../schemas/index.ts';
import { bytesMin } from './layout.ts';

export { AccountError, type CompiledAccount, discriminatorOf, viewOf } from '../../schemas/index.ts';

export function compileAccount(definition: AccountDefinition): CompiledAccount {
  return compile(definition, bytesMin(definition.layout));
}
