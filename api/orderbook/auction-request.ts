// What the parameters of /auctionParams mean: their checks in order, and how leniently each is read (reference 1.9).

import { type AuctionRequest, U64_MAX } from '../../processors/book/index.ts';
import type { MarketRef } from '../../schemas/index.ts';
import { type AuctionFailure, OrderbookError } from '../errors.ts';
import { lenientInteger, parameter, type Query } from '../lenient.ts';
import { BYTE_MAX } from './limits.ts';

/** A request that is well formed but leads to no order; answered as JSON. */
export class AuctionRequestError extends Error {
  override readonly name = 'AuctionRequestError';
  readonly code: AuctionFailure;

  constructor(code: AuctionFailure) {
    super(code);
    this.code = code;
  }
}

const REQUIRED = ['marketIndex', 'marketType', 'direction', 'amount', 'assetType'] as const;
const DEFAULT_VERSION = 1;
const MARKET_BASED = 'marketBased';

export interface ParsedAuctionRequest {
  readonly market: MarketRef;
  /** Reads the amounts; deferred, because an unknown market is told first. Throws AuctionRequestError. */
  readonly order: () => AuctionRequest;
}

/** Throws OrderbookError with the text of the first check that fails. */
export function parseAuctionRequest(query: Query): ParsedAuctionRequest {
  const given = REQUIRED.map((name) => parameter(query, name) ?? '');
  if (given.includes('')) throw new OrderbookError('auctionMissing');
  const [index = '', type = '', direction, amount = '', assetType] = given;
  const marketIndex = lenientInteger(index);
  if (marketIndex === null) throw new OrderbookError('auctionIndexNotANumber');
  if (direction !== 'long' && direction !== 'short') throw new OrderbookError('auctionDirectionUnknown');
  if (assetType !== 'base' && assetType !== 'quote') throw new OrderbookError('auctionAssetTypeUnknown');
  const marketType = type.toLowerCase() === 'spot' ? 'spot' : 'perp';
  return {
    market: { marketType, marketIndex },
    order: () => ({
      version: lenientInteger(parameter(query, 'version')) ?? DEFAULT_VERSION,
      direction,
      amount: orderSize(amount),
      assetType,
      ...options(query),
    }),
  };
}

type Options = Omit<AuctionRequest, 'version' | 'direction' | 'amount' | 'assetType'>;

function options(query: Query): Options {
  const text = (name: string): string | undefined => parameter(query, name);
  return present({
    reduceOnly: flag(text('reduceOnly')),
    allowInfSlippage: flag(text('allowInfSlippage')),
    forceUpToSlippage: flag(text('forceUpToSlippage')),
    isOracleOrder: flag(text('isOracleOrder')),
    slippagePercent: decimal(text('slippageTolerance')), // `dynamic` is no number, so it is absent
    auctionDuration: byte(text('auctionDuration')),
    startOffset: decimal(text('auctionStartPriceOffset')),
    endOffset: decimal(text('auctionEndPriceOffset')),
    startFrom: marketBased(text('auctionStartPriceOffsetFrom')),
    endFrom: text('auctionEndPriceOffsetFrom') || undefined,
    endBuffer: integerText(text('additionalEndPriceBuffer'), signedInteger),
    maxLeverageSize: flag(text('maxLeverageSelected'))
      ? integerText(text('maxLeverageOrderSize'), orderSize)
      : undefined,
    userOrderId: byte(text('userOrderId')),
  });
}

/** Leaves out members that are undefined. */
function present(values: { readonly [K in keyof Options]: Options[K] | undefined }): Options {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
}

/** `true` and `1` are true, any other text is false. */
function flag(text: string | undefined): boolean | undefined {
  return text === undefined ? undefined : text === 'true' || text === '1';
}

/** The number a text begins with; undefined when there is none, or none that is finite. */
function decimal(text: string | undefined): number | undefined {
  const value = Number.parseFloat(text ?? '');
  return Number.isFinite(value) ? value : undefined;
}

/** A member that an order carries as one byte. */
function byte(text: string | undefined): number | undefined {
  const value = decimal(text);
  if (value === undefined) return undefined;
  const cut = Math.trunc(value);
  if (cut < 0 || cut > BYTE_MAX) throw new AuctionRequestError('outOfRange');
  return cut === 0 ? 0 : cut; // never -0
}

/** The literal `marketBased` means the same as no value. */
function marketBased(text: string | undefined): string | undefined {
  return text === '' || text === MARKET_BASED ? undefined : text;
}

function integerText(text: string | undefined, read: (text: string) => bigint): bigint | undefined {
  return text === undefined || text === '' ? undefined : read(text);
}

function orderSize(text: string): bigint {
  if (!/^\d{1,20}$/.test(text)) throw new AuctionRequestError('notAnInteger');
  const value = BigInt(text);
  if (value > U64_MAX) throw new AuctionRequestError('outOfRange');
  return value;
}

function signedInteger(text: string): bigint {
  if (!/^-?\d{1,19}$/.test(text)) throw new AuctionRequestError('notAnInteger');
  return BigInt(text);
}
