import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeFileStore, nowS } from '../../../../test/support/api/file-store-contract.ts';
import { DOWNLOAD_PATH, FolderStore } from './folder.ts';
import { fileNameOf, requestIdOf } from './port.ts';

const STATUS = { badSignature: 403, expired: 403, gone: 404 } as const;
const ID = '01890a5d-ac96-774b-bcce-b302099a8057';
const CLAIM = '0123456789abcdef0123456789abcdef';

let folder: string;
let store: FolderStore;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'slotbook-exports-'));
  store = await FolderStore.open(path.join(folder, 'files'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** As the route of the history service reads a URL (its own tests are in ../routes.test.ts). */
async function download(url: string) {
  const { pathname, searchParams } = new URL(url);
  const name = decodeURIComponent(pathname.slice(DOWNLOAD_PATH.length + 1));
  const given = searchParams.get('signature') ?? '';
  const found = await store.read(name, Number(searchParams.get('expires')), given, nowS());
  if (typeof found === 'string') return { status: STATUS[found], body: Buffer.alloc(0), disposition: '' };
  const disposition = 'attachment; filename=trades-2026-01-01-2026-06-30.csv.gz';
  return { status: 200, body: await buffer(found.body), disposition };
}

describe('files in the data directory', () => {
  describeFileStore(() => ({
    store,
    download,
    traces: async (requestId) => (await readdir(path.join(folder, 'files'))).filter((name) => name.includes(requestId)),
  }));

  it('have one key for all processes, readable by its owner only', async () => {
    const place = path.join(folder, 'together');
    const all = await Promise.all(Array.from({ length: 8 }, () => FolderStore.open(place)));
    const request = { saveAs: 'x', nowS: 1_000, validS: 60, origin: '' };
    const urls = await Promise.all(all.map((one) => one.url(fileNameOf(ID, CLAIM), request)));
    expect(new Set(urls).size).toBe(1);
    expect(await readdir(place)).toEqual(['url.key']);
    expect((await stat(path.join(place, 'url.key'))).mode & 0o777).toBe(0o600);
  });

  it('refuse a key file of another size', async () => {
    const place = path.join(folder, 'short');
    await FolderStore.open(place);
    await writeFile(path.join(place, 'url.key'), 'short');
    await expect(FolderStore.open(place)).rejects.toThrow('not a key');
  });

  it.each(['../url.key', 'url.key', `${ID}.${CLAIM}.csv.gz/../url.key`, `../${ID}.${CLAIM}.csv.gz`, '', 'a\0b'])(
    'never lead outside: %j',
    async (name) => {
      expect(requestIdOf(name)).toBe(null);
      await expect(store.put(name, Readable.from(['x']), new AbortController().signal)).rejects.toThrow(RangeError);
      const url = await store.url(name, { saveAs: 'x', nowS: nowS(), validS: 60, origin: 'http://a.test' });
      const { searchParams } = new URL(url);
      const signed = searchParams.get('signature') ?? '';
      expect(await store.read(name, Number(searchParams.get('expires')), signed, nowS())).toBe('badSignature');
    },
  );
});
