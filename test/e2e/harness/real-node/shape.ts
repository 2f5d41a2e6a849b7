// The shape of a JSON answer as lines `path: type`. Two nodes can be compared field by field, and a person can read a recorded
// shape.

export type Shape = readonly string[];

const NONE = 'empty list';

/** Sorted lines, one for each path and type. Items of a list share one path. Errors keep code and text, without numbers. */
export function shapeOf(value: unknown): Shape {
  const lines = new Set<string>();
  walk('', value, lines);
  return [...lines].sort();
}

function walk(path: string, value: unknown, lines: Set<string>): void {
  if (Array.isArray(value)) {
    if (value.length === 0) lines.add(`${path}: ${NONE}`);
    for (const item of value) walk(`${path}[]`, item, lines);
    return;
  }
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value);
    if (entries.length === 0) lines.add(`${path}: empty map`);
    for (const [name, inner] of entries) walk(path === '' ? name : `${path}.${name}`, inner, lines);
    return;
  }
  if (path === 'error.code' || path === 'error.message') lines.add(`${path} = ${spelled(String(value))}`);
  else lines.add(`${path}: ${value === null ? 'null' : typeof value}`);
}

/** A message without what differs between two nodes: keys, hashes and numbers. */
function spelled(text: string): string {
  return text.replaceAll(/[1-9A-HJ-NP-Za-km-z]{32,88}/g, 'KEY').replaceAll(/(?<![\w-])\d+/g, 'N');
}

/** Lines that one side has and the other lacks: `+` only the real node, `-` only the other. An empty list fits any list. */
export function differences(real: Shape, other: Shape): string[] {
  const missing = (from: Shape, side: Shape, sign: string): string[] => {
    const has = new Set(side);
    const empty = side.filter((line) => line.endsWith(`: ${NONE}`)).map((line) => line.slice(0, -`: ${NONE}`.length));
    return from
      .filter((line) => !has.has(line) && !empty.some((path) => line.startsWith(`${path}[]`)))
      .filter(
        (line) =>
          !(
            line.endsWith(`: ${NONE}`) && side.some((one) => one.startsWith(`${line.slice(0, -`: ${NONE}`.length)}[]`))
          ),
      )
      .map((line) => `${sign} ${line}`);
  };
  return [...missing(real, other, '+'), ...missing(other, real, '-')];
}
