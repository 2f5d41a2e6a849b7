import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readEndpoints, updateEndpoints } from './endpoints.ts';

describe('endpoints.json', () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(path.join(tmpdir(), 'slotbook-endpoints-'));
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  it('is empty without writers', () => {
    expect(readEndpoints(dir)).toEqual({});
  });

  it('keeps the entries of concurrent writers', async () => {
    const names = Array.from({ length: 30 }, (_, index) => `role${index}`);
    await Promise.all(names.map((name) => updateEndpoints(dir, { [name]: `http://${name}` })));
    expect(Object.keys(readEndpoints(dir)).sort()).toEqual([...names].sort());
  });

  it('removes only unchanged entries', async () => {
    await updateEndpoints(dir, { a: 'old', b: 'mine' });
    await updateEndpoints(dir, { a: 'new' });
    await updateEndpoints(dir, { a: 'old', b: 'mine' }, true);
    expect(readEndpoints(dir)).toEqual({ a: 'new' });
  });
});
