// One notification for each cause, whatever is repeated, cut or restarted, and in whatever order both topics come.

import bs58 from 'bs58';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Notification, notificationId, timeOfNotification } from '../../schemas/index.ts';
import { signatureOf } from '../../test/support/processors/history/events.ts';
import {
  accountRecord,
  beginRecord,
  event,
  FIRST_TS,
  fill,
  key,
  marketRecord,
  perpMarket,
  position,
  quoteMarket,
  timeRecord,
  user,
  wallet,
} from '../../test/support/processors/notifications/records.ts';
import { NotificationReducer, WAITING_MAX } from './reducer.ts';

const SETTINGS = { fundingMin: 10_000_000n, partitions: 1 };

type Fed = { readonly topic: 'events' | 'margin'; readonly bytes: Uint8Array };
const of = (topic: Fed['topic'], ...records: Uint8Array[]): Fed[] => records.map((bytes) => ({ topic, bytes }));
const apply = (reducer: NotificationReducer, { topic, bytes }: Fed): readonly Notification[] =>
  topic === 'events' ? reducer.event(0, bytes) : reducer.margin(bytes);
const run = (records: readonly Fed[], reducer = new NotificationReducer(SETTINGS)): Notification[] =>
  records.flatMap((record) => [...apply(reducer, record)]);
const MARKETS = of('margin', marketRecord(quoteMarket()), marketRecord(perpMarket()));
const ACCOUNTS = of('margin', ...[0, 1, 2, 3].map((n) => accountRecord(n, 100n, [])));
const titles = (found: readonly Notification[]) => found.map(({ title }) => title);

