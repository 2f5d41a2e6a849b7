// Log lines of records for tests.

import { type ChainDefinition, fixedType, type NamedType, sizeOf } from '../../../schemas/index.ts';

/** Payload of a record with fixed fields: zeros after the given first bytes of the body. */
export function recordLine(definition: ChainDefinition, name: string, head: Uint8Array = new Uint8Array(0)): string {
  for (const program of definition.programs) {
    for (const event of program.events.values()) {
      if (event.name !== name) continue;
      const body = Buffer.alloc(event.fields.reduce((sum, field) => sum + bytesOf(field), 0));
      body.set(head.subarray(0, body.length));
      return `Program data: ${Buffer.concat([event.discriminator, body]).toString('base64')}`;
    }
  }
  throw new Error(`no ${name}`);
}

/** An absent option is one byte; an empty list four. */
function bytesOf({ type }: NamedType): number {
  if (type.kind === 'option') return 1;
  if (type.kind === 'vec' || type.kind === 'string') return 4;
  const fixed = fixedType(type);
  if (!fixed) throw new Error(`no size for ${type.kind}`);
  return sizeOf(fixed);
}

/** Lines of a transaction in which the program prints the given lines. */
export function logsOf(programId: string, lines: readonly string[]): string[] {
  return [`Program ${programId} invoke [1]`, ...lines, `Program ${programId} success`];
}
