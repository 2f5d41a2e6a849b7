// Funding rates of other venues. A file of the deployment names the venues and the members of their answers; the code names
// none.

import { readFileSync } from 'node:fs';
import { divideRounded, wholeUnits } from '../http/units.ts';

/** Limit for the answer of a venue. */
const TIMEOUT_MS = 3_000;
const HOURS_PER_YEAR = 8_760;
const MS_PER_S = 1000;
/** Larger times are in milliseconds. */
const MAX_SECONDS = 100_000_000_000;
const RATE_DECIMALS = 12;

/** One venue of the file. `records`, `asset`, ... are member paths separated by dots. */
export interface FundingVenue {
  readonly venue: string;
  readonly url: string;
  /** Path of the list in the answer; empty when the answer is the list. */
  readonly records: string;
  readonly asset: string;
  /** Path of the rate, a fraction of the notional per interval. */
  readonly fundingRate: string;
  /** Hours between payments. */
  readonly intervalHours: number;
  /** Path of the Unix time, seconds or milliseconds; empty for the time of the request. */
  readonly ts: string;
  /** Our asset names by the venue's names; other assets are left out. Absent: all assets under the venue's names. */
  readonly assets?: Readonly<Record<string, string>>;
}

export interface ExternalRate {
  readonly asset: string;
  readonly venue: string;
  /** Percent per interval. */
  readonly fundingRate: number;
  readonly intervalHours: number;
  readonly annualisedPercent: number;
  /** Unix seconds. */
  readonly ts: number;
}

/** Reads the venues of a file; an empty path gives none. Throws when the file is unreadable or a venue lacks a member. */
export function readVenues(path: string): readonly FundingVenue[] {
  if (path === '') return [];
  const venues: unknown = JSON.parse(readFileSync(path, 'utf8'));
  if (!Array.isArray(venues) || !venues.every(isVenue)) throw new Error(`not a list of funding venues: ${path}`);
  return venues;
}

function isVenue(value: unknown): value is FundingVenue {
  const venue = value as Partial<FundingVenue> | null;
  const texts = [venue?.venue, venue?.url, venue?.records, venue?.asset, venue?.fundingRate, venue?.ts];
  return texts.every((text) => typeof text === 'string') && (venue?.intervalHours ?? 0) > 0;
}

/** Rates of all venues that answered, sorted by asset, then venue. */
export async function externalRates(venues: readonly FundingVenue[], now: number): Promise<readonly ExternalRate[]> {
  const answers = await Promise.all(venues.map((venue) => ratesOfVenue(venue, now).catch(() => [])));
  return answers.flat().sort((a, b) => compare(a.asset, b.asset) || compare(a.venue, b.venue));
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

async function ratesOfVenue(venue: FundingVenue, now: number): Promise<readonly ExternalRate[]> {
  const answer = await fetch(venue.url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!answer.ok) return [];
  const list = memberOf(await answer.json(), venue.records);
  return Array.isArray(list) ? list.flatMap((record: unknown) => rateOf(venue, record, now) ?? []) : [];
}

function rateOf(venue: FundingVenue, record: unknown, now: number): ExternalRate | null {
  const name = String(memberOf(record, venue.asset));
  const asset = venue.assets ? venue.assets[name] : name;
  const fraction = numberOf(memberOf(record, venue.fundingRate));
  const time = venue.ts === '' ? now : numberOf(memberOf(record, venue.ts));
  if (asset === undefined || fraction === null || time === null) return null;
  // Integer arithmetic keeps 0.0001 at exactly 0.01 %.
  const percent = scaled(fraction) * 100n;
  const yearly = divideRounded(percent * scaled(HOURS_PER_YEAR), scaled(venue.intervalHours));
  return {
    asset,
    venue: venue.venue,
    fundingRate: wholeUnits(percent, RATE_DECIMALS),
    intervalHours: venue.intervalHours,
    annualisedPercent: wholeUnits(yearly, RATE_DECIMALS),
    ts: Math.floor(time > MAX_SECONDS ? time / MS_PER_S : time),
  };
}

/** An integer of RATE_DECIMALS. */
function scaled(value: number): bigint {
  return BigInt(Math.round(value * 10 ** RATE_DECIMALS));
}

/** The number of a member or of its text; null where the venue gives none. */
function numberOf(member: unknown): number | null {
  const isText = typeof member === 'string' && member.trim() !== '';
  const number = isText || typeof member === 'number' ? Number(member) : Number.NaN;
  return Number.isFinite(number) ? number : null;
}

function memberOf(value: unknown, path: string): unknown {
  if (path === '') return value;
  return path.split('.').reduce<unknown>((at, name) => (at as Record<string, unknown> | null)?.[name], value);
}
