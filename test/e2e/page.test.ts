// The page in a real browser over one running pipeline: every view, the ladder beside /l2, faults and their healing, time
// travel, accessibility and screenshots.

import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { browserPath } from '../support/page/browser.ts';
import { times } from '../support/platform/times.ts';
import { eventually } from '../support/processes/processes.ts';
import { displayedLadders, LastSequences, l2At } from './harness/page/ladder.ts';
import { type PageRun, startPageRun } from './harness/page/run.ts';

const executablePath = browserPath();
/** Slots in 400 ms, as on the chain: a page that draws without a graphics card keeps up with it on two busy cores. */
const SPEED = 1;
const PATIENCE_MS = 240_000;
/** Eleven roles and a browser, on a machine that may be busy. */
const START_MS = 480_000;
/** Of one market. Only the last book of a slot can be compared. */
const COMPARED_MS = 90_000;
/** Comparisons of the ladder for each perp market. A spot book may stand still for long. */
const COMPARISONS = times(3, 100);
const QUIET_COMPARISONS = times(1, 3);
/** Of each type. */
const MARKETS_COMPARED = times(1, Number.POSITIVE_INFINITY);
const LOOK_MS = 1_500;
/** Makers of the best bids: orders of some of them stay while the page opens. */
const OWN_MAKERS = 10;
/** Screenshots; two small ones of an earlier run are in docs/images. */
const OUTPUT = path.join(import.meta.dirname, '..', 'output', 'page');
const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

const stateOf = (page: Page) => page.getByTestId('feed-line').getAttribute('data-kind', { timeout: 5_000 });

function untilState(page: Page, kind: string): Promise<boolean> {
  return eventually(`the state ${kind}`, async () => (await stateOf(page)) === kind, PATIENCE_MS);
}

/** Polls an expression in the page. The page's policy refuses Playwright's own way, which evaluates text in the page. */
function untilTrue(page: Page, expression: string): Promise<boolean> {
  return eventually(expression, async () => Boolean(await page.evaluate(expression)), PATIENCE_MS);
}

function noticeCount(page: Page, kind: string): Promise<number> {
  return page.locator(`[data-testid=notices] li[data-kind=${kind}]`).count();
}

async function openFeedPanel(page: Page): Promise<void> {
  await page.locator('#lower-feed').click({ timeout: PATIENCE_MS });
}

/** Faults in the console and outside of any handler. */
function watch(page: Page): string[] {
  const faults: string[] = [];
  page.on('pageerror', (error) => faults.push(String(error)));
  page.on('console', (message) => {
    // A service that a test stopped is no fault of the page.
    if (message.type() === 'error' && !/net::ERR|WebSocket connection|status of (404|503)/.test(message.text()))
      faults.push(message.text());
  });
  return faults;
}

