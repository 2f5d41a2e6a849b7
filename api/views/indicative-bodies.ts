// JSON of a market's book with or without indicative quotes, kept in every encoding asked for until the book changes, so
// that a crowd of pollers costs one rendering per change.

import type { MarketView } from '../../schemas/index.ts';
import { PreparedBody } from '../prepared-body.ts';
import { emptyBookJson, l2Json, l3Json, type ServedBook } from './bodies.ts';
import type { BookReader } from './book-reader.ts';

interface Rendered {
  readonly version: number;
  readonly symbol: string;
  readonly l2: Map<number, PreparedBody>;
  l3: PreparedBody | null;
}

export class BookBodies {
  readonly #reader: BookReader;
  readonly #rendered = new WeakMap<ServedBook, Rendered>();

  constructor(reader: BookReader) {
    this.#reader = reader;
  }

  /** L2 cut to `depth` levels per side (0 to 100); of a market without a book, the empty book of reference 1.3. */
  l2(market: MarketView, depth: number, includeIndicative: boolean): PreparedBody {
    const book = this.#reader.served(market, includeIndicative);
    if (!book) return new PreparedBody(emptyBookJson(market, this.#reader.newestSlot, this.#reader.now()));
    const { l2 } = this.#renderedOf(book, market);
    let body = l2.get(depth);
    if (body === undefined) {
      body = new PreparedBody(l2Json(book, market, book.view.l2(depth)));
      l2.set(depth, body);
    }
    return body;
  }

  /** L3 of the whole book; null when none was published. */
  l3(market: MarketView, includeIndicative: boolean): PreparedBody | null {
    const book = this.#reader.served(market, includeIndicative);
    if (!book) return null;
    const rendered = this.#renderedOf(book, market);
    rendered.l3 ??= new PreparedBody(l3Json(book, market));
    return rendered.l3;
  }

  #renderedOf(book: ServedBook, { symbol }: MarketView): Rendered {
    const known = this.#rendered.get(book);
    if (known?.version === book.version && known.symbol === symbol) return known;
    const rendered: Rendered = { version: book.version, symbol, l2: new Map(), l3: null };
    this.#rendered.set(book, rendered);
    return rendered;
  }
}
