// One use of a signature in real processes over one embedded log.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { readConfig } from '../../../platform/index.ts';
import { TestKey } from '../../../test/support/api/quote-maker.ts';
import { rawRequest, signedHeaders } from '../../../test/support/api/wallet-requests.ts';
import { startClaimer } from '../../../test/support/log/processes.ts';

const NOW = 1_780_000_000;
const REQUESTS = 25;
const PATIENCE_MS = 180_000;

const dataDir = mkdtempSync(path.join(tmpdir(), 'slotbook-claims-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

it(
  'a signature is admitted by one of two processes, and by none that starts after a kill',
  async () => {
    const config = readConfig({}, { dataDir });
    const key = new TestKey();
    const requests = Array.from({ length: REQUESTS }, () => rawRequest(signedHeaders(key, NOW)).rawHeaders);
    const two = [1, 2].map(() => startClaimer({ config, requests, nowS: NOW }));
    await Promise.all(two.map((child) => child.printed(REQUESTS + 1)));
    for (let at = 1; at <= REQUESTS; at += 1) {
      expect(two.map(({ lines }) => lines[at]).sort()).toEqual(['admitted', 'walletReplayed']);
    }
    await Promise.all(two.map((child) => child.kill()));
    const later = startClaimer({ config, requests, nowS: NOW });
    await later.done();
    expect(later.lines).toEqual(['ready', ...Array(REQUESTS).fill('walletReplayed')]);
  },
  PATIENCE_MS,
);