describe.skipIf(executablePath === undefined)('the page', () => {
  let run: PageRun;
  let markets: readonly { readonly symbol: string; readonly marketType: 'perp' | 'spot' }[];
  let account = '';

  beforeAll(async () => {
    mkdirSync(OUTPUT, { recursive: true });
    run = await startPageRun(executablePath ?? '', SPEED);
    markets = await eventually(
      'a summary of every market',
      async () => {
        const list = (await (await fetch(`${run.history}/stats/markets`)).json()) as typeof markets;
        return list.length > 3 && list;
      },
      PATIENCE_MS,
    );
    account = await eventually(
      'a maker',
      async () => {
        const makers = (await (
          await fetch(`${run.orderbook}/topMakers?marketName=SOL-PERP&side=bid`)
        ).json()) as string[];
        return makers[0];
      },
      PATIENCE_MS,
    );
  }, START_MS);
  afterAll(() => run?.stop());

  // One after the other: on two cores several pages at once wait for one another for minutes.
  describe('while all is well', () => {
    it('paints a book within a second, without a fault, an inline script or anything from elsewhere', async () => {
      const page = await run.browser.newPage();
      const faults = watch(page);
      const hosts = new Set<string>();
      page.on('request', (request) => hosts.add(new URL(request.url()).hostname));
      await page.goto(`${run.page}#/trade/SOL-PERP`);
      await untilTrue(page, 'window.slotbook?.ladder()?.bids.length > 0');
      // The time itself is measured by `npm run bench page`.
      await untilState(page, 'live');
      expect([...hosts]).toEqual(['127.0.0.1']);
      const policy = (await fetch(run.page)).headers.get('content-security-policy');
      expect(policy).toContain("script-src 'self'");
      expect(policy).not.toContain('unsafe');
      expect(faults).toEqual([]);
      await page.close();
    });

    it('is served at /ui of the order-book server as well, whose own paths stay', async () => {
      const page = await run.browser.newPage();
      await page.goto(`${run.orderbook}/ui`);
      await untilState(page, 'live');
      expect(new URL(page.url()).pathname).toBe('/ui/');
      await page.close();
      expect(await (await fetch(`${run.orderbook}/`)).text()).toMatch(/^N?OK$/);
    });

    it('shows slot, age, commitment, epoch, sequence and checksum in words, and live trades and candles', async () => {
      const page = await run.open('#/trade/SOL-PERP');
      await untilState(page, 'live');
      const words = await page.getByTestId('feed-line').textContent();
      for (const word of ['slot', 'old', 'confirmed', 'epoch', 'sequence', 'checksum matches', 'resumes']) {
        expect(words).toContain(word);
      }
      await eventually('a trade', async () => (await page.locator('[data-testid=trades] tbody tr').count()) > 0);
      await eventually(
        'a candle',
        async () => Number(await page.getByTestId('candles').getAttribute('data-candles')) > 0,
      );
      const before = await page.getByTestId('seq').textContent();
      await eventually('a new sequence', async () => (await page.getByTestId('seq').textContent()) !== before);
      await page.close();
    });

    it(`shows what /l2 says of the same slot and sequence, ${COMPARISONS} times, in perp and spot markets`, {
      timeout: START_MS,
    }, async () => {
      for (const marketType of ['perp', 'spot'] as const) {
        const ofType = markets.filter((market) => market.marketType === marketType);
        expect(ofType.length).toBeGreaterThan(0);
        for (const { symbol } of ofType.slice(0, MARKETS_COMPARED)) await compareLadder(symbol, marketType);
      }
    });

    async function compareLadder(symbol: string, marketType: 'perp' | 'spot'): Promise<void> {
      const page = await run.open(`#/trade/${symbol}`, { viewport: { width: 420, height: 800 } });
      await page.locator('#phone-book').click();
      await untilTrue(page, 'window.slotbook?.ladder()?.seq > 0');
      const last = new LastSequences(run.gateway, symbol, marketType);
      const compared = new Set<number>();
      const differences: object[] = [];
      const most = marketType === 'perp' ? COMPARISONS : QUIET_COMPARISONS;
      await eventually(
        `${most} comparisons of ${symbol}`,
        async () => {
          const ladders = (await displayedLadders(page, LOOK_MS)).filter(
            (one) => last.isLast(one) && !compared.has(one.seq),
          );
          await Promise.all(
            ladders.slice(0, most - compared.size).map(async (ladder) => {
              const { bids, asks } = ladder;
              const said = await l2At(run.orderbook, symbol, ladder);
              if (!isDeepStrictEqual({ bids, asks }, said)) differences.push({ symbol, displayed: ladder, said });
              compared.add(ladder.seq);
            }),
          );
          return compared.size >= most || differences.length > 0;
        },
        COMPARED_MS,
      );
      expect(differences).toEqual([]);
      last.close();
      await page.close();
    }

    it('shows the orders of L3 in queue order, and marks those of an own account', async () => {
      const page = await run.open('#/trade/SOL-PERP?book=l3');
      const { bids } = (await (await fetch(`${run.orderbook}/l3?marketName=SOL-PERP`)).json()) as {
        bids: { maker: string }[];
      };
      const makers = JSON.stringify(JSON.stringify(bids.slice(0, OWN_MAKERS).map(({ maker }) => maker)));
      await page.evaluate(`localStorage.setItem('slotbook.accounts', ${makers})`);
      await page.reload();
      await eventually('an own order', async () => (await page.locator('.orders tr.own').count()) > 0, PATIENCE_MS);
      const places = await page
        .locator('.orders .bids tbody tr')
        .evaluateAll((rows) => rows.map((row) => [row.getAttribute('data-price'), row.lastElementChild?.textContent]));
      let place = 0;
      let price: string | null = null;
      for (const [rowPrice = null, displayed] of places) {
        place = rowPrice === price ? place + 1 : 1;
        price = rowPrice;
        expect(displayed).toBe(String(place));
      }
      await page.evaluate('localStorage.clear()');
      await page.close();
    });

    it('travels: book, orders and trades are those of the slot, and a link leads there', async () => {
      const live = await run.open('#/trade/ETH-PERP');
      // The line of the feed says so a frame before the first book is drawn.
      await untilTrue(live, 'window.slotbook?.ladder()?.slot > 0');
      const now = await live.evaluate('window.slotbook.ladder().slot');
      await live.close();
      for (const back of [3, 10]) {
        const slot = Number(now) - back;
        const page = await run.open(`#/trade/ETH-PERP?slot=${slot}`);
        await untilTrue(page, `window.slotbook?.ladder()?.from === 'earlier'`);
        // The state of an earlier slot does not change: each part must come to it, and stay.
        await eventually(
          'the book of the slot',
          async () => {
            const ladder = (await page.evaluate('window.slotbook.ladder()')) as Parameters<typeof l2At>[2];
            const { bids, asks } = ladder;
            return (
              ladder.slot === slot && isDeepStrictEqual({ bids, asks }, await l2At(run.orderbook, 'ETH-PERP', ladder))
            );
          },
          PATIENCE_MS,
        );
        await page.locator('#book-l3').click();
        await page.locator(`[data-testid=orders][data-slot="${slot}"]`).waitFor();
        await eventually(
          'the orders of the slot',
          async () => isDeepStrictEqual(await visibleOrders(page), await ordersAt('ETH-PERP', slot)),
          PATIENCE_MS,
        );
        await eventually(
          'trades up to the slot alone',
          async () => (await displayedTradeSlots(page)).every((tradeSlot) => tradeSlot <= slot),
          PATIENCE_MS,
        );
        await page.keyboard.press(']');
        await page.locator(`[data-testid=orders][data-slot="${slot + 1}"]`).waitFor();
        expect(page.url()).toContain(`slot=${slot + 1}`);
        await page.getByRole('button', { name: 'Back to live' }).click();
        await untilState(page, 'live');
        await page.close();
      }
    });

    const DISPLAYED_ORDERS = 40;

    function displayedTradeSlots(page: Page): Promise<readonly number[]> {
      return page
        .locator('[data-testid=trades] tbody tr')
        .evaluateAll((rows) =>
          rows.map((row) => Number(/slot ([\d,]+)/.exec(row.getAttribute('title') ?? '')?.[1]?.replaceAll(',', ''))),
        );
    }

    function visibleOrders(page: Page): Promise<unknown> {
      return page.locator('.orders tbody tr').evaluateAll((rows) =>
        rows.map((row) => ({
          price: row.getAttribute('data-price'),
          size: row.getAttribute('data-size'),
          maker: row.getAttribute('data-maker'),
          orderId: Number(row.getAttribute('data-order')),
        })),
      );
    }

    async function ordersAt(market: string, slot: number): Promise<unknown> {
      const answer = await fetch(`${run.orderbook}/l3?marketName=${market}&slot=${slot}`);
      const { bids, asks } = (await answer.json()) as Record<'bids' | 'asks', readonly object[]>;
      return [...bids.slice(0, DISPLAYED_ORDERS), ...asks.slice(0, DISPLAYED_ORDERS)];
    }

    it.each([
      ['trade', '#/trade/SOL-PERP'],
      ['status', '#/status'],
      ['account', '#/account/ACCOUNT'],
      ['docs', '#/docs'],
    ])('axe finds nothing in %s, and it fits dark, light and phone', { timeout: START_MS }, async (name, hash) => {
      const page = await run.open(hash.replace('ACCOUNT', account));
      for (const [kind, colorScheme, width, height] of [
        ['dark', 'dark', 1440, 900],
        ['light', 'light', 1440, 900],
        ['phone', 'dark', 390, 844],
      ] as const) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height });
        await page.locator('h1').first().waitFor({ timeout: PATIENCE_MS });
        if (name === 'trade' && kind === 'phone') await page.locator('#phone-book').click();
        if (name === 'trade' && kind !== 'phone')
          await untilTrue(page, `document.querySelector('[data-testid=candles]')?.dataset.candles > 0`);
        if (name === 'trade') await untilTrue(page, 'window.slotbook?.ladder()?.bids.length > 0');
        if (name === 'status') await page.getByText('SOL-PERP').first().waitFor();
        await eventually(
          'nothing that loads',
          async () => (await page.getByText('Loading.', { exact: true }).count()) === 0,
        );
        await untilTrue(page, `document.documentElement.dataset.theme === '${colorScheme}'`);
        await page.screenshot({ path: path.join(OUTPUT, `${name}-${kind}.png`) });
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth'), 'no sideways scrolling').toBe(
          true,
        );
        expect(await violations(page), `${name} ${kind}`).toEqual([]);
      }
      await page.close();
    });
  });

  describe('when something fails', () => {
    let page: Page;
    beforeAll(async () => {
      page = await run.open('#/trade/SOL-PERP');
      await openFeedPanel(page);
    }, START_MS);
    afterAll(() => page?.close());

    it('says that the gateway is lost, and resumes without a gap when it is back', async () => {
      await untilState(page, 'live');
      await run.kill('orderbook');
      await untilState(page, 'lost');
      expect(await page.getByTestId('feed-line').textContent()).toContain('tries again by itself');
      await run.start('orderbook');
      await untilState(page, 'live');
      const continued = async () => (await noticeCount(page, 'resumed')) + (await noticeCount(page, 'snapshot')) > 0;
      await eventually('the notice', continued, PATIENCE_MS);
    });

    it('says that nothing moves while ingest is stopped, and is live again after', async () => {
      await untilState(page, 'live');
      await run.kill('ingest');
      await untilState(page, 'stale');
      expect(await page.getByTestId('feed-line').textContent()).toContain('No new slot for');
      await run.start('ingest');
      await eventually('moving books', async () => ['live', 'late'].includes((await stateOf(page)) ?? ''), PATIENCE_MS);
    });

    it('names a new epoch, and shows its book', async () => {
      await untilTrue(page, 'window.slotbook?.ladder()?.seq > 0');
      const before = (await page.evaluate('window.slotbook.ladder()')) as { epoch: number };
      const named = await noticeCount(page, 'epoch');
      await run.changeEpoch();
      await eventually('the notice', async () => (await noticeCount(page, 'epoch')) > named, PATIENCE_MS);
      // The notice comes first, the snapshot of the new epoch after it.
      await untilTrue(page, `window.slotbook.ladder()?.epoch > ${before.epoch}`);
    });

    it('counts a message that cannot be read, and goes on', async () => {
      const routed = await run.browser.newPage();
      const faults = watch(routed);
      let inject = (_text: string) => {};
      await routed.routeWebSocket(run.gateway, (socket) => {
        socket.connectToServer();
        inject = (text) => socket.send(text);
      });
      await routed.goto(`${run.page}#/trade/SOL-PERP`);
      await openFeedPanel(routed);
      await untilTrue(routed, 'window.slotbook?.ladder()?.seq > 0');
      inject('{"diff":');
      await eventually('the notice', async () => (await noticeCount(routed, 'malformed')) > 0, PATIENCE_MS);
      const seq = Number(await routed.evaluate('window.slotbook.ladder().seq'));
      await untilTrue(routed, `window.slotbook.ladder().seq > ${seq}`);
      expect(faults).toEqual([]);
      await routed.close();
    });
  });
});

async function violations(page: Page): Promise<readonly string[]> {
  await page.evaluate(axeSource);
  return (await page.evaluate(
    `axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html, failureSummary }) => html.slice(0, 200) + ' ' + failureSummary).join(' | ').slice(0, 1200)))`,
  )) as string[];
}
