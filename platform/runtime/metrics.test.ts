import { Counter, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { createMetrics, metricTotal, serveMetrics } from './metrics.ts';

describe('metrics', () => {
  it('serves the registry as Prometheus text and nothing else', async () => {
    const registry = createMetrics(['ingest']);
    new Counter({ name: 'slotbook_test_total', help: 'test', registers: [registry] }).inc(3);
    const server = await serveMetrics(registry, '127.0.0.1', 0);
    try {
      const text = await (await fetch(server.url)).text();
      expect(text).toContain('slotbook_test_total{roles="ingest"} 3');
      expect((await fetch(new URL('/other', server.url))).status).toBe(404);
    } finally {
      await server.stop();
    }
  });

  it('reports on /startup whether all roles run, and which ones write or stand by', async () => {
    let isStarted = false;
    let lines: string[] = [];
    const server = await serveMetrics(new Registry(), '127.0.0.1', 0, () => ({ isStarted, lines }));
    const ask = async () => {
      const answer = await fetch(new URL('/startup', server.url));
      return [answer.status, await answer.text()];
    };
    try {
      expect(await ask()).toEqual([500, 'Not ready']);
      isStarted = true;
      expect(await ask()).toEqual([200, 'OK']);
      lines = ['ingest writes', 'sink stands by'];
      expect(await ask()).toEqual([200, 'OK\ningest writes\nsink stands by']);
    } finally {
      await server.stop();
    }
  });

  it('rejects when the port is taken', async () => {
    const server = await serveMetrics(new Registry(), '127.0.0.1', 0);
    try {
      const port = Number(new URL(server.url).port);
      await expect(serveMetrics(new Registry(), '127.0.0.1', port)).rejects.toMatchObject({ code: 'EADDRINUSE' });
    } finally {
      await server.stop();
    }
  });

  it('totals a metric over its labels and answers 0 for one that does not exist', async () => {
    const registry = new Registry();
    const counter = new Counter({ name: 'c_total', help: 'c', labelNames: ['table'], registers: [registry] });
    counter.inc({ table: 'a' }, 2);
    counter.inc({ table: 'b' }, 5);
    expect(await metricTotal(registry, 'c_total')).toBe(7);
    expect(await metricTotal(registry, 'absent')).toBe(0);
  });
});
