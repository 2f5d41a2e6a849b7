// Gaps in the chain data. Ingest stores them as state in the log; readers that report completeness load them.

/** Slots from `fromSlot` to `toSlot`, some of whose transactions did not arrive live. */
export interface ChainGap {
  readonly fromSlot: number;
  readonly toSlot: number;
  readonly reason: string;
  /** Unix milliseconds. */
  readonly foundAtMs: number;
  /** Unix milliseconds at which ingest had read all of them; null while some may be missing. */
  readonly filledAtMs: number | null;
  /** True when no source can deliver them any more: the gap stays. */
  readonly isLasting: boolean;
  /** Number of gaps merged into this one; absent: one. */
  readonly count?: number;
}

/** Log group and key of the list. A log without ingest does not have it. */
export const GAPS_GROUP = 'ingest-gaps';
export const GAPS_KEY = 'gaps';

/** Encodes gaps sorted by `fromSlot`, oldest first. */
export function encodeGaps(gaps: readonly ChainGap[]): Uint8Array {
  return Buffer.from(JSON.stringify(gaps));
}

export function decodeGaps(bytes: Uint8Array): readonly ChainGap[] {
  return JSON.parse(Buffer.from(bytes).toString('utf8')) as ChainGap[];
}
