// The key that signs download URLs of the data directory. It stands beside the files, so every process that has the files has
// the key, and a URL outlives restarts.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

const KEY_FILE = 'url.key';
const SECRET_BYTES = 32;
const OWNER_ONLY = 0o600;

export class UrlKey {
  readonly #key: Uint8Array;

  private constructor(key: Uint8Array) {
    this.#key = key;
  }

  /** The key of a folder; makes it once. Rejects when the file has another size. */
  static async of(folder: string): Promise<UrlKey> {
    const file = path.join(folder, KEY_FILE);
    const key = (await readKeyFile(file)) ?? (await makeKeyFile(file));
    if (key.length !== SECRET_BYTES) throw new Error(`${file} is not a key of ${SECRET_BYTES} bytes`);
    return new UrlKey(key);
  }

  /** Signature of a file name and the end of its URL, Unix seconds. */
  sign(name: string, expires: number): string {
    return createHmac('sha256', this.#key).update(`${name}\n${expires}`).digest('hex');
  }

  /** Takes the same time for every wrong signature of the right length. */
  isSigned(name: string, expires: number, signature: string): boolean {
    const expected = Buffer.from(this.sign(name, expires));
    const given = Buffer.from(signature);
    return given.length === expected.length && timingSafeEqual(given, expected);
  }
}

async function readKeyFile(file: string): Promise<Uint8Array | null> {
  try {
    return await readFile(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/** Of several processes that make it at the same time, the first one does; no reader sees a part of it. */
async function makeKeyFile(file: string): Promise<Uint8Array> {
  const draft = `${file}.${randomBytes(8).toString('hex')}`;
  await writeFile(draft, randomBytes(SECRET_BYTES), { mode: OWNER_ONLY });
  try {
    await link(draft, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(draft, { force: true });
  }
  return readFile(file);
}
