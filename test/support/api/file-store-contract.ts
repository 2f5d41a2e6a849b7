// The promises of api/history/exports/stores/port.ts, for each adapter.

import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { expect, it } from 'vitest';
import { type FileStore, fileNameOf } from '../../../api/history/exports/stores/port.ts';

export interface StoreUnderTest {
  readonly store: FileStore;
  /** Body of a download URL as a client gets it, or the status of its refusal. */
  download(url: string): Promise<{ readonly status: number; readonly body: Buffer; readonly disposition: string }>;
  /** Names of everything that a job left behind, finished or not. */
  traces(requestId: string): Promise<readonly string[]>;
}

/** More than two parts of a multipart upload. */
const LARGE_BYTES = 20 * 1024 * 1024;
const CLAIM_BYTES = 16;

export const nowS = (): number => Math.floor(Date.now() / 1000);
const running = (): AbortSignal => new AbortController().signal;
const newFile = () => {
  const requestId = randomUUID();
  return { requestId, name: fileNameOf(requestId, randomBytes(CLAIM_BYTES).toString('hex')) };
};
const sha = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

export function describeFileStore(subject: () => StoreUnderTest): void {
  const request = { saveAs: 'trades-2026-01-01-2026-06-30.csv.gz', validS: 60, origin: 'http://service.test' };
  const urlOf = (name: string, changed: Partial<typeof request & { nowS: number }> = {}) =>
    subject().store.url(name, { ...request, nowS: nowS(), ...changed });

  it('gives back what was stored, under the name to save it as', async () => {
    for (const body of [Buffer.from('one'), randomBytes(LARGE_BYTES)]) {
      const { name } = newFile();
      const chunks = Array.from({ length: Math.ceil(body.length / 65_536) }, (_, at) =>
        body.subarray(at * 65_536, (at + 1) * 65_536),
      );
      await subject().store.put(name, Readable.from(chunks), running());
      const found = await subject().download(await urlOf(name));
      expect([found.status, sha(found.body)]).toEqual([200, sha(body)]);
      expect(found.disposition).toBe(`attachment; filename=${request.saveAs}`);
    }
  });

  it('has no readable file when the body fails', async () => {
    const { name, requestId } = newFile();
    const failing = Readable.from(
      (async function* () {
        yield randomBytes(LARGE_BYTES);
        throw new Error('the rows failed');
      })(),
    );
    await expect(subject().store.put(name, failing, running())).rejects.toThrow('the rows failed');
    expect((await subject().download(await urlOf(name))).status).toBe(404);
    await subject().store.remove(requestId);
    expect(await subject().traces(requestId)).toEqual([]);
  });

  it('has no readable file when it is aborted', async () => {
    const { name, requestId } = newFile();
    const abort = new AbortController();
    const endless = Readable.from(
      (async function* () {
        for (let at = 0; ; at++) {
          if (at === 12) abort.abort();
          yield randomBytes(1024 * 1024);
        }
      })(),
    );
    await expect(subject().store.put(name, endless, abort.signal)).rejects.toThrow();
    expect((await subject().download(await urlOf(name))).status).toBe(404);
    await subject().store.remove(requestId);
    expect(await subject().traces(requestId)).toEqual([]);
  });

  it('removes every file of a job, and no other', async () => {
    const [one, other] = [newFile(), newFile()];
    const second = fileNameOf(one.requestId, randomBytes(CLAIM_BYTES).toString('hex'));
    for (const name of [one.name, second, other.name]) {
      await subject().store.put(name, Readable.from([Buffer.from(name)]), running());
    }
    await subject().store.remove(one.requestId);
    await subject().store.remove(one.requestId);
    const statuses = [one.name, second, other.name].map(async (name) => {
      return (await subject().download(await urlOf(name))).status;
    });
    expect(await Promise.all(statuses)).toEqual([404, 404, 200]);
    expect(await subject().traces(one.requestId)).toEqual([]);
  });

  it('refuses a URL whose time is over', async () => {
    const { name } = newFile();
    await subject().store.put(name, Readable.from([Buffer.from('one')]), running());
    const old = await urlOf(name, { nowS: nowS() - 120, validS: 60 });
    expect((await subject().download(old)).status).toBe(403);
    expect((await subject().download(await urlOf(name, { nowS: nowS() - 120, validS: 600 }))).status).toBe(200);
  });

  it('refuses a URL that was changed in any part', async () => {
    const [own, other] = [newFile(), newFile()];
    for (const { name } of [own, other]) {
      await subject().store.put(name, Readable.from([Buffer.from(name)]), running());
    }
    const url = await urlOf(own.name);
    const changed = [
      url.replace(own.name, other.name),
      url.replace(/(expires=|X-Amz-Expires=)(\d+)/i, (_, member, value) => `${member}${Number(value) + 600}`),
      url.replace(/(signature=)([0-9a-f]{2})/i, (_, member, digits) => `${member}${digits === 'ff' ? '00' : 'ff'}`),
      url.replace(/signature=[0-9a-f]+/i, ''),
      url.replace(/signature=[0-9a-f]+/i, 'signature='),
    ];
    for (const one of changed) {
      expect(one).not.toBe(url);
      expect((await subject().download(one)).status).toBeGreaterThanOrEqual(400);
    }
    expect((await subject().download(url)).body.toString()).toBe(own.name);
  });
}
