// A million generated inputs, half over REST and half over WebSocket, at one order-book role: `node test/soak/inputs.ts
// [inputs] [seed]`. Books change meanwhile. One JSON line per kind; ends with 1 when anything unspecified was answered.

import { residentBytes } from '../bench/harness/processes.ts';
import { report } from '../bench/harness/report.ts';
import { Stage } from '../bench/harness/stage.ts';
import { SyntheticMarket } from '../bench/harness/synthetic-markets.ts';
import { runRestInputs, runSocketInputs } from '../fuzz/run.ts';

const DEFAULT_INPUTS = 1_000_000;
const MARKETS = 4;
const CHANGE_EVERY_MS = 100;

const inputs = Number(process.argv[2] ?? DEFAULT_INPUTS);
const seed = Number(process.argv[3] ?? Date.now() % 1_000_000);
const markets = Array.from({ length: MARKETS }, (_, index) => new SyntheticMarket(index));
const stage = await Stage.start(markets);
let crashed: number | null | undefined;
void stage.server.exited.then((code) => {
  crashed = code;
});
const changing = setInterval(() => {
  for (const market of markets) market.nextSlot();
  stage.publish(markets.map((market) => ({ market, diff: market.change() }))).catch(() => {});
}, CHANGE_EVERY_MS);

let faults = 0;
for (const [name, run, url] of [
  ['inputs: REST', runRestInputs, stage.rest],
  ['inputs: WebSocket', runSocketInputs, stage.gateway],
] as const) {
  const startedMs = performance.now();
  const result = await run(url, Math.ceil(inputs / 2), seed);
  faults += result.faults.length;
  const seconds = (performance.now() - startedMs) / 1_000;
  const residentMb = Math.round(residentBytes(stage.server.pid) / 1_000_000);
  report({ name, value: result.inputs, unit: 'inputs', seed, seconds, residentMb, ...result });
}
clearInterval(changing);
if (crashed !== undefined) faults += 1;
else await stage.stop();
process.exit(faults === 0 ? 0 : 1);
