// Refusals and closes of the quote socket.

import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { QuoteMaker, TestKey } from '../../../test/support/api/quote-maker.ts';
import { Stage, until } from '../../../test/support/api/stage.ts';
import { eventually } from '../../../test/support/platform/eventually.ts';
import { QuoteStage } from '../../../test/support/quotes/quote-stage.ts';
import { startOrderBook } from '../../orderbook/start.ts';
import { MAX_CONNECTIONS_PER_MAKER, MESSAGE_BURST } from './limits.ts';

let stage: QuoteStage;

beforeEach(() => {
  stage = new QuoteStage();
});

afterEach(() => stage.stop());

describe('a connection is refused', () => {
  it('with 400 without a public key', async () => {
    await stage.start();
    for (const name of ['', 'abc', '0'.repeat(44)]) {
      await expect(QuoteMaker.connect(stage.quotesUrl, new TestKey(), name)).rejects.toThrow(
        '400 Bad Request: pubkey must be a base58 public key',
      );
    }
  });

  it('with 403 when the list of makers does not name its key', async () => {
    const listed = new TestKey();
    await stage.start({ quoteMakers: `${listed.name},${new TestKey().name}` });
    await expect(QuoteMaker.connect(stage.quotesUrl)).rejects.toThrow('403 Forbidden: this key may not quote');
    expect((await stage.maker(listed)).closed).toBeNull();
  });

  it('with a warning at start when any key may quote, and without when the list names some', async () => {
    const warnings: string[] = [];
    const warned = async (quoteMakers: string): Promise<boolean> => {
      warnings.length = 0;
      const logger = pino({ level: 'warn' }, { write: (line) => warnings.push(line) });
      const role = await startOrderBook({ ...new Stage().context({ quoteMakers }), logger });
      await role.stop();
      return warnings.some((line) => line.includes('any key may quote'));
    };
    expect([await warned(''), await warned(new TestKey().name)]).toEqual([true, false]);
  });

  it('when the setting is malformed: the gateway does not start', async () => {
    await expect(startOrderBook(new Stage().context({ quoteMakers: 'oops' }))).rejects.toThrow(
      'not a public key: oops',
    );
  });
});

describe('a connection is closed with 1008', () => {
  beforeEach(() => stage.start());

  it.each([
    ['another key signed', { signature: new TestKey().sign('x') }],
    ['the signature is no base64', { signature: '!' }],
    ['another key is named', { pubkey: new TestKey().name }],
  ])('as `Authentication failed` when %s', async (_, members) => {
    const connected = await stage.stranger();
    connected.authenticate(members);
    await until(() => connected.closed !== null);
    expect(connected.closed).toEqual({ code: 1008, reason: 'Authentication failed' });
  });

  it('as `Authentication failed` when the nonce is that of another connection', async () => {
    const key = new TestKey();
    const [one, two] = [await stage.stranger(key), await stage.stranger(key)];
    two.authenticate({ signature: key.sign(one.nonce) });
    await until(() => two.closed !== null);
    expect(two.closed).toEqual({ code: 1008, reason: 'Authentication failed' });
  });

  it.each([['garbage'], [{}], [{ market_index: 0, market_type: 'perp', quotes: [] }], [{ pubkey: 7, signature: [] }]])(
    'as `Not authenticated` when it says %j first',
    async (message) => {
      const connected = await stage.stranger();
      connected.send(message);
      await until(() => connected.closed !== null);
      expect(connected.closed).toEqual({ code: 1008, reason: 'Not authenticated' });
      expect(await stage.loggedQuotes()).toEqual([]);
    },
  );

  it('as `Too many messages` above its rate', async () => {
    const connected = await stage.maker();
    await until(() => {
      for (let sent = 0; sent < MESSAGE_BURST; sent += 1) connected.send('x');
      return connected.closed !== null;
    });
    expect(connected.closed).toEqual({ code: 1008, reason: 'Too many messages' });
  });

  it('as `Too many connections of this key` above their number', async () => {
    const key = new TestKey();
    for (let open = 0; open < MAX_CONNECTIONS_PER_MAKER; open += 1) await stage.maker(key);
    const one = await stage.stranger(key);
    one.authenticate();
    await until(() => one.closed !== null);
    expect(one.closed).toEqual({ code: 1008, reason: 'Too many connections of this key' });
    stage.makers[0]?.socket.close();
    await eventually(async () => expect((await stage.maker(key)).closed).toBeNull());
  });
});

describe('a message above the payload limit', () => {
  it('ends the connection', async () => {
    await stage.start();
    const connected = await stage.maker();
    connected.send('x'.repeat(17 * 1024));
    await until(() => connected.closed !== null);
    expect(connected.closed?.code).not.toBe(1000);
  });
});
