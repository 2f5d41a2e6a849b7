// Reads the Prometheus text format as far as the status view needs it: samples with their labels.

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/;
const LABEL = /([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g;
const ESCAPES: Readonly<Record<string, string>> = { n: '\n' };

export function parseMetrics(text: string): readonly Sample[] {
  return text.split('\n').flatMap((line) => {
    const [, name, labels = '', value] = LINE.exec(line) ?? [];
    return name === undefined || value === undefined ? [] : [{ name, labels: labelsOf(labels), value: Number(value) }];
  });
}

function labelsOf(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    [...text.matchAll(LABEL)].map(([, name = '', value = '']) => [
      name,
      value.replace(/\\(.)/g, (_, letter: string) => ESCAPES[letter] ?? letter),
    ]),
  );
}

/** Sum over all samples of a name; null when there is none. */
export function total(
  samples: readonly Sample[],
  name: string,
  labels: Readonly<Record<string, string>> = {},
): number | null {
  const found = samples.filter(
    (sample) => sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
  );
  return found.length === 0 ? null : found.reduce((sum, { value }) => sum + value, 0);
}

/** Sums by the value of one label, largest first. */
export function totalsBy(samples: readonly Sample[], name: string, label: string): readonly [string, number][] {
  const sums = new Map<string, number>();
  for (const sample of samples) {
    if (sample.name !== name) continue;
    const key = sample.labels[label] ?? '';
    sums.set(key, (sums.get(key) ?? 0) + sample.value);
  }
  return [...sums].sort(([, left], [, right]) => right - left);
}
