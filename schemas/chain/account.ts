// Account decoders compiled from a definition: a full decode of every field, and a checked view for field readers. Ingest and
// the client share them.

import type { AccountDefinition } from './compile.ts';
import { DISCRIMINATOR_BYTES } from './layout.ts';
import { DEFINITION_STYLE, structReader } from './readers.ts';

/** The bytes are not a readable account. `reason` labels the parked-bytes counter. */
export class AccountError extends Error {
  override readonly name = 'AccountError';
  readonly reason: 'unknown_discriminator' | 'wrong_length' | 'bad_value';
  constructor(reason: AccountError['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

/** The first eight bytes as one number, cheap to compare. */
export function discriminatorOf(data: Uint8Array): bigint {
  if (data.byteLength < DISCRIMINATOR_BYTES) return -1n;
  return new DataView(data.buffer, data.byteOffset, DISCRIMINATOR_BYTES).getBigUint64(0, true);
}

export interface CompiledAccount {
  readonly name: string;
  /** Size of the layout in bytes, discriminator included. */
  readonly bytes: number;
  readonly bytesMin: number;
  readonly discriminator: bigint;
  /**
   * View of at least `bytes` bytes. Fields that a shorter account lacks read as zero; extra bytes are ignored.
   * Throws AccountError on another discriminator or on data shorter than `bytesMin`.
   */
  open(data: Uint8Array): DataView;
  /** Every field of the fixed part by its name in the style. Throws AccountError like `open`. */
  decode(data: Uint8Array): Record<string, unknown>;
}

/** `least` is the size below which data has another layout; the discriminator alone when absent. */
export function compileAccount(
  definition: AccountDefinition,
  least = DISCRIMINATOR_BYTES,
  style = DEFINITION_STYLE,
): CompiledAccount {
  const { name, layout } = definition;
  const discriminator = discriminatorOf(definition.discriminator);
  const read = structReader(layout, style);
  const open = (data: Uint8Array): DataView => {
    if (!beginsWith(data, definition.discriminator)) {
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

function beginsWith(data: Uint8Array, head: Uint8Array): boolean {
  for (let index = 0; index < head.length; index++) if (data[index] !== head[index]) return false;
  return true;
}

/** View of at least `bytes` bytes. Shorter data is copied and padded with zeros. */
export function viewOf(data: Uint8Array, bytes: number): DataView {
  if (data.byteLength >= bytes) return new DataView(data.buffer, data.byteOffset, data.byteLength);
  const grown = new Uint8Array(bytes);
  grown.set(data);
  return new DataView(grown.buffer);
}
