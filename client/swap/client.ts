// The unified client: one of two aggregators behind the same requests.

import { type JupiterApiVersion, JupiterClient, type JupiterOptions } from './jupiter.ts';
import { TitanClient, type TitanOptions } from './titan.ts';
import { type Aggregator, type QuoteRequest, SwapError, type SwapQuote, type SwapRoute } from './types.ts';

export interface SwapClientOptions extends Pick<JupiterOptions, 'fetch' | 'url' | 'apiKey' | 'loadTables'> {
  readonly type: 'jupiter' | 'titan';
  /** Version of the first aggregator's API. Has no effect on the second. */
  readonly jupiterApiVersion?: JupiterApiVersion;
  readonly authToken?: TitanOptions['authToken'];
  readonly proxyUrl?: TitanOptions['proxyUrl'];
}

export class SwapClient implements Aggregator {
  readonly type: SwapClientOptions['type'];
  readonly #aggregator: Aggregator;

  /** Throws SwapError for an unknown type. */
  constructor({ type, jupiterApiVersion, authToken, proxyUrl, apiKey, loadTables, ...common }: SwapClientOptions) {
    this.type = type;
    const own = <T extends object>(members: T): Partial<T> =>
      Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Partial<T>;
    if (type === 'jupiter') {
      this.#aggregator = new JupiterClient({
        ...common,
        ...own({ apiVersion: jupiterApiVersion, apiKey, loadTables }),
      } as JupiterOptions);
    } else if (type === 'titan') {
      this.#aggregator = new TitanClient({ ...common, ...own({ authToken, proxyUrl }) } as TitanOptions);
    } else throw new SwapError(`Unsupported swap client type: ${String(type)}`);
  }

  getQuote(request: QuoteRequest): Promise<SwapQuote> {
    return this.#aggregator.getQuote(request);
  }

  getRoute(quote: SwapQuote, userPublicKey: string): Promise<SwapRoute> {
    return this.#aggregator.getRoute(quote, userPublicKey);
  }
}
