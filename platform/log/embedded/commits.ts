// Which topics the newest commits wrote, so that a process wakes only the followers that another process has records for. The
// value of the commit sequence begins with the u64 number of the newest commit. The topics of that commit and of those before
// it follow, newest first: of each a u8 count and u16 topics.

const SEQUENCE_BYTES = 8;
const TOPIC_BYTES = 2;
/** Commits whose topics are kept. A process that missed more looks at every topic. */
const COMMITS_MAX = 64;
/** A commit of more topics stands for all topics. */
const TOPICS_MAX = 254;
const ALL_TOPICS = 255;

/** Topics with new records; null: any may have some. */
export type Topics = ReadonlySet<number> | null;

/** The value after one more commit. `before`: the value before it; absent in a new log. */
export function nextSequence(before: Uint8Array | undefined, topics: ReadonlySet<number>): Buffer {
  const sequence = sequenceOf(before) + 1n;
  const isCounted = topics.size <= TOPICS_MAX;
  const own = Buffer.alloc(SEQUENCE_BYTES + 1 + (isCounted ? topics.size * TOPIC_BYTES : 0));
  own.writeBigUInt64BE(sequence);
  own[SEQUENCE_BYTES] = isCounted ? topics.size : ALL_TOPICS;
  let at = SEQUENCE_BYTES + 1;
  if (isCounted) for (const topic of topics) at = own.writeUInt16BE(topic, at);
  return before === undefined
    ? own
    : Buffer.concat([own, before.subarray(SEQUENCE_BYTES, endOf(before, COMMITS_MAX - 1))]);
}

/** Number of the newest commit; 0 for a missing value. */
export function sequenceOf(value: Uint8Array | undefined): bigint {
  return value === undefined ? 0n : viewOf(value).getBigUint64(0);
}

/** Topics that were written after commit `seen`. */
export function topicsSince(value: Uint8Array | undefined, seen: bigint): Topics {
  const topics = new Set<number>();
  if (value === undefined) return topics;
  const view = viewOf(value);
  let at = SEQUENCE_BYTES;
  for (let missed = sequenceOf(value) - seen; missed > 0n; missed--) {
    const count = at < value.length ? view.getUint8(at) : ALL_TOPICS;
    if (count === ALL_TOPICS) return null;
    at += 1;
    for (let topic = 0; topic < count; topic++, at += TOPIC_BYTES) topics.add(view.getUint16(at));
  }
  return topics;
}

/** End of the first `commits` commits of a value. */
function endOf(value: Uint8Array, commits: number): number {
  let at = SEQUENCE_BYTES;
  for (let commit = 0; commit < commits && at < value.length; commit++) {
    const count = value[at] as number;
    at += 1 + (count === ALL_TOPICS ? 0 : count * TOPIC_BYTES);
  }
  return at;
}

function viewOf({ buffer, byteOffset, byteLength }: Uint8Array): DataView {
  return new DataView(buffer, byteOffset, byteLength);
}
