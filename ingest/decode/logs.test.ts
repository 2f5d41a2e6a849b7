import { describe, expect, it } from 'vitest';
import { isTruncated, parseLogs } from './logs.ts';

const EXCHANGE = 'vELoC1audYbSYVRXn1vPaV8Axoa9oU6BYmNGZZBDZ1P';
const BOOK = 'BPX47ur8TbgZQgtJcGJvdcQMMFbmBP7ZrhpiUmLuHKqU';
const OTHER = 'J1TnP8zvVxbtF5KFp5xRmWuvG9McnhzmBd9XGfCyuxFP';
const KNOWN = 'e0344347c2ed6d01';
const programs = new Map([
  [EXCHANGE, new Set([KNOWN])],
  [BOOK, new Set<string>()],
]);
const record = (fill: number, discriminator = KNOWN) =>
  Buffer.concat([Buffer.from(discriminator, 'hex'), Buffer.alloc(10, fill)]).toString('base64');
const found = (lines: string[]) =>
  parseLogs(lines, programs).payloads.map(
    ({ program, bytes }) => `${program === BOOK ? 'book' : 'exchange'} ${bytes[8]}`,
  );

describe('log parser', () => {
  it('reads both prefixes at any call depth and attributes each record to the program on top of the stack', () => {
    const lines = [
      `Program ${OTHER} invoke [1]`,
      `Program ${EXCHANGE} invoke [2]`,
      'Program log: Instruction: PlacePerpOrder',
      `Program log: ${record(1)}`,
      `Program ${BOOK} invoke [3]`,
      `Program data: ${record(2, '94831003103bc2e8')}`,
      `Program ${BOOK} consumed 5 of 10 compute units`,
      `Program ${BOOK} success`,
      `Program data: ${record(3)}`,
      `Program ${EXCHANGE} success`,
      `Program data: ${record(4)}`,
      `Program ${OTHER} success`,
    ];
    expect(found(lines)).toEqual(['exchange 1', 'book 2', 'exchange 3']);
    expect(parseLogs(lines, programs).incomplete).toBe(false);
  });

  it('corrects its stack by the printed depth when lines are missing', () => {
    expect(
      found([
        `Program ${EXCHANGE} invoke [1]`,
        `Program ${BOOK} invoke [2]`,
        `Program ${EXCHANGE} invoke [1]`,
        `Program data: ${record(1)}`,
        `Program ${BOOK} invoke [4]`,
        `Program ${BOOK} success`,
        `Program ${EXCHANGE} success`,
        `Program data: ${record(2)}`,
      ]),
    ).toEqual(['exchange 1']);
  });

  it('removes failed calls from the stack', () => {
    expect(
      found([
        `Program ${EXCHANGE} invoke [1]`,
        `Program ${OTHER} invoke [2]`,
        `Program data: ${record(1)}`,
        `Program ${OTHER} failed: custom program error: 0x1`,
        `Program data: ${record(2)}`,
      ]),
    ).toEqual(['exchange 2']);
  });

  it('believes no line about calls whose text a program chose', () => {
    const call = [`Program ${EXCHANGE} invoke [1]`, `Program ${OTHER} invoke [2]`];
    const end = [`Program ${OTHER} success`, `Program data: ${record(1)}`, `Program ${EXCHANGE} success`];
    const forged = ['Program log: invoke [2]', 'Program log: success', `Program log: ${record(9)}`];
    expect(found([...call, ...forged, ...end])).toEqual(['exchange 1']);
    const hiding = ['Program log: invoke [1]', 'Program data: invoke [1]', `Program log: ${EXCHANGE} success`];
    expect(found([...call, ...hiding, ...end])).toEqual(['exchange 1']);
    const others = [
      'Program return: invoke [1]',
      'Program failed to complete: success',
      `Program ${EXCHANGE} successor`,
    ];
    expect(found([...call, ...others, ...end])).toEqual(['exchange 1']);
  });

  it('treats base64 without a known discriminator as plain text on log lines only', () => {
    const text = record(1, '0011223344556677');
    const lines = [`Program ${EXCHANGE} invoke [1]`, `Program log: ${text}`, 'Program log: SettlePnlCompletedNow'];
    expect(found(lines)).toEqual([]);
    expect(found([...lines, `Program data: ${text}`])).toEqual(['exchange 1']);
  });

  it('stops at the truncation line and reports that records may be missing', () => {
    const lines = [`Program ${EXCHANGE} invoke [1]`, `Program data: ${record(1)}`, 'Log truncated'];
    expect(parseLogs(lines, programs)).toMatchObject({ incomplete: true, payloads: [{ damaged: false }] });
    expect(isTruncated(lines)).toBe(true);
    expect(isTruncated(lines.slice(0, 2))).toBe(false);
  });

  it('marks a truncated record line', () => {
    const invoke = `Program ${EXCHANGE} invoke [1]`;
    for (const line of [`Program data: ${record(1).slice(0, -1)}`, `Program log: ${record(1).slice(0, -3)}`]) {
      expect(parseLogs([invoke, line], programs)).toMatchObject({ incomplete: true, payloads: [{ damaged: true }] });
    }
    expect(parseLogs([invoke, 'Program data: ???'], programs).payloads[0]?.damaged).toBe(true);
  });
});
