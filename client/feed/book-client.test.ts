// The client that shows everything: books and trades over one connection, and frames that cannot be read.

import { afterEach, expect, it } from 'vitest';
import { ScriptedSocket } from '../../test/support/client/scripted-socket.ts';
import { BookFeedClient } from '../index.ts';

const sockets: ScriptedSocket[] = [];
const client = () =>
  new BookFeedClient({
    url: 'ws://server/ws',
    open: () => {
      const socket = new ScriptedSocket();
      sockets.push(socket);
      return socket;
    },
  });
afterEach(() => sockets.splice(0));

const SNAPSHOT = {
  ...{ channel: 'book', type: 'snapshot', stream: 'perp_0_l2', streamId: 1, market: 'SOL-PERP', marketType: 'perp' },
  ...{ marketIndex: 0, level: 'l2', epoch: 1, seq: 1, slot: 9, ts: 1, bids: [['81114210', '1000']], asks: [] },
};

it('follows books and trades over one connection', () => {
  const feed = client();
  const trades: number[] = [];
  const slots: number[] = [];
  feed.on('book', ({ message }) => slots.push(message.slot));
  feed.subscribe({ market: 'SOL-PERP' });
  feed.trades({ market: 'SOL-PERP' }).on('data', ({ slot }) => trades.push(slot));
  const [socket] = sockets;
  socket?.open();
  socket?.say(SNAPSHOT);
  socket?.data('trades_perp_0', { slot: 10 });
  expect([sockets.length, slots, trades]).toEqual([1, [9], [10]]);
  feed.close();
});

it('reports a frame that is no JSON object, and goes on', () => {
  const feed = client();
  let unreadable = 0;
  feed.on('malformed', () => {
    unreadable += 1;
  });
  feed.subscribe({ market: 'SOL-PERP' });
  feed.connect();
  const [socket] = sockets;
  socket?.open();
  for (const frame of ['{"diff":', '[]', '7']) socket?.say(frame);
  socket?.say(SNAPSHOT);
  expect([unreadable, feed.book('SOL-PERP')?.slot, sockets.length]).toEqual([3, 9, 1]);
  feed.close();
});
