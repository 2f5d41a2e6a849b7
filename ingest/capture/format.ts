// The capture file: one JSON object per line, one line per source update (docs/internals/ingest.md, "Capture files").

import bs58 from 'bs58';
import type { AccountUpdate, SourceUpdate, TransactionLogs } from '../source.ts';

/** A line that does not follow the capture format. */
export class CaptureError extends Error {
  override readonly name = 'CaptureError';
}

/** `atMs` is the arrival time in milliseconds from the start of the recording; null when unknown. */
export interface CaptureLine {
  readonly update: SourceUpdate;
  readonly atMs: number | null;
}

/** Null for updates about the recorder's own connection: a capture leaves them out. */
export function formatLine(update: SourceUpdate, atMs: number): string | null {
  switch (update.kind) {
    case 'account':
      return JSON.stringify({
        kind: 'account',
        atMs,
        slot: update.slot,
        writeVersion: update.writeVersion === null ? null : String(update.writeVersion),
        pubkey: bs58.encode(update.pubkey),
        owner: bs58.encode(update.owner),
        data: Buffer.from(update.data).toString('base64'),
      });
    case 'transaction': {
      // The same as `signature`.
      const { signatureBytes: _, ...line } = update;
      return JSON.stringify({ ...line, atMs });
    }
    case 'slot':
    case 'time':
    case 'final':
    case 'snapshotBegin':
    case 'snapshotEnd':
    case 'gap':
      return JSON.stringify({ ...update, atMs });
    default:
      return null;
  }
}

/** Throws CaptureError for a line that does not follow the format. */
export function parseLine(text: string): CaptureLine {
  let line: Record<string, unknown>;
  try {
    line = JSON.parse(text) as Record<string, unknown>;
    if (typeof line !== 'object' || line === null) throw new TypeError('not an object');
    const atMs = typeof line.atMs === 'number' ? line.atMs : null;
    return { update: parseUpdate(line), atMs };
  } catch (cause) {
    throw new CaptureError(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

function parseUpdate(line: Record<string, unknown>): SourceUpdate {
  switch (line.kind) {
    case 'account':
      return parseAccount(line);
    case 'transaction':
      return parseTransaction(line);
    case 'slot':
    case 'snapshotBegin':
    case 'snapshotEnd':
      return { kind: line.kind, slot: slot(line.slot) };
    case 'time':
    case 'final':
      return { kind: line.kind, slot: slot(line.slot), ts: slot(line.ts) };
    case 'gap':
      return {
        kind: 'gap',
        fromSlot: slot(line.fromSlot),
        toSlot: slot(line.toSlot),
        filled: line.filled === true,
        reason: text(line.reason ?? ''),
        ...(line.isLasting === true ? { isLasting: true } : {}),
      };
    default:
      throw new TypeError(`unknown kind ${JSON.stringify(line.kind)}`);
  }
}

function parseAccount(line: Record<string, unknown>): AccountUpdate {
  return {
    kind: 'account',
    slot: slot(line.slot),
    writeVersion: (line.writeVersion ?? null) === null ? null : BigInt(text(line.writeVersion)),
    pubkey: key(line.pubkey, 32),
    owner: key(line.owner, 32),
    data: Buffer.from(text(line.data), 'base64'),
  };
}

function parseTransaction(line: Record<string, unknown>): TransactionLogs {
  if (!Array.isArray(line.logs)) throw new TypeError('logs are not a list');
  return {
    kind: 'transaction',
    slot: slot(line.slot),
    signature: bs58.encode(key(line.signature, 64)),
    failed: line.failed === true,
    logs: line.logs.map(text),
    blockIndex: numberOrNull(line.blockIndex),
    blockTime: numberOrNull(line.blockTime),
  };
}

function slot(value: unknown): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) throw new TypeError(`slot ${value}`);
  return value;
}

function text(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError(`${JSON.stringify(value)} is not a string`);
  return value;
}

function key(value: unknown, bytes: number): Uint8Array {
  const decoded = bs58.decode(text(value));
  if (decoded.length !== bytes) throw new TypeError(`key of ${decoded.length} bytes instead of ${bytes}`);
  return decoded;
}

function numberOrNull(value: unknown): number | null {
  return typeof value === 'number' ? value : null;
}
