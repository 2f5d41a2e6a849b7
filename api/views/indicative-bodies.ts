// Caches the JSON of each book, with and without indicative quotes, in every encoding until the book changes. Many pollers
// then cost one rendering per change.

import type { MarketRef, MarketView } from '../../schemas/index.ts';
import { PreparedBody } from '../http/prepared-body.ts';
import { emptyBookJson, l2Json, l3Json, type ServedBook } from './bodies.ts';

/** The part of the BookReader that renderings need. */
export interface BookSource {
  /** See BookReader. */
  served(market: MarketRef, includeIndicative: boolean): ServedBook | null;
  readonly newestSlot: number | null;
  now(): number;
}

interface Rendered {
  readonly version: number;
  readonly symbol: string;
  readonly l2: Map<number, PreparedBody>;
  readonly l3: Map<boolean, PreparedBody>;
}

export class BookBodies {
  readonly #source: BookSource;
  readonly #rendered = new WeakMap<ServedBook, Rendered>();

  constructor(source: BookSource) {
    this.#source = source;
  }

  /** L2 with `depth` (0 to 100) levels per side. For a market without a book, the empty book. */
  l2(market: MarketView, depth: number, includeIndicative: boolean): PreparedBody {
    const book = this.#source.served(market, includeIndicative);
    if (!book) return new PreparedBody(emptyBookJson(market, this.#source.newestSlot, this.#source.now()));
    const { l2 } = this.#renderedOf(book, market);
    let body = l2.get(depth);
    if (body === undefined) {
      body = new PreparedBody(l2Json(book, market, book.view.l2(depth)));
      l2.set(depth, body);
    }
    return body;
  }

  /** L3 of the whole book, if asked with the causes of orders; null before its first message. */
  l3(market: MarketView, includeIndicative: boolean, hasCause = false): PreparedBody | null {
    const book = this.#source.served(market, includeIndicative);
    if (!book) return null;
    const rendered = this.#renderedOf(book, market);
    const known = rendered.l3.get(hasCause);
    if (known) return known;
    const body = new PreparedBody(l3Json(book, market, hasCause));
    rendered.l3.set(hasCause, body);
    return body;
  }

  #renderedOf(book: ServedBook, { symbol }: MarketView): Rendered {
    const known = this.#rendered.get(book);
    if (known?.version === book.version && known.symbol === symbol) return known;
    const rendered: Rendered = { version: book.version, symbol, l2: new Map(), l3: new Map() };
    this.#rendered.set(book, rendered);
    return rendered;
  }
}
