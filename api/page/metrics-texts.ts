// The metrics that the status view shows: of this process, and of the addresses in pageMetricsUrls.

import type { Registry } from '../../platform/index.ts';
import { errorText } from '../../platform/index.ts';

/** Stands for the process that serves the page. */
const OWN = 'own';
const TIMEOUT_MS = 3_000;
/** A process has about 150 KB of metrics. */
const BYTES_MAX = 4_000_000;

export interface MetricsText {
  /** `own`, or the address. */
  readonly process: string;
  /** Prometheus text; null with an error. */
  readonly text: string | null;
  readonly error: string | null;
}

/** The texts of all named processes. One that does not answer has an error instead. */
export function metricsTexts(named: string, own: Registry): Promise<readonly MetricsText[]> {
  const places = named.split(',').flatMap((place) => (place.trim() === '' ? [] : [place.trim()]));
  return Promise.all(places.map((place) => textOf(place, own)));
}

async function textOf(place: string, own: Registry): Promise<MetricsText> {
  try {
    const text = place === OWN ? await own.metrics() : await fetched(place);
    return { process: nameOf(place), text, error: null };
  } catch (error) {
    return { process: nameOf(place), text: null, error: errorText(error) };
  }
}

async function fetched(url: string): Promise<string> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!answer.ok) throw new Error(`answered ${answer.status}`);
  const text = await answer.text();
  if (text.length > BYTES_MAX) throw new Error(`answered more than ${BYTES_MAX} bytes`);
  return text;
}

/** An address without credentials. */
function nameOf(place: string): string {
  return URL.canParse(place) ? new URL(place).host : place;
}
