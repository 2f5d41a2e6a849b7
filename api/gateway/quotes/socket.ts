// `/quotes/ws?pubkey=<base58>` on the gateway's port: market makers send indicative quotes.

import type { HttpRequest, HttpResponse, TemplatedApp, us_socket_context_t } from 'uWebSockets.js';
import { type RoleContext, readKey } from '../../../platform/index.ts';
import { marketKey, TOPICS } from '../../../schemas/index.ts';
import { QUOTE_REFUSALS, type QuoteRefusal } from '../../http/errors.ts';
import type { BookReader } from '../../views/book-reader.ts';
import { readAllowedMakers } from '../../views/quote-makers.ts';
import { MAX_QUOTE_BYTES } from './limits.ts';
import type { MakerSocketData } from './maker-connection.ts';
import { Makers } from './makers.ts';
import { quoteMetrics } from './metrics.ts';
import { QuoteWriter } from './writer.ts';

const PATH = '/quotes/ws';

export interface QuoteSocket {
  /** Adds the route; call before the application listens. */
  attach(app: TemplatedApp): void;
  /** Drops every connection and waits for the current append. */
  stop(): Promise<void>;
}

/** Rejects when the setting contains anything but public keys and `*`, or when the log cannot be reached. */
export async function startQuoteSocket(
  { config, log, logger, metrics }: RoleContext,
  { markets, indicative }: Pick<BookReader, 'markets' | 'indicative'>,
): Promise<QuoteSocket> {
  const allowed = readAllowedMakers(config.quoteMakers);
  if (allowed.listed.size === 0) {
    logger.warn({ quoteMakers: '' }, 'any key may quote, so a few can take all places of a market: set quoteMakers');
  }
  await log.ensureTopics([TOPICS.quotes]);
  const counters = quoteMetrics(metrics);
  const writer = new QuoteWriter({ log, logger, clock: Date.now });
  const makers = new Makers({
    markets,
    writer,
    hasRoom: (market, maker) => indicative.hasRoom(marketKey(market), maker),
    metrics: counters,
    clock: Date.now,
  });
  const upgrade = (res: HttpResponse, req: HttpRequest, context: us_socket_context_t): void => {
    const name = req.getQuery('pubkey') ?? '';
    const maker = readKey(name);
    const refusal = refusalOf(maker, name);
    if (!maker || refusal) {
      refuse(res, refusal ?? 'badKey');
      return;
    }
    res.upgrade<MakerSocketData>(
      { maker, name, connection: null },
      req.getHeader('sec-websocket-key'),
      req.getHeader('sec-websocket-protocol'),
      req.getHeader('sec-websocket-extensions'),
      context,
    );
  };
  const refusalOf = (maker: Uint8Array | null, name: string): QuoteRefusal | null => {
    if (!maker) return 'badKey';
    if (!allowed.others && !allowed.listed.has(name)) return 'notAllowed';
    return makers.admits() ? null : 'full';
  };
  const refuse = (res: HttpResponse, reason: QuoteRefusal): void => {
    counters.refusals.inc({ reason });
    const { status, text } = QUOTE_REFUSALS[reason];
    res.writeStatus(status).end(text);
  };
  return {
    attach: (app) => {
      app.ws<MakerSocketData>(PATH, {
        maxPayloadLength: MAX_QUOTE_BYTES,
        maxBackpressure: 0, // MakerConnection.send checks unread bytes.
        upgrade,
        open: (socket) => makers.open(socket),
        message: (socket, bytes) => makers.message(socket, bytes),
        close: (socket) => makers.closed(socket),
      });
    },
    stop: async () => {
      makers.dropAll();
      await writer.stop();
    },
  };
}
