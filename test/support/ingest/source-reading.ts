// Reads a source in the background and says what it delivered: updates by kind, event ids, resulting orders.

import { compileEvents } from '../../../ingest/decode/events.ts';
import { decodeTransaction } from '../../../ingest/decode/transaction.ts';
import type { Output } from '../../../ingest/diff/output.ts';
import { Differ } from '../../../ingest/differ.ts';
import { compileReaders } from '../../../ingest/readers.ts';
import { userAddress } from '../../../ingest/role.ts';
import type { ResumePoint, Source, SourceUpdate } from '../../../ingest/source.ts';
import { loadDefinition, type StreamCount } from '../../../schemas/index.ts';
import { eventually } from '../platform/eventually.ts';

const definition = loadDefinition('velocity');
const decoder = compileEvents(definition);

/** Signature and index of every delivered event. */
function eventIdsOf(updates: readonly SourceUpdate[]): string[] {
  return updates.flatMap((update) =>
    update.kind === 'transaction' && !update.failed
      ? decodeTransaction(update, decoder).events.map((_, index) => `${update.signature} ${index}`)
      : [],
  );
}

export class SourceReading {
  readonly updates: SourceUpdate[] = [];
  readonly #stop = new AbortController();
  /** Ids of the events of the first `#decoded` updates: tests ask again and again. */
  readonly #ids: string[] = [];
  #decoded = 0;
  readonly #done: Promise<void>;

  /** `taken` gets the size of each batch, and is awaited as ingest awaits the log. */
  constructor(
    source: Source,
    resume: ResumePoint | null = null,
    taken: (updates: number) => Promise<void> = async () => {},
  ) {
    this.#done = (async () => {
      for await (const batch of source.updates(resume, this.#stop.signal)) {
        this.updates.push(...batch);
        await taken(batch.length);
      }
    })();
  }

  of<K extends SourceUpdate['kind']>(kind: K): Extract<SourceUpdate, { kind: K }>[] {
    return this.updates.filter((update): update is Extract<SourceUpdate, { kind: K }> => update.kind === kind);
  }

  eventIds(): string[] {
    this.#ids.push(...eventIdsOf(this.updates.slice(this.#decoded)));
    this.#decoded = this.updates.length;
    return [...this.#ids];
  }

  /** Orders that result from the delivered accounts. */
  orders(): string[] {
    const orders = new Set<string>();
    this.#differ((output) => {
      if (output.name !== 'BookOrders') return;
      const { source, marketType, marketIndex } = output.value;
      const id = (maker: Uint8Array, orderId: number) =>
        `${source} ${marketType}-${marketIndex} ${Buffer.from(maker).toString('hex')} ${orderId}`;
      for (const { maker, orderId } of output.value.removals) orders.delete(id(maker, orderId));
      for (const { maker, orderId } of output.value.upserts) orders.add(id(maker, orderId));
    });
    return [...orders];
  }

  /** Counts of the delivered accounts, in their order. */
  counts(): StreamCount[] {
    return this.outputs().flatMap(({ name, value }) => (name === 'StreamCounter' ? [value] : []));
  }

  /** Everything that the delivered accounts come to, in its order. */
  outputs(): Output[] {
    const outputs: Output[] = [];
    this.#differ((output) => void outputs.push(output));
    return outputs;
  }

  #differ(take: Parameters<Differ['account']>[1]): void {
    const differ = new Differ(compileReaders(definition), userAddress(definition));
    for (const update of this.updates) {
      if (update.kind === 'account') differ.account(update, take);
      else if (update.kind === 'snapshotBegin') differ.snapshotBegin();
      else if (update.kind === 'snapshotEnd') differ.snapshotEnd(update.slot, take);
    }
  }

  async until(what: string, isTrue: () => boolean): Promise<void> {
    await eventually(() => {
      if (!isTrue()) throw new Error(`timed out waiting for ${what}`);
    });
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#done;
  }
}
