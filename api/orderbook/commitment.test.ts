import { afterEach, describe, expect, it } from 'vitest';
import { type Config, ConfigError, logAt, type RunningRole } from '../../platform/index.ts';
import { type BookViewDiff, type BookViewSnapshot, encodeMessage, marketKey, TOPICS } from '../../schemas/index.ts';
import { FeedClient } from '../../test/support/api/feed-client.ts';
import { MARKETS } from '../../test/support/api/market-views.ts';
import { diff, Stage, snapshot, trade, until } from '../../test/support/api/stage.ts';
import { startOrderBook } from './start.ts';

const PROCESSED = { processedBooks: 'on', source: 'rpc', rpcUrl: 'http://127.0.0.1:1' } as const;
const AHEAD = 490;

let role: RunningRole | null = null;
let clients: FeedClient[] = [];
afterEach(async () => {
  for (const client of clients) client.socket.terminate();
  clients = [];
  await role?.stop();
  role = null;
});

/** Confirmed books at slot 487, and books at processed of which the first is at 490. */
async function start(overrides: Partial<Config>) {
  const stage = new Stage();
  const processed = logAt(stage.log, 'processed');
  const publish = (...messages: readonly (BookViewSnapshot | BookViewDiff)[]) =>
    processed.append(
      TOPICS.bookViews,
      messages.map((message) => ({
        key: marketKey(message),
        value: 'gone' in message ? encodeMessage('BookViewDiff', message) : encodeMessage('BookViewSnapshot', message),
      })),
    );
  await stage.markets();
  await stage.books(snapshot());
  await processed.append(
    TOPICS.marketViews,
    MARKETS.map((view) => ({ key: marketKey(view), value: encodeMessage('MarketView', view) })),
  );
  await publish(snapshot({ epoch: 7, slot: AHEAD }));
  role = await startOrderBook(stage.context(overrides));
  const { orderbook = '', gateway = '' } = role.endpoints;
  const get = async (path: string) => {
    const answer = await fetch(`${orderbook}${path}`);
    return { status: answer.status, text: await answer.text() };
  };
  const slotOf = async (path: string) => {
    const { status, text } = await get(path);
    return status === 200 ? (JSON.parse(text) as { slot: number }).slot : text;
  };
  await until(async () => (await slotOf('/l2?marketName=SOL-PERP')) === 487);
  const connect = async () => {
    const client = await FeedClient.connect(gateway);
    clients.push(client);
    return client;
  };
  return { stage, publish, get, slotOf, connect };
}

