// The quick start, with the addresses of this deployment.

import { addresses, historySocketUrl } from '../addresses.ts';

export function QuickStart() {
  const orderbook = addresses.orderbook ?? 'http://localhost:6969';
  const gateway = addresses.gateway ?? 'ws://localhost:6970/ws';
  const history = addresses.history ?? 'http://localhost:6971';
  return (
    <>
      <p>Three services answer requests. No key is needed.</p>
      <dl class="places">
        <dt>Order books, REST</dt>
        <dd>
          <code>{orderbook}</code>
        </dd>
        <dt>Order books, trades and fees, WebSocket</dt>
        <dd>
          <code>{gateway}</code>
        </dd>
        <dt>History, REST</dt>
        <dd>
          <code>{history}</code>
        </dd>
        <dt>Candles and summaries, WebSocket</dt>
        <dd>
          <code>{historySocketUrl()}</code>
        </dd>
      </dl>
      <h2>Read a book</h2>
      <pre>{`curl '${orderbook}/l2?marketName=SOL-PERP&depth=5'`}</pre>
      <h2>Read a book of an earlier slot</h2>
      <pre>{`curl '${orderbook}/l3?marketName=SOL-PERP&slot=SLOT'`}</pre>
      <h2>Read trades and candles</h2>
      <pre>{`curl '${history}/market/SOL-PERP/trades?limit=5'\ncurl '${history}/market/SOL-PERP/candles/60'`}</pre>
      <h2>Follow a book</h2>
      <p>
        Paste this into the console of this page. A diff follows the message before it when epoch and prevSeq match.
      </p>
      <pre>{`const socket = new WebSocket('${gateway}');
socket.onopen = () => socket.send(JSON.stringify({ type: 'subscribe', channel: 'book', market: 'SOL-PERP' }));
socket.onmessage = ({ data }) => console.log(JSON.parse(data));`}</pre>
      <h2>Units</h2>
      <p>
        Prices are integers of 1e-6 quote, and sizes of perp markets integers of 1e-9 base, as decimal text. Candles,
        market summaries and the trades channel have whole units.
      </p>
    </>
  );
}
