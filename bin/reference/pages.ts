// All pages below docs/reference/, as text.

import { tablesPage } from '../../schemas/index.ts';
import { configurationPage } from './configuration-page.ts';
import { errorsPage } from './errors-page.ts';
import { metricsPage } from './metrics-page.ts';
import { type OpenApi, restPage } from './rest-page.ts';
import { withRunningRoles } from './running.ts';
import { type AsyncApi, socketPage } from './socket-page.ts';

async function documentAt(url: string): Promise<unknown> {
  const answer = await fetch(url);
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  return answer.json();
}

const ORDER_BOOK_REST = {
  title: 'Order-book REST',
  origin: 'localhost:6969',
  lead: 'Books and the values around them, on port 6969. The same document is served at `/openapi.json`.',
};
const HISTORY_REST = {
  title: 'History REST',
  origin: 'localhost:6971',
  lead: 'Everything that happened, on port 6971. The same document is served at `/openapi.json`.',
};
const HOSTED_REST = {
  title: 'Hosted shapes, REST',
  origin: 'localhost:6971',
  lead: 'The history in the shapes of the hosted data API, for connectors. The same document is served at `/hosted/openapi.json`.',
};
const ORDER_BOOK_SOCKETS =
  'The feed and the quote socket, on ports 6969 and 6970. The same document is served at `/asyncapi.json`. ' +
  '[Follow a book](../guides/follow-a-book.md) is the guide to the `book` channel.';
const HISTORY_SOCKET =
  'Candles, summaries, prices and notifications, on port 6971. The same document is served at `/asyncapi.json`.';

/** Contracts and metrics that the roles publish. */
export interface Published {
  readonly orderBook: OpenApi;
  readonly orderBookSockets: AsyncApi;
  readonly history: OpenApi;
  readonly hosted: OpenApi;
  readonly historySocket: AsyncApi;
  readonly metricsPage: string;
}

/** Starts the roles for a moment and asks them. */
export function readPublished(): Promise<Published> {
  return withRunningRoles(async ({ metrics, endpoints: { orderbook, history } }) => ({
    orderBook: (await documentAt(`${orderbook}/openapi.json`)) as OpenApi,
    orderBookSockets: (await documentAt(`${orderbook}/asyncapi.json`)) as AsyncApi,
    history: (await documentAt(`${history}/openapi.json`)) as OpenApi,
    hosted: (await documentAt(`${history}/hosted/openapi.json`)) as OpenApi,
    historySocket: (await documentAt(`${history}/asyncapi.json`)) as AsyncApi,
    metricsPage: await metricsPage(metrics),
  }));
}

/** Pages by file name. */
export function referencePages(published: Published): ReadonlyMap<string, string> {
  return new Map([
    ['order-book-rest.md', restPage(ORDER_BOOK_REST, published.orderBook)],
    ['order-book-websocket.md', socketPage('Order-book WebSocket', ORDER_BOOK_SOCKETS, published.orderBookSockets)],
    ['history-rest.md', restPage(HISTORY_REST, published.history)],
    ['hosted-rest.md', restPage(HOSTED_REST, published.hosted)],
    ['history-websocket.md', socketPage('History WebSocket', HISTORY_SOCKET, published.historySocket)],
    ['tables.md', tablesPage()],
    ['configuration.md', configurationPage()],
    ['metrics.md', published.metricsPage],
    ['errors.md', errorsPage()],
  ]);
}
