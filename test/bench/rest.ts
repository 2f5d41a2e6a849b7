// `/l2` requests a second on one core while the books change ten times a second. Only CPU seconds of the server process count,
// without the load generator. The peer handles cached books as the predecessor does: parse, cut, write. Requests come without an
// encoding, and as browsers and HTTP libraries send them; the predecessor never compresses `/l2` (docs/internals/order-book-server.md, "HTTP conventions"). `npm run bench rest`.

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { cpuSeconds, machine } from './harness/processes.ts';
import { report } from './harness/report.ts';
import type { RestLoad, RestResult } from './harness/rest-load.ts';
import { Predecessor, Stage } from './harness/stage.ts';
import { SyntheticMarket } from './harness/synthetic-markets.ts';

const LOAD = fileURLToPath(new URL('./harness/rest-load.ts', import.meta.url));
const MARKETS = 4;
const CONNECTIONS = 64;
const WARM_UP_SECONDS = 3;
const SECONDS = 8;
const CHANGE_EVERY_MS = 100;
const BAR_PER_SECOND = 15_000;
const GZIP = 'gzip, deflate, br';

interface Asked {
  readonly paths: readonly string[];
  readonly acceptEncoding?: string;
}

async function ask(url: string, asked: Asked, seconds: number): Promise<RestResult> {
  const child = fork(LOAD, { execArgv: ['--disable-warning=ExperimentalWarning'] });
  const { hostname: host, port } = new URL(url);
  child.send({ host, port: Number(port), ...asked, connections: CONNECTIONS, seconds } satisfies RestLoad);
  const [result] = (await once(child, 'message')) as [RestResult];
  const exited = once(child, 'exit');
  child.disconnect();
  await exited;
  if (result.error !== undefined) throw new Error(result.error);
  return result;
}

async function measure(pid: number, url: string, asked: Asked) {
  await ask(url, asked, WARM_UP_SECONDS);
  const usedBefore = cpuSeconds(pid);
  const { answers, bytes, statuses, seconds } = await ask(url, asked, SECONDS);
  const used = cpuSeconds(pid) - usedBefore;
  if (Object.keys(statuses).some((status) => status !== '200')) throw new Error(JSON.stringify(statuses));
  return {
    perCpuSecond: answers / used,
    perSecond: answers / seconds,
    coresUsed: used / seconds,
    bytesPerAnswer: bytes / answers,
  };
}

const symbols = Array.from({ length: MARKETS }, (_, index) => new SyntheticMarket(index).symbol);
for (const [depth, acceptEncoding] of [[20], [100], [20, GZIP], [100, GZIP]] as const) {
  const paths = symbols.map((symbol) => `/l2?marketName=${symbol}&depth=${depth}`);
  const asked: Asked = acceptEncoding === undefined ? { paths } : { paths, acceptEncoding };
  const markets = symbols.map((_, index) => new SyntheticMarket(index));
  const peerMarkets = symbols.map((_, index) => new SyntheticMarket(index));
  const stage = await Stage.start(markets);
  const peer = await Predecessor.start(peerMarkets, { servesRest: true });
  const changing = setInterval(() => {
    stage.publish(markets.map((market) => ({ market, diff: market.change() }))).catch(() => {});
    peer.publish(peerMarkets.map((market) => ({ market, diff: market.change() })));
  }, CHANGE_EVERY_MS);
  try {
    const ours = await measure(stage.server.pid, stage.rest, asked);
    const theirs = await measure(peer.pid, peer.rest, asked);
    report({
      name: `rest: /l2 to depth ${depth} on one core${acceptEncoding === undefined ? '' : ', gzip'}`,
      value: ours.perCpuSecond,
      unit: 'requests/CPU-s',
      bar: { atLeast: BAR_PER_SECOND },
      ours,
      predecessor: theirs,
      ratio: ours.perCpuSecond / theirs.perCpuSecond,
      connections: CONNECTIONS,
      markets: MARKETS,
      ...machine(),
    });
  } finally {
    clearInterval(changing);
    await stage.stop();
    await peer.stop();
  }
}