describe('commitment', () => {
  it('chooses the book of /l2 and /l3, also at an earlier slot', async () => {
    const { publish, slotOf } = await start(PROCESSED);
    await publish(diff(2, AHEAD + 1, { epoch: 7 }), diff(3, AHEAD + 2, { epoch: 7 }));
    const at = (path: string, commitment: string, slot = '') =>
      slotOf(`${path}?marketName=SOL-PERP${slot}${commitment}`);
    for (const path of ['/l2', '/l3']) {
      await until(async () => (await at(path, '&commitment=processed')) === AHEAD + 2);
      expect(await at(path, '')).toBe(487);
      expect(await at(path, '&commitment=confirmed')).toBe(487);
      expect(await at(path, '&commitment=processed', `&slot=${AHEAD + 1}`)).toBe(AHEAD + 1);
      expect(await at(path, '', `&slot=${AHEAD + 1}`)).toContain('not complete yet');
    }
  });

  it('is refused where it is unknown, and processed where no such books run', async () => {
    const { get, connect } = await start({});
    for (const path of ['/l2', '/l3']) {
      expect(await get(`${path}?marketName=SOL-PERP&commitment=final`)).toEqual({
        status: 400,
        text: 'Bad Request: commitment must be either confirmed or processed',
      });
      expect(await get(`${path}?marketName=SOL-PERP&commitment=processed`)).toEqual({
        status: 400,
        text: 'Bad Request: this server has no books at commitment processed',
      });
    }
    const client = await connect();
    client.send({ type: 'subscribe', channel: 'book', market: 'SOL-PERP', commitment: 'processed', id: 'p' });
    client.send({ type: 'subscribe', channel: 'book', market: 'SOL-PERP', commitment: 'final', id: 'f' });
    await until(() => client.received.length >= 2);
    expect(client.received).toMatchObject([
      { type: 'error', code: 'processed', id: 'p' },
      { type: 'error', code: 'commitment', id: 'f' },
    ]);
  });

  it('of trades is refused where it is unknown, and processed where no such trades run', async () => {
    const { connect } = await start({});
    const client = await connect();
    client.send({ type: 'subscribe', channel: 'trades.v2', market: 'SOL-PERP', commitment: 'processed', id: 'p' });
    client.send({ type: 'subscribe', channel: 'trades.v2', market: 'SOL-PERP', commitment: 'final', id: 'f' });
    await until(() => client.received.length >= 2);
    expect(client.received).toMatchObject([
      { type: 'error', code: 'processed', error: 'this server has no trades at commitment processed', id: 'p' },
      { type: 'error', code: 'commitment', id: 'f' },
    ]);
  });

  it('processed of trades shows in streams of their own alone, whatever the compatible channels have', async () => {
    const { stage, connect } = await start({ ...PROCESSED, bookCommitment: 'processed' });
    const client = await connect();
    for (const commitment of ['processed', 'confirmed'])
      client.send({ type: 'subscribe', channel: 'trades.v2', market: 'SOL-PERP', commitment });
    client.subscribe({ channel: 'trades' });
    const heads = () => client.received.filter((one) => 'streamId' in one);
    await until(() => heads().length === 2);
    expect(heads()).toMatchObject([
      { stream: 'perp_0_trades_processed', streamId: 1, commitment: 'processed' },
      { stream: 'perp_0_trades', streamId: 2 },
    ]);
    const vanishing = trade(1n, { slot: AHEAD });
    const { marketType, marketIndex, slot, txSig, txSigIndex, fillRecordId } = vanishing;
    const withdrawal = {
      marketType,
      marketIndex,
      epoch: 1,
      seq: 2,
      tradeSeq: 1,
      slot,
      txSig,
      txSigIndex,
      fillRecordId,
    };
    await logAt(stage.log, 'processed').append(TOPICS.tradeViews, [
      { key: 'perp-0', value: encodeMessage('TradeView', vanishing) },
      { key: 'perp-0', value: encodeMessage('TradeWithdrawal', withdrawal) },
    ]);
    await until(() => client.received.some((one) => 'withdraw' in one));
    await stage.trades(trade(1n, { txSig: 'kept' }));
    const compatible = () => client.received.filter((one) => one.channel === 'trades_perp_0' && one.data !== undefined);
    const numbered = () => client.received.filter((one) => 'trade' in one || 'withdraw' in one);
    await until(() => compatible().length > 0 && numbered().length === 3);
    expect(compatible().map(({ data = '' }) => (JSON.parse(data) as { txSig: string }).txSig)).toEqual(['kept']);
    expect(numbered()).toMatchObject([
      { trade: 1, seq: 1, commitment: 'processed' },
      { withdraw: 1, seq: 2, tradeSeq: 1, commitment: 'processed' },
      { trade: 2, seq: 1, data: { txSig: 'kept' } },
    ]);
    expect(numbered().at(-1)).not.toHaveProperty('commitment');
    client.send({ type: 'unsubscribe', channel: 'trades.v2', market: 'SOL-PERP', commitment: 'processed' });
    await until(() => client.received.some((one) => 'type' in one && one.type === 'unsubscribed'));
    expect(client.received.at(-1)).toMatchObject({ streams: ['perp_0_trades_processed'] });
  });

  it('gives one connection streams of both, with names and numbers of their own, and names an undone slot', async () => {
    const { publish, stage, connect } = await start(PROCESSED);
    const client = await connect();
    for (const commitment of ['processed', 'confirmed'])
      client.send({ type: 'subscribe', channel: 'book', market: 'SOL-PERP', checksum: true, commitment });
    const snapshots = () => client.received.filter((one) => 'streamId' in one);
    await until(() => snapshots().length === 2);
    expect(snapshots()).toMatchObject([
      { stream: 'perp_0_l2_k10_processed', streamId: 1, epoch: 7, slot: AHEAD },
      { stream: 'perp_0_l2_k10', streamId: 2, epoch: 1, slot: 487 },
    ]);
    await publish(diff(2, AHEAD + 1, { epoch: 7, revert: AHEAD }), diff(3, AHEAD + 1, { epoch: 7 }));
    await stage.books(diff(2, 488));
    const diffs = () => client.received.filter((one) => 'diff' in one);
    await until(() => diffs().length === 3);
    expect(diffs().filter((one) => 'diff' in one && one.diff === 1)).toMatchObject([
      { seq: 2, revert: AHEAD },
      { seq: 3 },
    ]);
    expect(diffs().filter((one) => 'revert' in one)).toHaveLength(1);
    client.send({ type: 'unsubscribe', channel: 'book', market: 'SOL-PERP', commitment: 'processed' });
    await until(() => client.received.some((one) => 'type' in one && one.type === 'unsubscribed'));
    expect(client.received.at(-1)).toMatchObject({ streams: ['perp_0_l2_k10_processed'] });
  });

  it('of the compatible channels is configured, and needs such books', async () => {
    const { connect } = await start({ ...PROCESSED, bookCommitment: 'processed' });
    const client = await connect();
    client.subscribe();
    await until(() => client.received.some(({ data }) => data !== undefined));
    const { data = '' } = client.received.find((one) => one.data !== undefined) ?? {};
    expect((JSON.parse(data) as { slot: number }).slot).toBe(AHEAD);
    await expect(startOrderBook(new Stage().context({ bookCommitment: 'processed' }))).rejects.toThrow(ConfigError);
  });
});
