// The files of this checkout.

import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** Tracked files and new ones that git does not ignore, below the root. */
export function repositoryFiles(): readonly string[] {
  const options = { cwd: ROOT, encoding: 'utf8' } as const;
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], options);
  const removed = new Set(execFileSync('git', ['ls-files', '--deleted'], options).split('\n'));
  return listed.split('\n').filter((file) => file !== '' && !removed.has(file));
}
