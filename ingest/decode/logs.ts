// Record payloads of a transaction's log lines, as Buffers.

import { type KnownRecords, type LogPayload, type LogPayloads, logPayloads } from '../../schemas/index.ts';

export { isTruncated, type KnownRecords } from '../../schemas/index.ts';

export type Payload = LogPayload<Buffer>;
export type ParsedLogs = LogPayloads<Buffer>;

const decode = (text: string): Buffer => Buffer.from(text, 'base64');

/** Parses a transaction's lines. Only lines of the given programs count: the program must be on top of the stack. */
export function parseLogs(lines: readonly string[], programs: KnownRecords): ParsedLogs {
  return logPayloads(lines, programs, decode);
}
