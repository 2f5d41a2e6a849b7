// Gaps in the chain data as ingest leaves them in its state: who answers for completeness reads them from there.

/** Transactions of the slots from `fromSlot` to `toSlot` that did not come by themselves. */
export interface ChainGap {
  readonly fromSlot: number;
  readonly toSlot: number;
  readonly reason: string;
  /** Unix milliseconds. */
  readonly foundAtMs: number;
  /** Unix milliseconds at which all of it had been read after all; null while something may be missing. */
  readonly filledAtMs: number | null;
  /** True when no source can bring it any more: such a gap stays. */
  readonly isLasting: boolean;
  /** How many gaps were put together into this one; absent: it is one. */
  readonly count?: number;
}

/** Log group and key under which the list lies: absent when no ingest ever wrote the log. */
export const GAPS_GROUP = 'ingest-gaps';
export const GAPS_KEY = 'gaps';

/** By `fromSlot`, oldest first. */
export function encodeGaps(gaps: readonly ChainGap[]): Uint8Array {
  return Buffer.from(JSON.stringify(gaps));
}

export function decodeGaps(bytes: Uint8Array): readonly ChainGap[] {
  return JSON.parse(Buffer.from(bytes).toString('utf8')) as ChainGap[];
}
