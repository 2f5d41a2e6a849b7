// `npm run soak inputs [inputs] [seed]`: a million generated inputs for one order-book role, 45 % over REST, 45 % over `/ws` and
// 10 % over `/quotes/ws`, while books change. One JSON line per kind; exit code 1 when an answer is not documented.

import { residentBytes } from '../bench/harness/processes.ts';
import { report } from '../bench/harness/report.ts';
import { SyntheticMarket } from '../bench/harness/synthetic-markets.ts';
import { FullStage } from '../fuzz/full-stage.ts';
import { runRestInputs } from '../fuzz/run-rest.ts';
import { runQuoteInputs, runSocketInputs } from '../fuzz/run-sockets.ts';

const DEFAULT_INPUTS = 1_000_000;
/** Each run draws new inputs. The printed seed repeats them. */
const SEEDS = 1_000_000;
const MARKETS = 4;
const CHANGE_EVERY_MS = 100;

const inputs = Number(process.argv[2] ?? DEFAULT_INPUTS);
const seed = Number(process.argv[3] ?? Date.now() % SEEDS);
if (!Number.isSafeInteger(inputs) || !Number.isSafeInteger(seed)) throw new RangeError('[inputs] [seed]: two integers');
process.stderr.write(`seed ${seed}\n`);
const markets = Array.from({ length: MARKETS }, (_, index) => new SyntheticMarket(index));
const full = await FullStage.start(markets);
const { stage } = full;
let crashed: number | null | undefined;
void stage.server.exited.then((code) => {
  crashed = code;
});
const changing = setInterval(() => {
  for (const market of markets) market.nextSlot();
  stage.publish(markets.map((market) => ({ market, diff: market.change() }))).catch(() => {});
}, CHANGE_EVERY_MS);

let faults = 0;
for (const [name, run, url, share] of [
  ['inputs: REST', runRestInputs, stage.rest, 0.45],
  ['inputs: WebSocket', runSocketInputs, stage.gateway, 0.45],
  ['inputs: quote socket', runQuoteInputs, stage.quotes, 0.1],
] as const) {
  const startedMs = performance.now();
  const result = await run(url, Math.ceil(inputs * share), seed);
  faults += result.faults.length;
  const seconds = (performance.now() - startedMs) / 1_000;
  const residentMb = Math.round(residentBytes(stage.server.pid) / 1_000_000);
  report({ name, value: result.inputs, unit: 'inputs', seed, seconds, residentMb, ...result });
}
clearInterval(changing);
if (crashed !== undefined) faults += 1;
else await full.stop();
process.exit(faults === 0 ? 0 : 1);
