import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Packed, PackRoom } from './packed.ts';

/** Data of any length, mostly zeros. */
const sparse = fc
  .array(fc.tuple(fc.nat(3), fc.uint8Array({ maxLength: 40 })), { maxLength: 30 })
  .map((parts) => Buffer.concat(parts.flatMap(([zeros, bytes]) => [Buffer.alloc(zeros * 37), bytes])));

/** The packed form of data among other bytes. */
function within(data: Uint8Array): Packed {
  const words = new PackRoom().pack(data);
  const pack = Buffer.concat([
    Buffer.alloc(8, 9),
    Buffer.from(words.buffer, words.byteOffset, words.byteLength),
    Buffer.alloc(12, 9),
  ]);
  return Packed.within(pack, 8, 8 + words.byteLength);
}

describe('packed account data', () => {
  it('may be empty, the first ones too', () => {
    const [empty, full] = [Packed.of(Buffer.alloc(0)), Packed.of(Buffer.alloc(500, 1))];
    expect(full.unpack()).toHaveLength(500);
    expect(empty.unpack()).toHaveLength(0);
    expect(empty.holds(Buffer.alloc(0))).toBe(true);
  });

  it('may be few bytes in a room that is new', () => {
    for (let length = 0; length <= 9; length++) {
      const data = Buffer.alloc(length, 1);
      expect(within(data).equals(Packed.of(data))).toBe(true);
    }
  });

  it('come back as they were, from a pack and as text', () => {
    fc.assert(
      fc.property(sparse, (data) => {
        const forms = [Packed.of(data), within(data), within(data).apart()];
        const other = Packed.of(Buffer.alloc(9_000, 7));
        for (const packed of forms) {
          const room = new PackRoom();
          const peeked = packed.peek(room);
          // Other data in between leave no trace: not outside of the room, and not in it.
          other.unpack();
          expect(packed.holds(data)).toBe(true);
          expect(packed.unpack()).toEqual(data);
          expect(Buffer.from(peeked)).toEqual(data);
          other.peek(room);
          expect(Buffer.from(packed.peek(room))).toEqual(data);
        }
      }),
    );
  });

  it('equal only the same data', () => {
    fc.assert(
      fc.property(sparse, fc.nat(), (data, at) => {
        const forms = [Packed.of(data), within(data)];
        const longer = Buffer.concat([data, Buffer.alloc(1)]);
        const other = Buffer.from(data);
        if (data.length > 0) other[at % data.length] = (other[at % data.length] ?? 0) ^ 0x40;
        const unlike = data.length > 0 ? [longer, other] : [longer];
        for (const one of forms) {
          expect(one.holds(data)).toBe(true);
          for (const same of forms) expect(one.equals(same)).toBe(true);
          for (const bytes of unlike) {
            expect(one.holds(bytes)).toBe(false);
            for (const different of [Packed.of(bytes), within(bytes)]) expect(one.equals(different)).toBe(false);
          }
        }
      }),
    );
  });

  it('take a fraction of the bytes of an account with empty entries', () => {
    const data = Buffer.alloc(4_600);
    for (let at = 0; at < 300; at++) data[at] = at;
    expect(new PackRoom().pack(data).byteLength).toBeLessThan(500);
  });
});
