import { expect, it } from 'vitest';
import { type Candidate, compareCandidates, compareVersions } from './marks.ts';

it('orders versions by number: missing ones first, a release after its candidates', () => {
  const ordered = [null, '0.9.0', '0.10.0', '1.0.0-rc.2', '1.0.0-rc.10', '1.0.0', '1.0.1'];
  for (const [at, older] of ordered.entries()) {
    expect(compareVersions(older, older)).toBe(0);
    for (const newer of ordered.slice(at + 1)) {
      expect(compareVersions(newer, older), `${newer} over ${older}`).toBeGreaterThan(0);
      expect(compareVersions(older, newer), `${older} under ${newer}`).toBeLessThan(0);
    }
  }
});

it('orders processes of one version by their start', () => {
  const process = (version: string, startedMs: number): Candidate => ({
    host: 'box',
    pid: 1,
    version,
    startedMs,
    machine: null,
  });
  expect(compareCandidates(process('1.0.0', 2), process('1.0.0', 1))).toBeGreaterThan(0);
  expect(compareCandidates(process('1.0.0', 2), process('1.0.1', 1))).toBeLessThan(0);
  expect(compareCandidates(null, process('0.0.1', 0))).toBeLessThan(0);
});
