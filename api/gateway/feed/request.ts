// Reads client messages to the `book` channel. Pure: refusals are values of the error table.

import { COMMITMENTS } from '../../../platform/index.ts';
import type { BookVersion, MarketRef, MarketType } from '../../../schemas/index.ts';
import { MARKET_TYPES } from '../../http/contract/books.ts';
import { type Given, givenMembers, type Member } from '../../http/contract/inputs.ts';
import { choice, type JsonSchema, nullable, record, ref } from '../../http/contract/json-schema.ts';
import { textMember, wordMember } from '../../http/contract/members.ts';
import type { BookFeedErrorCode } from '../../http/errors.ts';
import type { MarketRegistry } from '../../views/registry.ts';
import { CHECKSUM_LEVELS, CHECKSUM_LEVELS_MAX, CONFLATIONS_MS, DEPTH_MAX, ID_LENGTH_MAX } from './limits.ts';

/** Choices of a subscription except the market. Equal choices share a stream. */
export interface StreamSpec {
  readonly level: 'l2' | 'l3';
  /** Price levels per side; null = all. */
  readonly depth: number | null;
  readonly conflationMs: number;
  /** Price levels per side that the checksum covers; 0 = no checksum. */
  readonly checksumLevels: number;
  /** Each order names the transaction that last wrote it. Only for whole books of orders. */
  readonly hasCause: boolean;
  /** Absent: confirmed. */
  readonly commitment?: 'processed';
}

/** One market, or every market of these types. */
export type Target = { readonly market: MarketRef } | { readonly every: readonly MarketType[] };

export type RequestId = string | number | undefined;

export interface BookSubscription {
  readonly target: Target;
  readonly spec: StreamSpec;
  readonly resumeVersions: ResumeVersions;
}

/** Versions that the client holds: of the one stream, or by stream name; null without a resume. */
export type ResumeVersions = BookVersion | ReadonlyMap<string, BookVersion> | null;

