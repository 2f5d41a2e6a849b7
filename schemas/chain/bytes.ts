// Reads integers from the byte arrays of the wire and the stores.

/** The same memory as a Buffer. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** Map key of an address: raw bytes as one-byte characters, as unique as base58 and cheaper. */
export function keyText(bytes: Uint8Array): string {
  return asBuffer(bytes).toString('latin1');
}

/** The address of a map key. */
export function keyBytes(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = text.charCodeAt(at);
  return bytes;
}

/** Bytes beyond the end count as 0. */
export function uint32BigEndian(bytes: Uint8Array, at: number): number {
  const [a = 0, b = 0, c = 0, d = 0] = [bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]];
  return ((a << 24) | (b << 16) | (c << 8) | d) >>> 0;
}
