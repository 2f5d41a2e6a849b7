// Gives back resident pages of a file that is mapped for reading. lmdb reads through a map of its whole file, and every
// page once read counts as memory of the process for as long as nobody else wants it; Node has no call to say otherwise.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

type Ffi = typeof import('ffi-rs');

const LIBRARY = 'c';
/** linux/mman.h: drop the pages of this range from the process; a later read takes them from the page cache again. */
const MADV_DONTNEED = 4;
/** A line of /proc/self/maps: range, permissions (a shared map that only reads), and at its end the path. */
const READING = /^([0-9a-f]+)-([0-9a-f]+) r--s /;

let ffi: Ffi | null | undefined;

/** False where it cannot be done. The map is shared and only read, so nothing can be lost. */
export function giveBackMapped(path: string): boolean {
  ffi ??= loadFfi();
  if (ffi === null) return false;
  const { DataType, load } = ffi;
  let done = false;
  for (const line of readFileSync('/proc/self/maps', 'utf8').split('\n')) {
    if (!line.endsWith(` ${path}`)) continue;
    const range = READING.exec(line);
    if (range === null) continue;
    const [from, to] = [Number(`0x${range[1]}`), Number(`0x${range[2]}`)];
    const result = load({
      library: LIBRARY,
      funcName: 'madvise',
      retType: DataType.I32,
      paramsType: [DataType.U64, DataType.U64, DataType.I32],
      paramsValue: [from, to - from, MADV_DONTNEED],
    });
    done ||= result === 0;
  }
  return done;
}

function loadFfi(): Ffi | null {
  if (process.platform !== 'linux') return null;
  try {
    const loaded = createRequire(import.meta.url)('ffi-rs') as Ffi;
    // No path: what the process has loaded already, the C library among it.
    loaded.open({ library: LIBRARY, path: '' });
    return loaded;
  } catch {
    return null;
  }
}
