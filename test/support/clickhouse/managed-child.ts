// Finds the process of the managed child, for tests that kill it. Linux only.

import { readdirSync, readFileSync } from 'node:fs';

/** Process id of the child with a data directory on its command line. Throws when there is none. */
export function managedChildPid(dataDir: string): number {
  const found = readdirSync('/proc').find((name) => {
    if (!/^\d+$/.test(name)) return false;
    const words = commandLine(name);
    return words.includes(dataDir) && words.includes('clickhouse/child.ts');
  });
  if (found === undefined) throw new Error(`no managed ClickHouse runs on ${dataDir}`);
  return Number(found);
}

/** Empty for an ended process. */
function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
