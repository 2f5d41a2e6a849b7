// The roles of the api room. Other rooms import only this file.

export { startExports } from './history/exports/role.ts';
export { startHistory } from './history/server.ts';
export * as apiErrors from './http/errors.ts';
export { startOrderBook } from './orderbook/start.ts';
export { startPage } from './page/server.ts';
export { startPush } from './push/role.ts';
