// The gauge `health_status` with the codes of docs/internals/order-book-server.md, "Health". It combines all roles of
// the process.
import { Gauge, type Registry } from 'prom-client';
import { TermMetrics } from './term-metrics.ts';

const NAME = 'health_status';

/** The predecessor's codes 1 (stale loader) and 3 (liveness testing) have no meaning here. */
export const HEALTH = { ok: 0, slotsStalled: 2, restart: 4 } as const;
export type HealthCode = (typeof HEALTH)[keyof typeof HEALTH];

type Judge = () => HealthCode;

class HealthGauge extends Gauge {
  readonly judges = new Set<Judge>();
}

/**
 * Adds a judge, called at each read of the metrics. The process reports the highest code of all judges. Judges of a standby
 * role are not called.
 */
export function judgeHealth(registry: Registry, judge: Judge): void {
  const gauge = (registry.getSingleMetric(NAME) as HealthGauge | undefined) ?? newGauge(registry);
  gauge.judges.add(judge);
  if (registry instanceof TermMetrics) registry.onEnd(() => gauge.judges.delete(judge));
}

function newGauge(registry: Registry): HealthGauge {
  const gauge: HealthGauge = new HealthGauge({
    name: NAME,
    help: '0 ok, 2 the slot source has stalled, books are behind the chain, or the log is away, 4 book and oracle of a market are too many slots apart',
    registers: [registry],
    collect() {
      this.set(Math.max(HEALTH.ok, ...[...gauge.judges].map((one) => one())));
    },
  });
  return gauge;
}
