// Statement files in the data directory. The history service sends them, for URLs that it has signed.

import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type FileStore, requestIdOf, type UrlRequest } from './port.ts';
import { UrlKey } from './url-key.ts';

/** Path of downloads, below the origin of the history service. */
export const DOWNLOAD_PATH = '/exports/files';
const UNFINISHED = '.part';

/** Why a download is refused. */
export type Refusal = 'badSignature' | 'expired' | 'gone';

export interface OpenFile {
  readonly bytes: number;
  readonly body: Readable;
}

export class FolderStore implements FileStore {
  readonly kind = 'folder';
  readonly #folder: string;
  readonly #key: UrlKey;

  private constructor(folder: string, key: UrlKey) {
    this.#folder = folder;
    this.#key = key;
  }

  static async open(folder: string): Promise<FolderStore> {
    await mkdir(folder, { recursive: true });
    return new FolderStore(folder, await UrlKey.of(folder));
  }

  async put(name: string, body: Readable, signal: AbortSignal): Promise<void> {
    const file = this.#place(name);
    const draft = `${file}${UNFINISHED}`;
    try {
      // `flush` writes it to the disk, so that the rename never leads to an empty file.
      await pipeline(body, createWriteStream(draft, { flush: true }), { signal });
      await rename(draft, file);
      await syncFolder(this.#folder);
    } catch (error) {
      await rm(draft, { force: true });
      throw error;
    }
  }

  async url(name: string, { nowS, validS, origin }: UrlRequest): Promise<string> {
    const expires = nowS + validS;
    const query = new URLSearchParams({ expires: String(expires), signature: this.#key.sign(name, expires) });
    return `${origin}${DOWNLOAD_PATH}/${encodeURIComponent(name)}?${query}`;
  }

  async remove(requestId: string): Promise<void> {
    const own = (await readdir(this.#folder)).filter((name) => {
      return requestIdOf(name.endsWith(UNFINISHED) ? name.slice(0, -UNFINISHED.length) : name) === requestId;
    });
    await Promise.all(own.map((name) => rm(path.join(this.#folder, name), { force: true })));
  }

  /** The file of a signed URL. `expires` and `nowS` are Unix seconds. The signature is checked first. */
  async read(name: string, expires: number, signature: string, nowS: number): Promise<OpenFile | Refusal> {
    if (requestIdOf(name) === null || !this.#key.isSigned(name, expires, signature)) return 'badSignature';
    if (nowS >= expires) return 'expired';
    try {
      const file = this.#place(name);
      const { size } = await stat(file);
      return { bytes: size, body: createReadStream(file) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 'gone';
      throw error;
    }
  }

  async close(): Promise<void> {}

  /** Throws for a name that `fileNameOf` does not make. */
  #place(name: string): string {
    if (requestIdOf(name) === null) throw new RangeError(`no file name of an export: ${JSON.stringify(name)}`);
    return path.join(this.#folder, name);
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