describe('notifications of events', () => {
  it('report each side of a fill, with its wallet, order and price', () => {
    const found = run([...ACCOUNTS, ...of('events', fill(8, 0, 2))]);
    expect(found.map(({ authority, user: account, title }) => ({ authority, account, title }))).toEqual([
      { authority: wallet(0), account: user(0), title: 'Order filled' },
      { authority: wallet(2), account: user(2), title: 'Order filled' },
    ]);
    expect(found[0]?.body).toMatch(/^Your (long|short) order \d+ on perp-0 was filled: [\d.]+ at [\d.]+$/);
    expect(JSON.parse(found[0]?.data ?? '')).toMatchObject({ record: 'trade', side: 'taker', marketIndex: 0 });
  });

  it('say the price of a fill that lists say', () => {
    const amounts = { base_asset_amount_filled: 3_000_000_000n, quote_asset_amount_filled: 200_000_000n };
    const members = { action: 'fill', action_explanation: 'none', taker: user(0), maker: null, market_type: 'perp' };
    const [found] = run([...ACCOUNTS, ...of('events', event('OrderActionRecord', 1, { ...members, ...amounts }))]);
    expect(found?.body).toMatch(/: 3 at 66\.666667$/);
    expect(JSON.parse(found?.data ?? '')).toMatchObject({ price: '66666667' });
  });

  it('say the size and price of a spot fill in its token, once the market is known', () => {
    const amounts = { base_asset_amount_filled: 3_000_000n, quote_asset_amount_filled: 200_000_000n };
    const market = { market_type: 'spot', market_index: 1 };
    const members = { action: 'fill', action_explanation: 'none', taker: user(0), maker: null, ...market, ...amounts };
    const [unknown] = run([...ACCOUNTS, ...of('events', event('OrderActionRecord', 1, members))]);
    expect(unknown?.body).toMatch(/was filled$/);
    expect(JSON.parse(unknown?.data ?? '')).toMatchObject({ price: null });
    const token = quoteMarket({ marketIndex: 1 });
    const known = [
      ...ACCOUNTS,
      ...of('margin', marketRecord(token)),
      ...of('events', event('OrderActionRecord', 1, members)),
    ];
    const [found] = run(known);
    expect(found?.body).toMatch(/: 3 at 66\.666667$/);
    expect(JSON.parse(found?.data ?? '')).toMatchObject({ price: '66666667' });
  });

  it('have the id of their cause, in the order of time', () => {
    const [taker] = run([...ACCOUNTS, ...of('events', fill(8, 0, 2))]);
    const signature = bs58.encode(signatureOf(8));
    expect(taker?.id).toBe(notificationId(FIRST_TS + 8, `${signature}:0:${bs58.encode(user(0))}:RECORD_UPDATE:taker`));
    expect(timeOfNotification(taker?.id ?? '')).toBe(FIRST_TS + 8);
    const [later] = run([...ACCOUNTS, ...of('events', fill(9, 0, 2))]);
    expect((later?.id ?? '') > (taker?.id ?? '')).toBe(true);
  });

  it.each([
    ['trigger', 'none', null, ['Order triggered']],
    ['expire', 'orderExpired', key(9, 9), ['Order expired']],
    ['cancel', 'orderExpired', null, ['Order expired']],
    ['cancel', 'insufficientFreeCollateral', null, ['Order cancelled']],
    ['cancel', 'none', key(9, 9), ['Order cancelled']],
    ['cancel', 'none', null, []],
    ['place', 'none', null, []],
    ['fill', 'transferPerpPosition', null, []],
  ])('of %s with %s are right', (action, action_explanation, filler, expected) => {
    const members = { action, action_explanation, filler, taker: user(0), maker: null, market_type: 'perp' };
    expect(titles(run([...ACCOUNTS, ...of('events', event('OrderActionRecord', 1, members))]))).toEqual(expected);
  });

  it('name the reason of a cancel', () => {
    const members = { action: 'cancel', action_explanation: 'insufficientFreeCollateral', taker: user(0), maker: null };
    const [found] = run([...ACCOUNTS, ...of('events', event('OrderActionRecord', 1, members))]);
    expect(found?.body).toMatch(/was cancelled: insufficient free collateral$/);
  });

  it('report a liquidation once to the account, and its fill to the liquidator', () => {
    const liquidated = { liquidation_type: 'liquidatePerp', user: user(0) };
    const taken = { action: 'fill', action_explanation: 'liquidation', taker: user(0), maker: user(2) };
    const found = run([
      ...ACCOUNTS,
      ...of('events', event('OrderActionRecord', 1, taken), event('LiquidationRecord', 2, liquidated)),
    ]);
    expect(found.map(({ title, user: account }) => [title, account])).toEqual([
      ['Order filled', user(2)],
      ['Liquidation', user(0)],
    ]);
    expect(found[1]).toMatchObject({ type: 'ACCOUNT_UPDATE', body: 'Your account was liquidated (liquidate perp)' });
  });

  it('report funding from the threshold on, in both directions', () => {
    const payments = [9_999_999n, 10_000_000n, -10_000_001n, -9_999_999n, 0n];
    const records = payments.map((funding_payment, n) =>
      event('FundingPaymentRecord', n, { funding_payment, user: user(0), user_authority: wallet(0), market_index: 0 }),
    );
    expect(run(of('events', ...records)).map(({ body }) => body)).toEqual([
      'Your position on perp-0 received 10 in funding',
      'Your position on perp-0 paid 10.000001 in funding',
    ]);
  });

  it('wait for the wallet of an account, also over a restart', () => {
    const reducer = new NotificationReducer(SETTINGS);
    expect(run(of('events', fill(1, 0, null), fill(2, 1, null)), reducer)).toEqual([]);
    const state = saved(reducer, new Map());
    const again = new NotificationReducer(SETTINGS);
    again.restore(state);
    expect(again.waiting).toBe(2);
    const opened = event('NewUserRecord', 3, { user: user(0), user_authority: wallet(0) });
    expect(run(of('events', opened), again)).toMatchObject([{ user: user(0), authority: wallet(0) }]);
    expect(run(ACCOUNTS, again)).toMatchObject([{ user: user(1) }]);
    expect(again.waiting).toBe(0);
    expect([...saved(again, state).keys()].filter((name) => name.startsWith('waiting:'))).toEqual([]);
  });

  it('give up the oldest of too many that wait', () => {
    const reducer = new NotificationReducer(SETTINGS);
    for (let n = 0; n < WAITING_MAX + 3; n++) reducer.event(0, fill(n, 0, null));
    expect(reducer.waiting).toBe(WAITING_MAX);
    expect(reducer.dropped).toBe(3);
  });
});

