// The price that every oracle reader returns.

import type { BookOracle, MarketRef } from '../../schemas/index.ts';

/** An oracle price as the book uses it. Prices and confidences are 1e6. */
export type OraclePrice = Omit<BookOracle, 'slot' | keyof MarketRef>;
