// Finds circles of imports between the folders of a room. Lint refuses circles of files.

import path from 'node:path';
import { parseSync } from 'vite';

export interface Source {
  /** Relative to the root of the repository. */
  readonly file: string;
  readonly text: string;
}

/** Imports between two folders of one room. */
interface Edge {
  readonly from: string;
  readonly to: string;
  /** `<file> imports <file>`. */
  readonly imports: string[];
}

/** Relative paths that a module imports or exports again, of types too. */
export function importsOf({ file, text }: Source): readonly string[] {
  const { module } = parseSync(file, text);
  const requests = [
    ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...module.staticExports.flatMap(({ entries }) => entries.map(({ moduleRequest }) => moduleRequest?.value ?? '')),
    ...module.dynamicImports.map(({ moduleRequest: { start, end } }) => text.slice(start + 1, end - 1)),
  ];
  return [...new Set(requests)].filter((request) => request.startsWith('.'));
}

/** The direct folder of a room that has the file; null for a file of the room itself. */
function folderOf(file: string): string | null {
  const [room, folder, below] = file.split('/');
  return below === undefined ? null : `${room}/${folder}`;
}

const roomOf = (folder: string) => path.posix.dirname(folder);

function edgesOf(sources: readonly Source[]): readonly Edge[] {
  const edges = new Map<string, Edge>();
  for (const source of sources) {
    const from = folderOf(source.file);
    if (from === null) continue;
    for (const request of importsOf(source)) {
      const imported = path.posix.join(path.posix.dirname(source.file), request);
      const to = folderOf(imported);
      if (to === null || to === from || roomOf(to) !== roomOf(from)) continue;
      const edge = edges.get(`${from} ${to}`) ?? { from, to, imports: [] };
      edges.set(`${from} ${to}`, edge);
      edge.imports.push(`${source.file} imports ${imported}`);
    }
  }
  return [...edges.values()];
}

/** Folders that a folder imports, directly or through others. */
function reachedFrom(start: string, edges: readonly Edge[]): ReadonlySet<string> {
  const reached = new Set<string>();
  const open = [start];
  for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
    for (const { from, to } of edges) {
      if (from !== folder || reached.has(to)) continue;
      reached.add(to);
      open.push(to);
    }
  }
  return reached;
}

/**
 * The imports between folders that reach each other, as `<folder> -> <folder>: <file> imports <file>`. The rarest direction comes first,
 * because it is the one to remove.
 */
export function circularImports(sources: readonly Source[]): readonly string[] {
  const edges = edgesOf(sources);
  return edges
    .filter(({ from, to }) => reachedFrom(to, edges).has(from))
    .sort((left, right) => left.imports.length - right.imports.length)
    .flatMap(({ from, to, imports }) => imports.map((one) => `${from} -> ${to}: ${one}`));
}