describe('notifications of a block time', () => {
  /** 10 SOL long with a quote deposit; the requirement is 5 percent of 10 times the price. */
  const long = (quote: bigint) =>
    accountRecord(0, quote, [position({ baseAssetAmount: 10n ** 10n, quoteAssetAmount: -1_500_000_000n })]);
  const at = (price: bigint) => marketRecord(perpMarket({ oraclePrice: price * 1_000_000n }));

  it('report each change of health, and nothing at first', () => {
    const found = run([
      ...MARKETS,
      ...of('margin', long(200n), timeRecord(1)),
      ...of('margin', at(143n), timeRecord(2)),
      ...of('margin', at(139n), timeRecord(3)),
      ...of('margin', at(138n), timeRecord(4)),
      ...of('margin', at(136n), timeRecord(5)),
      ...of('margin', at(137n), timeRecord(6)),
      ...of('margin', at(160n), timeRecord(7)),
    ]);
    const buckets = found.map(({ data }) => (JSON.parse(data) as { bucket: string }).bucket);
    expect(buckets).toEqual(['MODERATE', 'AT_RISK', 'LIQUIDATABLE', 'HEALTHY']);
    expect(found.every(({ type, user: account }) => type === 'ACCOUNT_UPDATE' && account?.[1] === 0)).toBe(true);
  });

  it('ignore a repeated or earlier time', () => {
    const reducer = new NotificationReducer(SETTINGS);
    run([...MARKETS, ...of('margin', long(200n), timeRecord(2))], reducer);
    expect(run(of('margin', at(100n), timeRecord(1), timeRecord(2)), reducer)).toEqual([]);
    expect(run(of('margin', timeRecord(3)), reducer)).toHaveLength(1);
  });

  it('forget the positions of accounts that a whole read lacks', () => {
    const reducer = new NotificationReducer(SETTINGS);
    run([...MARKETS, ...of('margin', long(200n), timeRecord(1))], reducer);
    const without = of('margin', beginRecord(60), accountRecord(1, 5n, []), at(100n), timeRecord(2, true));
    expect(run(without, reducer)).toEqual([]);
    expect(run(of('events', fill(1, 0, null)), reducer)).toMatchObject([{ authority: wallet(0) }]);
  });

  it('inform every wallet of markets that open or change their status, and nothing of those at the start', () => {
    const status = (one: string) => marketRecord(perpMarket({ marketIndex: 3, status: one }));
    const statuses = ['initialized', 'active', 'reduceOnly', 'active', 'settlement', 'delisted'];
    const found = run([
      ...MARKETS,
      ...of('margin', timeRecord(1)),
      ...statuses.flatMap((one, n) => of('margin', status(one), timeRecord(n + 2))),
    ]);
    expect(found.map(({ type, title, authority }) => [type, title, authority.length])).toEqual([
      ['NEW_MARKET', 'New market', 0],
      ['REDUCE_ONLY', 'Market is reduce only', 0],
      ['REDUCE_ONLY', 'Market is open again', 0],
      ['ANNOUNCEMENT', 'Market in settlement', 0],
      ['ANNOUNCEMENT', 'Market delisted', 0],
    ]);
  });
});

/** State after the reducer's changes. */
function saved(reducer: NotificationReducer, state: ReadonlyMap<string, Uint8Array>): Map<string, Uint8Array> {
  const next = new Map(state);
  for (const { name, bytes } of reducer.takeChanges()) {
    if (bytes === null) next.delete(name);
    else next.set(name, bytes);
  }
  return next;
}

