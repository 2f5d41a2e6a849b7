// Small pieces of state as JSON; 64-bit integers are texts that end in n. No other text may occur.

export function encodeJson(value: object): Uint8Array {
  return Buffer.from(JSON.stringify(value, (_, member) => (typeof member === 'bigint' ? `${member}n` : member)));
}

export function decodeJson<T>(bytes: Uint8Array): T {
  return JSON.parse(Buffer.from(bytes).toString('utf8'), (_, member) =>
    typeof member === 'string' ? BigInt(member.slice(0, -1)) : member,
  ) as T;
}
