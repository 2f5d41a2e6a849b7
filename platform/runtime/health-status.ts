// `health_status` of a process, under the predecessor's codes (reference 5.1): one gauge for whatever its roles have to say.

import { Gauge, type Registry } from 'prom-client';

/** The predecessor's other codes, 1 (stale loader) and 3 (liveness testing), have no meaning here. */
export const HEALTH = { ok: 0, slotsStalled: 2, restart: 4 } as const;
export type HealthCode = (typeof HEALTH)[keyof typeof HEALTH];

const judges = new WeakMap<Registry, (() => HealthCode)[]>();

/** Adds a judgement, asked for at each look at the metrics. The process has the highest code of all that were added. */
export function judgeHealth(registry: Registry, judge: () => HealthCode): void {
  const known = judges.get(registry);
  if (known) {
    known.push(judge);
    return;
  }
  const all = [judge];
  judges.set(registry, all);
  new Gauge({
    name: 'health_status',
    help: '0 ok, 2 the slot source has stalled, 4 book and oracle of a market are too many slots apart',
    registers: [registry],
    collect() {
      this.set(Math.max(...all.map((one) => one())));
    },
  });
}
