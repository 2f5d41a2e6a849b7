import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { inTestFolder } from './test-folder.mjs';

/** Where the folder of a run lies without a TMPDIR. */
async function folderOf(): Promise<string> {
  return inTestFolder(async ({ TMPDIR = '' }) => TMPDIR);
}

describe('the folder of a test run', () => {
  const given = process.env.TMPDIR;
  beforeEach(() => {
    delete process.env.TMPDIR;
    vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  });
  afterEach(() => {
    vi.restoreAllMocks();
    if (given === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = given;
  });

  it('exists during the run alone, also when the run fails', async () => {
    const seen: string[] = [];
    const run = async ({ TMPDIR = '' }) => {
      seen.push(TMPDIR);
      expect(existsSync(TMPDIR)).toBe(true);
      throw new Error('the tests failed');
    };
    await expect(inTestFolder(run)).rejects.toThrow('the tests failed');
    expect(seen.map((folder) => existsSync(folder))).toEqual([false]);
  });

  it('takes away what a killed run left, and leaves that of a running one', async () => {
    const parent = path.dirname(await folderOf());
    const ended = spawnSync(process.execPath, ['-e', '']).pid;
    const folders = [ended, process.ppid].map((pid) => mkdtempSync(path.join(parent, `slotbook-tests-${pid}-`)));
    await folderOf();
    expect(folders.map((folder) => existsSync(folder))).toEqual([false, true]);
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  });

  it('is not made where TMPDIR is set', async () => {
    process.env.TMPDIR = '/somewhere';
    const environment = await inTestFolder(async (one) => one);
    expect(environment).toEqual({});
  });
});
