// Scalars of ClickHouse's Native format.

/** 64-bit integers, little-endian. */
export function nativeLongs(...values: readonly bigint[]): Buffer {
  const bytes = Buffer.alloc(values.length * 8);
  values.forEach((value, index) => {
    bytes.writeBigUInt64LE(value, index * 8);
  });
  return bytes;
}

/** A text after its length. */
export function nativeText(value: string | Uint8Array): Buffer {
  const bytes = typeof value === 'string' ? Buffer.from(value, 'utf8') : value;
  return Buffer.concat([nativeVarint(bytes.length), bytes]);
}

/** ClickHouse's unsigned varint: seven bits a byte, the lowest first. */
export function nativeVarint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  bytes.push(rest);
  return Uint8Array.from(bytes);
}
