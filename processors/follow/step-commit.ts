// Commits a step of any size as a whole. State that is too large for one commit is staged under keys of its own. One last
// commit writes the outputs, moves the offset and makes it count. A start finishes such a step or forgets it.

import {
  type Commit,
  commitBytes,
  type EventLog,
  type GroupState,
  type StateWrite,
  storedBytes,
} from '../../platform/index.ts';

/** Bytes of one write of a large step: far below the log's limit. */
const PORTION_BYTES = 2 * 1024 * 1024;
/** Half of the limit of a request to Kafka, because settling writes two entries for each. */
const PORTION_WRITES = 1_000;

/** Writes of a step that is one commit: kafkajs takes a time that grows with their square. */
const SMALL_WRITES = 4_000;

/** Present while staged state counts. */
const COUNTS = 'staged';
/** Precedes the key of a staged write that sets a value. */
const SETS = 'staged+';
/** Precedes the key of a staged write that removes it. */
const REMOVES = 'staged-';
const PRESENT = Buffer.of(1);

/**
 * Offsets and state count together, whatever their size and wherever the process dies. So do outputs on the embedded log; on Kafka they
 * come first.
 */
export async function commitStep(
  log: EventLog,
  group: string,
  { outputs, offsets, state }: Required<Omit<Commit, 'fence'>>,
): Promise<void> {
  // One append takes a limited size, a commit takes any number of them.
  const parts = outputs.flatMap(({ topic, records }) =>
    Array.from(portions(records), (portion) => ({ topic, records: portion })),
  );
  if (offsets.length === 0 && state.length === 0) {
    for (const { topic, records } of parts) await log.append(topic, records);
    return;
  }
  if (state.length <= SMALL_WRITES && commitBytes({ offsets, state }) <= PORTION_BYTES) {
    return log.commit(group, { outputs: parts, offsets, state });
  }
  for (const portion of portions(state.map(staged))) await log.commit(group, { state: portion });
  await log.commit(group, { outputs: parts, offsets, state: [{ key: COUNTS, value: PRESENT }] });
  await settle(log, group, state);
}

/** Offsets and state after the newest whole step. Finishes or forgets a step that a kill cut, so only the writer may call it. */
export async function loadSteps(log: EventLog, group: string): Promise<GroupState> {
  const { offsets, state } = await log.load(group);
  const writes = stagedWrites(state);
  if (state.has(COUNTS)) await settle(log, group, writes);
  else for (const portion of portions(writes.map(unstaged))) await log.commit(group, { state: portion });
  return { offsets, state: wholeState(state) };
}

/** State of a group after its newest whole step, from the state as the log has it. */
export function wholeState(saved: ReadonlyMap<string, Uint8Array>): ReadonlyMap<string, Uint8Array> {
  const whole = new Map([...saved].filter(([key]) => !key.startsWith(COUNTS)));
  if (!saved.has(COUNTS)) return whole;
  for (const { key, value } of stagedWrites(saved)) {
    if (value === null) whole.delete(key);
    else whole.set(key, value);
  }
  return whole;
}

/** Moves staged state that counts to its keys. */
async function settle(log: EventLog, group: string, state: readonly StateWrite[]): Promise<void> {
  for (const portion of portions(state)) {
    await log.commit(group, { state: [...portion, ...portion.map(unstaged)] });
  }
  await log.commit(group, { state: [{ key: COUNTS, value: null }] });
}

function staged({ key, value }: StateWrite): StateWrite {
  return value === null ? { key: REMOVES + key, value: PRESENT } : { key: SETS + key, value };
}

function unstaged(write: StateWrite): StateWrite {
  return { key: staged(write).key, value: null };
}

/** The staged writes in the saved state of a group. */
function stagedWrites(saved: ReadonlyMap<string, Uint8Array>): StateWrite[] {
  const writes: StateWrite[] = [];
  for (const [key, value] of saved) {
    if (key.startsWith(SETS)) writes.push({ key: key.slice(SETS.length), value });
    else if (key.startsWith(REMOVES)) writes.push({ key: key.slice(REMOVES.length), value: null });
  }
  return writes;
}

/** Parts of a list in its order, each of PORTION_BYTES and PORTION_WRITES at most, or of one entry. */
function* portions<Write extends StateWrite>(writes: readonly Write[]): Generator<Write[]> {
  let portion: Write[] = [];
  let bytes = 0;
  for (const write of writes) {
    const more = storedBytes(write);
    const isFull = portion.length === PORTION_WRITES || bytes + more > PORTION_BYTES;
    if (portion.length > 0 && isFull) {
      yield portion;
      portion = [];
      bytes = 0;
    }
    portion.push(write);
    bytes += more;
  }
  if (portion.length > 0) yield portion;
}