/** Undefined members match any stream. */
export interface BookUnsubscription {
  readonly target: Target;
  readonly spec: { readonly [K in Exclude<keyof StreamSpec, 'commitment'>]: StreamSpec[K] | undefined };
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

/** The version that the client holds of a stream; null when the request names none. */
export function resumeVersionOf(versions: ResumeVersions, stream: string): BookVersion | null {
  return versions !== null && 'get' in versions ? (versions.get(stream) ?? null) : versions;
}

/** True for a conflated stream of the whole book, whose messages merge all changes of a tick. */
export function isConflatedWhole({ depth, conflationMs }: StreamSpec): boolean {
  return depth === null && conflationMs > 0;
}

/** Name of a stream: market and level, then every choice other than the default. */
export function streamName({ marketType, marketIndex }: MarketRef, spec: StreamSpec): string {
  const { level, depth, conflationMs, checksumLevels, hasCause, commitment } = spec;
  const choices = [
    depth === null ? '' : `_d${depth}`,
    conflationMs === 0 ? '' : `_c${conflationMs}`,
    checksumLevels === 0 ? '' : `_k${checksumLevels}`,
    hasCause ? '_cause' : '',
    commitment === undefined ? '' : `_${commitment}`,
  ];
  return `${marketType}_${marketIndex}_${level}${choices.join('')}`;
}

/** An optional member; null counts as absent, because typed clients send it. `read` returns null to refuse with `code`. */
function optional<T>(
  code: BookFeedErrorCode,
  schema: JsonSchema,
  read: (value: unknown) => T | null,
): Member<T | undefined> {
  return {
    isRequired: false,
    schema: nullable(schema),
    read: (value) => {
      if (value === undefined || value === null) return undefined;
      const found = read(value);
      if (found === null) throw new Refusal(code);
      return found;
    },
  };
}

const level = wordMember(['l2', 'l3'], 'price levels with sources, or orders in queue order; l2 when absent');
const marketType = wordMember([...MARKET_TYPES, '*'], 'perp when absent, with market * both; * only with market *');
const commitmentWord = wordMember(
  COMMITMENTS,
  'processed: earlier by one to three slots, and what abandoned slots brought is undone or withdrawn; confirmed when absent',
);
const id: Member<RequestId> = {
  isRequired: false,
  schema: {
    type: ['string', 'number', 'null'],
    description: `echoed in answers to the request; text is cut to ${ID_LENGTH_MAX} characters`,
  },
  read: (value) => {
    if (typeof value === 'string') return value.slice(0, ID_LENGTH_MAX);
    return typeof value === 'number' ? value : undefined;
  },
};

/** Members of every request of a sequenced channel beside type and channel. */
export const MARKET_MEMBERS = {
  market: textMember('symbol in any letter case, or *: every market, also later ones'),
  marketType: optional('market', marketType.schema, marketType.read),
  id,
};

/** Member of the requests of channels that exist at both commitments. */
export const commitment = optional(
  'commitment',
  commitmentWord.schema,
  (value) => commitmentWord.read(value)?.word ?? null,
);

const CHOICES = {
  ...MARKET_MEMBERS,
  level: optional('level', level.schema, (value) => level.read(value)?.word ?? null),
  depth: optional(
    'depth',
    { type: 'integer', minimum: 1, maximum: DEPTH_MAX, description: 'price levels per side; all when absent' },
    (value) => wholeNumber(value, 1, DEPTH_MAX),
  ),
  conflation: optional(
    'conflation',
    choice(CONFLATIONS_MS, 'milliseconds of a tick, which brings at most one change; 0, every change, when absent'),
    (value) => CONFLATIONS_MS.find((conflation) => conflation === value) ?? null,
  ),
  checksum: optional(
    'checksum',
    {
      description: `true: over the top ${CHECKSUM_LEVELS} levels; a number: over so many; none when absent`,
      anyOf: [{ type: 'boolean' }, { type: 'integer', minimum: 1, maximum: CHECKSUM_LEVELS_MAX }],
    },
    (value) => {
      if (typeof value === 'boolean') return value ? CHECKSUM_LEVELS : 0;
      return wholeNumber(value, 1, CHECKSUM_LEVELS_MAX);
    },
  ),
  cause: optional(
    'cause',
    {
      type: 'boolean',
      description: 'true: orders name the transaction that last wrote them; only with level l3 and without depth',
    },
    (value) => (typeof value === 'boolean' ? value : null),
  ),
  commitment,
};

/** Whether a request is for commitment processed. False for an unknown commitment, which its reader refuses. */
export function isForProcessed(message: Members): boolean {
  return commitmentWord.read(message.commitment)?.word === 'processed';
}

/** Id of a request of any channel. */
export function requestIdOf(message: Members): RequestId {
  return id.read(message.id);
}

/** Read in two steps: the form depends on the market, one version or versions by stream. */
export const resume: Member<(isEvery: boolean) => ResumeVersions> = {
  isRequired: false,
  schema: {
    description: 'the version that the client holds; with market * versions by stream name, as in the heartbeat',
    anyOf: [ref('BookVersion'), record(ref('BookVersion'), 'by stream name'), { type: 'null' }],
  },
  read: (value) => (isEvery) => readResume(value, isEvery),
};

const HEAD = { channel: wordMember(['book'], 'in any letter case') };
export const BOOK_SUBSCRIBE = { type: wordMember(['subscribe'], 'in any letter case'), ...HEAD, ...CHOICES, resume };
export const BOOK_UNSUBSCRIBE = { type: wordMember(['unsubscribe'], 'in any letter case'), ...HEAD, ...CHOICES };

/** Reads a subscribe or unsubscribe of the `book` channel. */
export function readBookRequest(
  action: 'subscribe' | 'unsubscribe',
  message: Members,
  markets: MarketRegistry,
): BookRequest {
  const given = givenMembers(BOOK_SUBSCRIBE, message);
  const requestId = given('id');
  try {
    const target = readTarget(given, markets);
    const spec = readChoices(given);
    const isProcessed = given('commitment') === 'processed';
    if (action === 'unsubscribe') return { is: 'unsubscribe', id: requestId, target, spec };
    const { level = 'l2', depth = null, conflationMs = 0, checksumLevels = 0, hasCause = false } = spec;
    if (hasCause && (level !== 'l3' || depth !== null)) throw new Refusal('cause');
    const base = { level, depth, conflationMs, checksumLevels, hasCause };
    const chosen: StreamSpec = isProcessed ? { ...base, commitment: 'processed' } : base;
    return { is: 'subscribe', id: requestId, target, spec: chosen, resumeVersions: given('resume')('every' in target) };
  } catch (error) {
    return { is: 'error', id: requestId, code: refusalOf(error) };
  }
}

/** The code of a refusal. Throws any other error again. */
export function refusalOf(error: unknown): BookFeedErrorCode {
  if (error instanceof Refusal) return error.code;
  throw error;
}

/** Throws a refusal (`refusalOf`) with the code `market`. */
export function readTarget(given: Given<typeof MARKET_MEMBERS>, markets: MarketRegistry): Target {
  const market = given('market');
  const type = given('marketType')?.word;
  if (type === null || (type === '*' && market !== '*') || market === null) throw new Refusal('market');
  if (market === '*') return { every: type === 'perp' || type === 'spot' ? [type] : MARKET_TYPES };
  const found = markets.byName(market, type === 'spot' ? 'spot' : 'perp');
  if (!found) throw new Refusal('market');
  return { market: { marketType: found.marketType, marketIndex: found.marketIndex } };
}

function readChoices(given: Given<typeof CHOICES>): BookUnsubscription['spec'] {
  return {
    level: given('level'),
    depth: given('depth'),
    conflationMs: given('conflation'),
    checksumLevels: given('checksum'),
    hasCause: given('cause'),
  };
}

function wholeNumber(value: unknown, min: number, max: number): number | null {
  return isWholeNumber(value) && value >= min && value <= max ? value : null;
}

function readResume(value: unknown, isEvery: boolean): ResumeVersions {
  if (value === undefined || value === null) return null;
  if (!isEvery) return readVersion(value);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Refusal('resume');
  return new Map(Object.entries(value).map(([stream, version]) => [stream, readVersion(version)]));
}

function readVersion(value: unknown): BookVersion {
  const { epoch, seq } = typeof value === 'object' && value !== null ? (value as Members) : {};
  if (!isWholeNumber(epoch) || !isWholeNumber(seq) || epoch < 0 || seq < 0) throw new Refusal('resume');
  return { epoch, seq };
}

function isWholeNumber(value: unknown): value is number {
  return Number.isSafeInteger(value);
}
