import { Counter, Gauge, Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { createMetrics, metricTotal, serveMetrics } from './metrics.ts';
import { ProcessedMetrics } from './processed-metrics.ts';

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

  it('of the process are measured once, and in every registry under its own roles', async () => {
    const [ingest, book] = [createMetrics(['ingest']), createMetrics(['book'])];
    const name = 'nodejs_eventloop_lag_p99_seconds';
    expect(ingest.getSingleMetric(name)).toBe(book.getSingleMetric(name));
    expect(await ingest.metrics()).toContain(`${name}{roles="ingest"}`);
    expect(await book.metrics()).toContain(`${name}{roles="book"}`);
    expect(await ingest.metrics()).toContain(`${name}{roles="ingest"}`);
    new Counter({ name: 'slotbook_own_total', help: 'test', registers: [ingest] });
    expect(book.getSingleMetric('slotbook_own_total')).toBe(undefined);
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

  it('has metrics of books at processed beside those of the same names', async () => {
    const registry = new Registry();
    const processed = new ProcessedMetrics(registry);
    for (const [one, value] of [
      [registry, 1],
      [processed, 2],
    ] as const) {
      new Gauge({ name: 'slotbook_book_slot', help: 'slot', registers: [one] }).set(value);
      new Gauge({ name: 'dlob_slot', help: 'slot', registers: [one] }).set(value);
    }
    const text = await registry.metrics();
    for (const line of [
      'slotbook_book_slot 1',
      'slotbook_processed_book_slot 2',
      'dlob_slot 1',
      'slotbook_processed_dlob_slot 2',
      '# HELP slotbook_processed_dlob_slot slot, at processed',
    ]) {
      expect(text.split('\n')).toContain(line);
    }
    expect(await metricTotal(processed, 'slotbook_book_slot')).toBe(2);
  });
});
