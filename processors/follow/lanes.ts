// Batches of several topics, one at a time and roughly in chain order: the batch that begins earliest goes first, and a
// topic that is known to have more is waited for. Without that a short topic would run months ahead of a long one
// whenever a log is read from its beginning.

/** Waited at most so long for a topic that should have more: an offset may never come (control records, compaction). */
export const WAIT_MS = 2_000;

interface Held {
  readonly place: number;
  start(): void;
}

interface Lane {
  held: Held | null;
  /** Records that a partition is known to have beyond those given. */
  readonly more: Map<number, bigint>;
}

export class Lanes {
  private readonly lanes = new Map<string, Lane>();
  private isBusy = false;
  private isClosed = false;
  private timer: NodeJS.Timeout | undefined;

  /** How many records of a topic's partition are known to come. */
  expect(topic: string, partition: number, records: bigint): void {
    this.lane(topic).more.set(partition, records);
  }

  /**
   * Runs a task when its turn has come; false when the lanes were closed before. `place` says where in the chain its
   * batch begins. One call at a time for each topic. A task that fails closes the lanes: its reducer is ahead of what was
   * left behind, so that nothing may follow.
   */
  async run(topic: string, place: number, task: () => Promise<void>): Promise<boolean> {
    if (this.isClosed) return false;
    const lane = this.lane(topic);
    await new Promise<void>((start) => {
      lane.held = { place, start };
      this.next();
    });
    if (this.isClosed) return false;
    try {
      await task();
    } catch (error) {
      this.close();
      throw error;
    }
    this.isBusy = false;
    this.next();
    return true;
  }

  /** Nothing starts any more; whoever waits is sent away. */
  close(): void {
    this.isClosed = true;
    clearTimeout(this.timer);
    for (const lane of this.lanes.values()) {
      lane.held?.start();
      lane.held = null;
    }
  }

  private next(): void {
    if (this.isClosed || this.isBusy) return;
    const lanes = [...this.lanes.values()];
    if (lanes.every(({ held }) => held === null)) return;
    clearTimeout(this.timer);
    if (lanes.some(hasMore)) this.timer = setTimeout(() => this.startFirst(), WAIT_MS);
    else this.startFirst();
  }

  private startFirst(): void {
    if (this.isClosed || this.isBusy) return;
    let first: Lane | null = null;
    for (const lane of this.lanes.values()) {
      if (lane.held !== null && lane.held.place < (first?.held?.place ?? Number.POSITIVE_INFINITY)) first = lane;
    }
    if (first?.held == null) return;
    const { held } = first;
    first.held = null;
    this.isBusy = true;
    held.start();
  }

  private lane(topic: string): Lane {
    let lane = this.lanes.get(topic);
    if (!lane) {
      lane = { held: null, more: new Map() };
      this.lanes.set(topic, lane);
    }
    return lane;
  }
}

/** A topic that has nothing ready although more is to come. */
function hasMore({ held, more }: Lane): boolean {
  if (held !== null) return false;
  for (const records of more.values()) if (records > 0n) return true;
  return false;
}
