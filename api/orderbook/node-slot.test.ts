// The order-book server with an RPC node that reports the newest slot.

import { createServer, type Server } from 'node:http';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { boundPort, metricTotal, type RoleContext, type RunningRole } from '../../platform/index.ts';
import { diff, Stage, snapshot, until } from '../../test/support/api/stage.ts';
import { startOrderBookServer } from './server.ts';

const SLOTS_MAX = 25;
/** Slot of the published book. */
const BOOK_SLOT = 487;

let node: Server;
/** Answer of the node; null: an error. */
let head: number | null;
let stage: Stage;
let context: RoleContext;
let role: RunningRole | undefined;

beforeEach(async () => {
  node = createServer((request, response) => {
    request.resume();
    const answer = head === null ? { error: { code: -32_005 } } : { result: head };
    response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, ...answer }));
  });
  await new Promise<void>((resolve) => node.listen(0, '127.0.0.1', resolve));
  stage = new Stage();
  await stage.markets();
  await stage.books(snapshot(), snapshot({ marketIndex: 1 }));
  const rpcUrl = `http://127.0.0.1:${boundPort(node.address())}`;
  context = stage.context({ source: 'rpc', rpcUrl, slotStallMs: 600_000 });
});

afterEach(async () => {
  await role?.stop();
  role = undefined;
  node.closeAllConnections();
  await new Promise((resolve) => node.close(resolve));
});

async function ask(path: string): Promise<readonly [number, string]> {
  const answer = await fetch(`${role?.endpoints.orderbook}${path}`);
  return [answer.status, await answer.text()];
}

const OK = [200, 'OK'];
const NOK = [500, 'NOK'];
const NOT_READY = [500, 'Not ready'];

it('/health is NOK and /startup not ready while a book is too far behind the chain, and both recover', async () => {
  head = BOOK_SLOT + SLOTS_MAX + 1;
  role = await startOrderBookServer(context);
  await until(async () => (await metricTotal(context.metrics, 'slotbook_books_behind_slots')) === SLOTS_MAX + 1);
  expect([await ask('/health'), await ask('/'), await ask('/startup')]).toEqual([NOK, NOK, NOT_READY]);
  expect(await metricTotal(context.metrics, 'health_status')).toBe(2);
  // One of two books catches up; the other is behind.
  await stage.books(diff(2, head));
  await until(async () => (await fetch(`${role?.endpoints.orderbook}/l2?marketIndex=0&marketType=perp`)).ok);
  expect(await ask('/startup')).toEqual(NOT_READY);
  await stage.books(diff(2, head, { marketIndex: 1 }));
  await until(async () => (await ask('/startup'))[0] === 200);
  expect([await ask('/health'), await ask('/')]).toEqual([OK, OK]);
  // /startup needs the books to catch up only once.
  head += SLOTS_MAX + 1;
  await until(async () => (await ask('/health'))[0] === 500);
  expect(await ask('/startup')).toEqual(OK);
});

it('a lag of exactly the bound is healthy', async () => {
  head = BOOK_SLOT + SLOTS_MAX;
  role = await startOrderBookServer(context);
  await until(async () => (await ask('/startup'))[0] === 200);
  expect([await metricTotal(context.metrics, 'slotbook_books_behind_slots'), await ask('/health')]).toEqual([
    SLOTS_MAX,
    OK,
  ]);
});

it('while the node does not answer, health depends on slots alone', async () => {
  head = null;
  role = await startOrderBookServer(context);
  expect(await ask('/health')).toEqual(OK);
  expect(await ask('/startup')).toEqual(NOT_READY);
  await until(async () => (await ask('/startup'))[0] === 200);
  expect((await context.metrics.getSingleMetric('slotbook_chain_slot')?.get())?.values).toEqual([]);
});
