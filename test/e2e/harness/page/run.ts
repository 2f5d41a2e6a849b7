// One pipeline and one browser for all tests of the page. The book role, ingest and the gateway stand alone: tests restart
// them.

import type { Browser, Page } from 'playwright-core';
import { startBrowser } from '../../../support/page/browser.ts';
import { freePorts } from '../../../support/platform/ports.ts';
import {
  type Cluster,
  type Running,
  type Settings,
  startCluster,
  startRoles,
  temporaryDirectory,
} from '../../../support/processes/processes.ts';

const ROLES = {
  ingest: ['ingest'],
  book: ['book'],
  rest: ['trades', 'fillQuality', 'rankings', 'samples', 'candles', 'fees', 'sink', 'history', 'page'],
  orderbook: ['orderbook'],
} as const;
export type PageProcess = keyof typeof ROLES;

/** A user account that the simulated cluster does not have: a changed list of ignored accounts begins a new epoch. */
const NOBODY = '11111111111111111111111111111112';

/** A busy machine loads a page slowly. */
const PATIENCE_MS = 90_000;

export interface PageRun {
  readonly cluster: Cluster;
  readonly browser: Browser;
  readonly page: string;
  readonly orderbook: string;
  readonly gateway: string;
  readonly history: string;
  kill(name: PageProcess): Promise<void>;
  start(name: PageProcess, extra?: Settings): Promise<void>;
  /** Restarts the book role with another list of ignored accounts. */
  changeEpoch(): Promise<void>;
  open(hash: string, options?: Parameters<Browser['newPage']>[0]): Promise<Page>;
  stop(): Promise<void>;
}

export async function startPageRun(executablePath: string, speed: number): Promise<PageRun> {
  const { dir, remove } = temporaryDirectory();
  const running = new Map<PageProcess, Running>();
  const [orderbookPort, gatewayPort = 0] = await freePorts(2);
  const cluster = await startCluster({ seed: 5, speed, accounts: 80, 'orders-per-market': 60 });
  // The same ports after a restart: the page tries the address that it knows.
  const settings: Settings = {
    ...{ DATA_DIR: dir, RPC_URL: cluster.rpcUrl, RPC_WS_URL: cluster.wsUrl, VAULT_PROGRAM: cluster.vaultProgram },
    ...{ ORDERBOOK_PORT: orderbookPort, GATEWAY_PORT: gatewayPort, SAMPLE_SLOTS: 10, SHADOW_CHECK_MS: 5_000 },
  };
  let browser: Browser | undefined;
  const start = async (name: PageProcess, extra: Settings = {}) => {
    const own = name === 'rest' ? { PAGE_METRICS_URLS: metricsUrls(running) } : {};
    running.set(name, await startRoles(ROLES[name], { ...settings, ...own, ...extra }));
  };
  const stop = async () => {
    await browser?.close();
    await Promise.all([...running.values()].map((one) => one.stop().catch(() => {})));
    await cluster.stop();
    remove();
  };
  try {
    await Promise.all([start('ingest'), start('book'), start('orderbook')]);
    await start('rest');
    browser = await startBrowser(executablePath);
  } catch (error) {
    await stop().catch(() => {});
    throw error;
  }
  const opened = browser;
  const page = running.get('rest')?.endpoints.page ?? '';
  return {
    ...{ cluster, browser: opened, page, start, stop },
    orderbook: `http://127.0.0.1:${orderbookPort}`,
    gateway: `ws://127.0.0.1:${gatewayPort}/ws`,
    history: running.get('rest')?.endpoints.history ?? '',
    kill: async (name) => running.get(name)?.kill9(),
    changeEpoch: async () => {
      await running.get('book')?.stop();
      await start('book', { IGNORE_LIST: NOBODY });
    },
    open: async (hash, options = {}) => {
      const tab = await opened.newPage({ viewport: { width: 1440, height: 900 }, ...options });
      tab.setDefaultTimeout(PATIENCE_MS);
      await tab.goto(page + hash);
      return tab;
    },
  };
}

function metricsUrls(running: ReadonlyMap<PageProcess, Running>): string {
  const urls = [...running.values()].flatMap(({ endpoints }) => endpoints.metrics ?? []);
  return ['own', ...urls].join(',');
}
