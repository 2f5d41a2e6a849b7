// Conformance vectors of the `book` channel: messages in, results and books out. The expected books come from a model of plain
// maps that shares no code with the keepers under test.

import { crc32 } from 'node:zlib';
import { seededRandom } from '../support/platform/chance.ts';
import { ModelBook, type Side } from './model-book.ts';

export interface KeeperLine {
  /** Begins a new keeper with these choices. */
  readonly keeper: { readonly level: 'l2' | 'l3'; readonly depth?: number; readonly checksum: number };
}

export interface MessageLine {
  readonly message: Readonly<Record<string, unknown>>;
  readonly result: 'applied' | 'gap' | 'checksum' | 'malformed' | 'waiting';
  /** CRC32 of the text of the whole book after the message, while the book is valid. */
  readonly crc?: number;
  /** Lines of the whole book, now and then. */
  readonly book?: { readonly bids: readonly string[]; readonly asks: readonly string[] };
}

export type VectorLine = KeeperLine | MessageLine;

const KEEPERS: readonly KeeperLine['keeper'][] = [
  { level: 'l2', checksum: 10 },
  { level: 'l3', checksum: 10 },
  { level: 'l2', depth: 5, checksum: 10 },
  { level: 'l3', depth: 3, checksum: 100 },
  { level: 'l2', checksum: 0 },
];
/** Messages to one keeper before the next begins. */
const MESSAGES_PER_KEEPER = 100;
/** Every so many messages the whole book stands in the line. */
const BOOK_EVERY = 25;
const SIDES: readonly Side[] = ['bids', 'asks'];

/** Lines of so many messages. The same seed gives the same lines. */
export function* vectors(messages: number, seed: number): Generator<VectorLine, void, undefined> {
  const next = seededRandom(seed);
  for (let done = 0, round = 0; done < messages; round += 1) {
    const keeper = KEEPERS[round % KEEPERS.length] ?? { level: 'l2', checksum: 10 };
    yield { keeper };
    const run = new Run(keeper, next);
    for (let count = 0; count < MESSAGES_PER_KEEPER && done < messages; count += 1, done += 1) {
      const line = run.line();
      const hasBook = done % BOOK_EVERY === 0 && line.result === 'applied';
      yield hasBook ? { ...line, book: run.book() } : line;
    }
  }
}

class Run {
  readonly #keeper: KeeperLine['keeper'];
  readonly #next: () => number;
  readonly #model: ModelBook;
  #isValid = false;
  #epoch = 1;
  #seq = 1;
  /** Sequence of the last message of the server. */
  #sentSeq = 0;
  #slot = 100;

  constructor(keeper: KeeperLine['keeper'], next: () => number) {
    this.#keeper = keeper;
    this.#next = next;
    this.#model = new ModelBook(keeper.level, keeper.depth ?? Number.POSITIVE_INFINITY, next);
  }

  book(): { bids: string[]; asks: string[] } {
    return { bids: this.#model.lines('bids'), asks: this.#model.lines('asks') };
  }

  line(): MessageLine {
    const chance = this.#next();
    if (this.#seq === 1 || chance < 0.04) return this.#snapshot();
    if (!this.#isValid) return chance < 0.4 ? this.#snapshot() : this.#diff('waiting');
    if (chance < 0.06) return this.#diff('gap');
    if (chance < 0.08 && this.#keeper.checksum > 0) return this.#diff('checksum');
    if (chance < 0.1) return this.#diff('malformed');
    return this.#diff('applied');
  }

  #snapshot(): MessageLine {
    if (this.#next() < 0.3) {
      this.#epoch += 1;
      this.#seq = 1;
    }
    this.#model.change(this.#seq === 1 ? 20 : 3);
    this.#seq += 1;
    const { level } = this.#keeper;
    const head = {
      channel: 'book',
      type: 'snapshot',
      stream: 'perp_0',
      streamId: 1,
      market: 'SOL-PERP',
      marketType: 'perp',
    };
    const entries = this.#model.snapshot();
    this.#isValid = true;
    return this.#done({ ...head, marketIndex: 0, level, ...this.#state(), ...entries }, 'applied');
  }

  #diff(result: MessageLine['result']): MessageLine {
    if (result === 'gap') this.#seq += 1; // A message that the client never gets.
    const prevSeq = result === 'gap' ? this.#seq : this.#sentSeq;
    const entries = this.#model.change(1 + Math.floor(this.#next() * 4));
    this.#seq += 1;
    const message: Record<string, unknown> = { diff: 1, ...this.#state(), prevSeq, ...entries };
    if (result === 'checksum') message.checksum = (Number(message.checksum ?? 0) ^ 1) >>> 0;
    if (result === 'malformed') Object.assign(message, this.#damaged());
    if (result !== 'applied') this.#isValid = false;
    return this.#done(message, result);
  }

  /** Entries that no keeper may take for numbers. */
  #damaged(): object {
    const bad = ['8.5', 'x', null][Math.floor(this.#next() * 3)];
    const side = SIDES[Math.floor(this.#next() * 2)] ?? 'bids';
    if (this.#keeper.level === 'l2') return { [side]: [[bad, '1']] };
    const order = { price: bad, size: '1', maker: 'M1', orderId: 1, source: 'user', rank: [1, 1, 1] };
    return { [side]: [order] };
  }

  #state(): object {
    this.#slot += Math.floor(this.#next() * 3);
    const { checksum } = this.#keeper;
    const sum = checksum === 0 ? {} : { checksum: this.#crc(checksum) };
    return { epoch: this.#epoch, seq: this.#seq, slot: this.#slot, ts: 1_790_000_000_000 + this.#slot * 400, ...sum };
  }

  #done(message: Record<string, unknown>, result: MessageLine['result']): MessageLine {
    this.#sentSeq = this.#seq;
    return result === 'applied' ? { message, result, crc: this.#crc(Number.POSITIVE_INFINITY) } : { message, result };
  }

  #crc(levels: number): number {
    const lines = SIDES.flatMap((side) => [side, ...this.#model.lines(side, levels)]);
    return crc32(lines.join('\n'));
  }
}
