// What a client message to the `book` channel means. Pure: refusals are values of the error table.

import type { BookPosition, MarketRef, MarketType } from '../../../schemas/index.ts';
import type { BookFeedErrorCode } from '../../errors.ts';
import type { MarketRegistry } from '../../views/registry.ts';
import { CHECKSUM_LEVELS, CHECKSUM_LEVELS_MAX, CONFLATIONS_MS, DEPTH_MAX, ID_LENGTH_MAX } from './limits.ts';

/** Every choice of a subscription but the market: equal ones share a stream. */
export interface StreamSpec {
  readonly level: 'l2' | 'l3';
  /** Price levels per side; null = all. */
  readonly depth: number | null;
  readonly conflationMs: number;
  /** Levels per side under the checksum; 0 = none. */
  readonly checksumLevels: number;
}

/** One market, or every market of the kinds. */
export type Target = { readonly market: MarketRef } | { readonly every: readonly MarketType[] };

export type RequestId = string | number | undefined;

export interface BookSubscription {
  readonly target: Target;
  readonly spec: StreamSpec;
  /** Where the client stands in a stream; null when it does not say. */
  readonly positionOf: (stream: string) => BookPosition | null;
}

/** Members that are undefined match any stream. */
export interface BookUnsubscription {
  readonly target: Target;
  readonly spec: { readonly [K in keyof StreamSpec]: StreamSpec[K] | undefined };
}

export type BookRequest =
  | ({ readonly is: 'subscribe'; readonly id: RequestId } & BookSubscription)
  | ({ readonly is: 'unsubscribe'; readonly id: RequestId } & BookUnsubscription)
  | { readonly is: 'error'; readonly id: RequestId; readonly code: BookFeedErrorCode };

type Members = Readonly<Record<string, unknown>>;

class Refusal extends Error {
  readonly code: BookFeedErrorCode;

  constructor(code: BookFeedErrorCode) {
    super(code);
    this.code = code;
  }
}

/** Name of a stream: market and level, then every choice that is not the default. */
export function streamName({ marketType, marketIndex }: MarketRef, spec: StreamSpec): string {
  const { level, depth, conflationMs, checksumLevels } = spec;
  const choices = [
    depth === null ? '' : `_d${depth}`,
    conflationMs === 0 ? '' : `_c${conflationMs}`,
    checksumLevels === 0 ? '' : `_k${checksumLevels}`,
  ];
  return `${marketType}_${marketIndex}_${level}${choices.join('')}`;
}

/** Reads a subscribe or unsubscribe of the `book` channel. */
export function readBookRequest(
  action: 'subscribe' | 'unsubscribe',
  message: Members,
  markets: MarketRegistry,
): BookRequest {
  const id = readId(message.id);
  try {
    const target = readTarget(message, markets);
    if (action === 'unsubscribe') return { is: 'unsubscribe', id, target, spec: readChoices(message) };
    const { level = 'l2', depth = null, conflationMs = 0, checksumLevels = 0 } = readChoices(message);
    const spec: StreamSpec = { level, depth, conflationMs, checksumLevels };
    return { is: 'subscribe', id, target, spec, positionOf: readResume(message.resume, 'every' in target) };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { is: 'error', id, code: error.code };
  }
}

function readId(value: unknown): RequestId {
  if (typeof value === 'string') return value.slice(0, ID_LENGTH_MAX);
  return typeof value === 'number' ? value : undefined;
}

function readTarget({ market, marketType }: Members, markets: MarketRegistry): Target {
  const type = typeof marketType === 'string' ? marketType.toLowerCase() : marketType;
  if (type !== undefined && type !== 'perp' && type !== 'spot' && !(market === '*' && type === '*')) {
    throw new Refusal('market');
  }
  if (market === '*') return { every: type === 'perp' || type === 'spot' ? [type] : ['perp', 'spot'] };
  if (typeof market !== 'string') throw new Refusal('market');
  const found = markets.byName(market, type === 'spot' ? 'spot' : 'perp');
  if (!found) throw new Refusal('market');
  return { market: { marketType: found.marketType, marketIndex: found.marketIndex } };
}

function readChoices(message: Members): BookUnsubscription['spec'] {
  return {
    level: readLevel(message.level),
    depth: readDepth(message.depth),
    conflationMs: readConflation(message.conflation),
    checksumLevels: readChecksum(message.checksum),
  };
}

function readLevel(value: unknown): 'l2' | 'l3' | undefined {
  if (value === undefined) return undefined;
  const level = typeof value === 'string' ? value.toLowerCase() : value;
  if (level === 'l2' || level === 'l3') return level;
  throw new Refusal('level');
}

function readDepth(value: unknown): number | undefined {
  if (value === undefined) return undefined;
  if (!isWholeNumber(value) || value < 1 || value > DEPTH_MAX) throw new Refusal('depth');
  return value;
}

function readConflation(value: unknown): number | undefined {
  if (value === undefined) return undefined;
  const found = CONFLATIONS_MS.find((conflation) => conflation === value);
  if (found === undefined) throw new Refusal('conflation');
  return found;
}

function readChecksum(value: unknown): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value === 'boolean') return value ? CHECKSUM_LEVELS : 0;
  if (!isWholeNumber(value) || value < 1 || value > CHECKSUM_LEVELS_MAX) throw new Refusal('checksum');
  return value;
}

function readResume(value: unknown, isEvery: boolean): BookSubscription['positionOf'] {
  if (value === undefined) return () => null;
  if (!isEvery) {
    const position = readPosition(value);
    return () => position;
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Refusal('resume');
  const byStream = new Map(Object.entries(value).map(([stream, position]) => [stream, readPosition(position)]));
  return (stream) => byStream.get(stream) ?? null;
}

function readPosition(value: unknown): BookPosition {
  const { epoch, seq } = typeof value === 'object' && value !== null ? (value as Members) : {};
  if (!isWholeNumber(epoch) || !isWholeNumber(seq) || epoch < 0 || seq < 0) throw new Refusal('resume');
  return { epoch, seq };
}

function isWholeNumber(value: unknown): value is number {
  return Number.isSafeInteger(value);
}
