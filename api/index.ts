// What the api room offers: the roles a process can run. Nothing else of this room is imported from outside.

export { startGateway } from './gateway/server.ts';
export { startHistory } from './history/server.ts';
export { startOrderBookServer } from './orderbook/server.ts';
export { startOrderBook } from './start-order-book.ts';
