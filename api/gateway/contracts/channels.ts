// Messages of the compatible channels on `/ws`: orderbook, orderbook_indicative, trades, priorityfees.

import type { MessageContract } from '../../http/contract/asyncapi.ts';
import { MARKET_TYPES, marketIndex, marketType, slot } from '../../http/contract/books.ts';
import { inputSchema } from '../../http/contract/inputs.ts';
import {
  choice,
  count,
  type JsonSchema,
  jsonText,
  key,
  number,
  object,
  ref,
  text,
} from '../../http/contract/json-schema.ts';
import { SOCKET_ERRORS } from '../../http/errors.ts';
import { HEARTBEAT_MS } from '../limits.ts';
import { CHANNELS, channelMembers, GROUPINGS } from '../requests.ts';

/** Of a message: a number, or text where a number would lose digits. */
export const fillRecordId = {
  description:
    'running number of the fill in its market; decimal text above 2^53, where a JSON number would lose digits',
  anyOf: [
    { type: 'integer', minimum: 0, maximum: 2 ** 53 },
    { type: 'string', pattern: '^[1-9]\\d{15,}$' },
  ],
};
const QUOTE_UNITS = 'whole quote units (1.5 is 1.5 USDC)';
const BASE_UNITS = 'whole base units (1.5 is 1.5 SOL)';
const DIRECTIONS = ['long', 'short'] as const;
const MARKET = `(?:${MARKET_TYPES.join('|')})_\\d+`;

const trade = object(
  {
    ts: count('Unix seconds of the block'),
    marketIndex,
    marketType,
    filler: key('user account that filled'),
    takerFee: number(`0 when none; ${QUOTE_UNITS}`),
    makerFee: number(`negative for a rebate, 0 when none; ${QUOTE_UNITS}`),
    quoteAssetAmountSurplus: number(`0 when none; ${QUOTE_UNITS}`),
    baseAssetAmountFilled: number(BASE_UNITS),
    quoteAssetAmountFilled: number(QUOTE_UNITS),
    taker: key('user account'),
    takerOrderId: count('order id of the taker'),
    takerOrderDirection: choice(DIRECTIONS),
    takerOrderBaseAssetAmount: number(`0 without a taker order; ${BASE_UNITS}`),
    takerOrderCumulativeBaseAssetAmountFilled: number(BASE_UNITS),
    takerOrderCumulativeQuoteAssetAmountFilled: number(QUOTE_UNITS),
    maker: key('user account; absent when the AMM made the fill'),
    makerOrderId: count('order id of the maker'),
    makerOrderDirection: choice(DIRECTIONS),
    makerOrderBaseAssetAmount: number(`0 without a maker order; ${BASE_UNITS}`),
    makerOrderCumulativeBaseAssetAmountFilled: number(BASE_UNITS),
    makerOrderCumulativeQuoteAssetAmountFilled: number(QUOTE_UNITS),
    oraclePrice: number('quote per base in whole units'),
    referrerReward: number(`0 when none; ${QUOTE_UNITS}`),
    txSig: text('signature of the transaction, base58'),
    slot,
    fillRecordId,
    action: text('kind of record, for example fill'),
    actionExplanation: text('how it was filled, for example orderFilledWithMatch'),
    bitFlags: count('flags of the record'),
    makerIndicativeKey: key('the maker, when it quotes on the quote socket'),
  },
  {
    optional: [
      'filler',
      'taker',
      'takerOrderId',
      'takerOrderDirection',
      'maker',
      'makerOrderId',
      'makerOrderDirection',
      'makerIndicativeKey',
    ],
    description: 'a fill',
  },
);

export const CHANNEL_SCHEMAS = { Trade: trade };

/** A message to all subscribers of a channel. `data` is JSON text inside JSON. */
function dataMessage(summary: string, name: string, channel: string, data: JsonSchema): MessageContract {
  const payload = object({
    channel: { type: 'string', pattern: `^${channel}$`, description: name },
    data: jsonText(data, 'JSON as text'),
  });
  return { summary, payload };
}

const BOOK = `orderbook_${MARKET}_grouped_(?:${GROUPINGS.join('|')})`;

export const CHANNEL_REQUESTS: Readonly<Record<string, MessageContract>> = {
  subscribe: {
    summary: 'Subscribe to a channel of a market; the newest book follows at once, trades and fees as they occur',
    payload: inputSchema(channelMembers(['subscribe'], CHANNELS)),
    answeredBy: ['acknowledgement', 'error', 'orderbook', 'orderbookIndicative'],
  },
  unsubscribe: {
    summary: 'End a channel; no answer unless it cannot be resolved',
    payload: inputSchema(channelMembers(['unsubscribe'], CHANNELS)),
    answeredBy: ['error'],
  },
};

export const CHANNEL_MESSAGES: Readonly<Record<string, MessageContract>> = {
  acknowledgement: {
    summary: 'The subscribe is accepted; names are those the client sent',
    payload: object({ message: { type: 'string', pattern: '^Subscribe received for channel: ' } }),
  },
  error: {
    summary: 'A subscribe or unsubscribe failed; the connection stays open',
    payload: object({ channel: text('as the client sent it'), error: choice(Object.values(SOCKET_ERRORS)) }),
  },
  heartbeat: {
    summary: `Every ${HEARTBEAT_MS} ms to every connection, counted from its connect`,
    payload: object({ channel: { const: 'heartbeat' } }),
  },
  orderbook: dataMessage(
    'The whole grouped book, on change, at most once per tick (50 ms by default; ticks of all channels fall together)',
    'orderbook_<marketType>_<marketIndex>_grouped_<grouping>',
    BOOK,
    ref('L2Book'),
  ),
  orderbookIndicative: dataMessage(
    'The same with indicative quotes over it',
    'orderbook_<marketType>_<marketIndex>_grouped_<grouping>_indicative',
    `${BOOK}_indicative`,
    ref('L2Book'),
  ),
  trades: dataMessage('Each fill once', 'trades_<marketType>_<marketIndex>', `trades_${MARKET}`, ref('Trade')),
  priorityFees: dataMessage(
    'Fee levels at each refresh, changed or not',
    'priorityFees_<marketType>_<marketIndex>',
    `priorityFees_${MARKET}`,
    ref('FeeLevels'),
  ),
};
