// The roles of the api room. Other rooms import only this file.

export { startGateway } from './gateway/server.ts';
export { startExports } from './history/exports/role.ts';
export { startHistory } from './history/server.ts';
export * as apiErrors from './http/errors.ts';
export { startOrderBookServer } from './orderbook/server.ts';
export { startOrderBook } from './orderbook/start.ts';
export { startPage } from './page/server.ts';
export { startPush } from './push/role.ts';
