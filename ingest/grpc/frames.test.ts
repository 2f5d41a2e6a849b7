import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Frames, frameOf, MessageError } from './frames.ts';

const BYTES_MAX = 1_000;

describe('frames of a gRPC call', () => {
  it('are the same messages however the bytes are cut', () => {
    const messages = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 8 });
    const cuts = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(messages, cuts, (sent, sizes) => {
        const got: Buffer[] = [];
        const frames = new Frames(BYTES_MAX, (message, isCompressed) => {
          expect(isCompressed).toBe(false);
          got.push(message);
        });
        const bytes = Buffer.concat(sent.map(frameOf));
        for (let at = 0, part = 0; at < bytes.length; part++) {
          const size = sizes[part % sizes.length] ?? 1;
          const piece = Buffer.from(bytes.subarray(at, at + size));
          frames.take(piece);
          // The memory of a part belongs to the socket.
          piece.fill(0xee);
          at += size;
        }
        expect(got.map((message) => [...message])).toEqual(sent.map((message) => [...message]));
      }),
    );
  });

  it('say whether a message is compressed', () => {
    const flags: boolean[] = [];
    const frames = new Frames(BYTES_MAX, (_, isCompressed) => flags.push(isCompressed));
    const compressed = frameOf(Buffer.of(1, 2));
    compressed[0] = 1;
    frames.take(Buffer.concat([compressed, frameOf(Buffer.of(3))]));
    expect(flags).toEqual([true, false]);
  });

  it('refuse a message above the limit', () => {
    const frames = new Frames(BYTES_MAX, () => {});
    expect(() => frames.take(frameOf(new Uint8Array(BYTES_MAX + 1)))).toThrow(MessageError);
  });
});