/** The number of an event decides its accounts, as on the chain. */
const anyEvent = fc.nat(60).map((n) => ({ n, taker: n % 4, maker: n % 3 === 0 ? null : (n * 7) % 4 }));
const anyMargin = fc.oneof(
  fc
    .record({ n: fc.nat(5), quote: fc.bigInt({ min: 0n, max: 400n }), base: fc.integer({ min: -9, max: 9 }) })
    .map(({ n, quote, base }) =>
      accountRecord(n, quote, [
        position({ baseAssetAmount: BigInt(base) * 10n ** 9n, quoteAssetAmount: BigInt(base) * -150_000_000n }),
      ]),
    ),
  fc
    .integer({ min: 90, max: 210 })
    .map((price) => marketRecord(perpMarket({ oraclePrice: BigInt(price) * 10n ** 6n }))),
  fc.constantFrom('active', 'reduceOnly', 'settlement').map((status) => marketRecord(perpMarket({ status }))),
);

describe('notifications, whatever happens', () => {
  it('are one for each cause: repeats, cuts and restarts change none', () => {
    const steps = fc.array(
      fc.record({
        record: fc.oneof(
          anyEvent.map(({ n, taker, maker }) => ({ topic: 'events', bytes: fill(n, taker, maker) }) as Fed),
          anyMargin.map((bytes) => ({ topic: 'margin', bytes }) as Fed),
        ),
        isTime: fc.boolean(),
        repeats: fc.nat(2),
        isCut: fc.boolean(),
        isRestarted: fc.boolean(),
        isKilled: fc.boolean(),
      }),
      { minLength: 5, maxLength: 60 },
    );
    fc.assert(
      fc.property(steps, (sequence) => {
        const whole = [...MARKETS];
        for (const [n, { record, isTime }] of sequence.entries()) {
          whole.push(record, ...(isTime ? of('margin', timeRecord(n + 1)) : []));
        }
        whole.push(...ACCOUNTS, ...of('margin', timeRecord(1_000)));
        const expected = run(whole);
        expect(new Set(expected.map(({ id }) => id)).size).toBe(expected.length);

        // The same input with repeats, in batches that a kill takes back.
        const found: Notification[] = [];
        let state = new Map<string, Uint8Array>();
        let reducer = new NotificationReducer(SETTINGS);
        let batch: Fed[] = [];
        const restart = () => {
          reducer = new NotificationReducer(SETTINGS);
          reducer.restore(state);
        };
        const commit = (isKilled: boolean) => {
          const outputs = run(batch, reducer);
          if (isKilled) {
            restart();
            commit(false);
            return;
          }
          found.push(...outputs);
          state = saved(reducer, state);
          batch = [];
        };
        const feed = (record: Fed, repeats: number) => {
          for (let time = 0; time <= repeats; time++) batch.push(record);
        };
        for (const record of MARKETS) feed(record, 1);
        for (const [n, { record, isTime, repeats, isCut, isRestarted, isKilled }] of sequence.entries()) {
          feed(record, repeats);
          if (isTime) for (const time of of('margin', timeRecord(n + 1))) feed(time, repeats);
          if (isCut) commit(isKilled);
          if (isCut && isRestarted) restart();
        }
        for (const record of [...ACCOUNTS, ...of('margin', timeRecord(1_000))]) feed(record, 0);
        commit(false);
        expect(found).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });

  it('of events do not depend on the order of the two topics', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 40 }), fc.nat(40), (events, accountsAt) => {
        const fills = of('events', ...events.map(({ n, taker, maker }) => fill(n, taker, maker)));
        const first = run([...ACCOUNTS, ...fills]);
        const later = run([...fills.slice(0, accountsAt), ...ACCOUNTS, ...fills.slice(accountsAt)]);
        const sorted = (list: Notification[]) => list.sort((a, b) => (a.id < b.id ? -1 : 1));
        expect(sorted(later)).toEqual(sorted(first));
      }),
    );
  });
});
