// The password of the pipeline's own user on the managed child. One process makes it per data directory; all others read it.

import { randomBytes, randomUUID } from 'node:crypto';
import {
  chmodSync,
  closeSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';

const FILE = 'password';
const PASSWORD_BYTES = 32;
const OWNER_ONLY = 0o600;
const HEX = new RegExp(`^[0-9a-f]{${2 * PASSWORD_BYTES}}$`);

/** The pipeline's own user. The engine keeps `default` for the child's own session. */
export const PIPELINE_USER = 'slotbook';

/**
 * The password in `directory`; makes it when there is none. Only the owner may read the file. When several processes start at
 * once, one of them makes it. Throws when the file cannot be written or is damaged.
 */
export function pipelinePassword(directory: string): string {
  const known = readPassword(directory);
  if (known !== null) return known;
  mkdirSync(directory, { recursive: true });
  const file = path.join(directory, FILE);
  const draft = `${file}.${randomUUID()}`;
  const descriptor = openSync(draft, 'wx', OWNER_ONLY);
  try {
    writeSync(descriptor, `${randomBytes(PASSWORD_BYTES).toString('hex')}\n`);
    // An empty file after a power cut would lock everybody out.
    fsyncSync(descriptor);
    // Fails when another process was first, so no process reads a password that changes later.
    linkSync(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    closeSync(descriptor);
    rmSync(draft, { force: true });
  }
  const made = readPassword(directory);
  if (made === null) throw new Error(`${file} has disappeared`);
  return made;
}

/** The password in `directory`; null when there is none. Throws when the file is damaged. */
export function readPassword(directory: string): string | null {
  const file = path.join(directory, FILE);
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trim();
    chmodSync(file, OWNER_ONLY);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  if (!HEX.test(text)) throw new Error(`${file} holds no password: stop all processes, remove it, and start again`);
  return text;
}
