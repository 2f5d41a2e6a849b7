// The fees role: polls the provider for the priority fees of every listed market and writes each answer to `views.fees`.
// When the provider fails, the last written levels stay.

import { setTimeout as delay } from 'node:timers/promises';
import { Counter, type Registry } from 'prom-client';
import {
  type EventLog,
  type Logger,
  type LogRecord,
  type RoleContext,
  type RunningRole,
  TopicTail,
} from '../../platform/index.ts';
import {
  decodeMessage,
  encodeMessage,
  loadDefinition,
  type MarketRef,
  marketKey,
  TOPICS,
} from '../../schemas/index.ts';
import { type AccountKeys, feeAccounts } from './keys.ts';
import { type FeeRequest, type FeeResults, fetchFees } from './provider.ts';

/** Requests per batch. */
const BATCH = 50;
const TIMEOUT_MS = 10_000;
/** Poll interval while no market is listed. */
const NO_MARKETS_MS = 250;

/** Starts the role. Resolves before the first answer; rejects when the log is unreachable. */
export async function startFees(context: RoleContext): Promise<RunningRole> {
  const { config, log, logger } = context;
  await log.ensureTopics([TOPICS.feeViews]);
  const url = config.feeProviderUrl || (config.source === 'rpc' ? config.rpcUrl : '');
  const stopping = new AbortController();
  const poller = new FeePoller(context, url, feeAccounts(loadDefinition(config.definition)), stopping.signal);
  if (url === '') logger.info('no fee provider is configured');
  const done = url === '' ? new Promise<void>(() => {}) : poller.run();
  done.catch(() => {}); // callers of `done` get the failure
  return {
    name: 'fees',
    endpoints: {},
    done,
    stop: async () => {
      stopping.abort();
      if (url !== '') await done.catch(() => {});
    },
  };
}

class FeePoller {
  readonly #log: EventLog;
  readonly #logger: Logger;
  readonly #pollingMs: number;
  readonly #url: string;
  readonly #accountKeys: AccountKeys;
  readonly #signal: AbortSignal;
  readonly #metrics: ReturnType<typeof feeMetrics>;
  /** References alone; the registry of markets belongs to `api`, which ingest does not import. */
  readonly #markets = new Map<string, MarketRef>();
  readonly #marketViews: TopicTail;
  /** Whether the last poll failed. A longer outage is logged once. */
  #isDown = false;

  constructor(context: RoleContext, url: string, accountKeys: AccountKeys, signal: AbortSignal) {
    this.#log = context.log;
    this.#marketViews = new TopicTail(context.log, TOPICS.marketViews);
    this.#logger = context.logger;
    this.#pollingMs = context.config.feePollingMs;
    this.#url = url;
    this.#accountKeys = accountKeys;
    this.#signal = signal;
    this.#metrics = feeMetrics(context.metrics);
  }

  /** Polls until stopped. When the log is unreachable, the next poll tries again. */
  async run(): Promise<void> {
    while (!this.#signal.aborted) {
      const startedMs = performance.now();
      try {
        await this.#marketViews.read((record) => this.#learn(record));
        for (const batch of batches([...this.#markets.values()])) await this.#refresh(batch);
      } catch (error) {
        this.#logger.warn({ error: String(error) }, 'priority fees not written, the next poll tries again');
      }
      const pauseMs = this.#markets.size === 0 ? NO_MARKETS_MS : this.#pollingMs - (performance.now() - startedMs);
      await delay(Math.max(0, pauseMs), undefined, { signal: this.#signal }).catch(() => {});
    }
  }

  #learn({ key, value }: LogRecord): void {
    if (this.#markets.has(key)) return;
    try {
      const message = decodeMessage(value);
      if (message.name !== 'MarketView') return;
      const { marketType, marketIndex } = message.value;
      this.#markets.set(marketKey(message.value), { marketType, marketIndex });
    } catch (error) {
      this.#logger.warn({ key, error: String(error) }, 'unreadable market description');
    }
  }

  async #refresh(markets: readonly MarketRef[]): Promise<void> {
    const requests: FeeRequest[] = markets.map((market) => ({
      id: marketKey(market),
      accountKeys: this.#accountKeys(market),
    }));
    const answers = await this.#ask(requests);
    if (!answers) return;
    const atMs = Date.now();
    const records = markets.flatMap(({ marketType, marketIndex }) => {
      const key = marketKey({ marketType, marketIndex });
      const levels = answers.levels.get(key);
      return levels ? [{ key, value: encodeMessage('FeeLevels', { marketType, marketIndex, atMs, ...levels }) }] : [];
    });
    if (records.length > 0) await this.#log.append(TOPICS.feeViews, records);
    this.#metrics.refreshes.inc(records.length);
    this.#metrics.failures.inc(answers.failures.size);
    if (answers.failures.size > 0) {
      this.#logger.debug({ failures: Object.fromEntries(answers.failures) }, 'markets without priority fees');
    }
  }

  async #ask(requests: readonly FeeRequest[]): Promise<FeeResults | null> {
    try {
      const signal = AbortSignal.any([this.#signal, AbortSignal.timeout(TIMEOUT_MS)]);
      const answers = await fetchFees(this.#url, requests, signal);
      if (this.#isDown) this.#logger.info('the fee provider answers again');
      this.#isDown = false;
      return answers;
    } catch (error) {
      if (this.#signal.aborted) return null;
      this.#metrics.failures.inc(requests.length);
      if (!this.#isDown) this.#logger.warn({ error: String(error) }, 'no priority fees; the last ones stay');
      this.#isDown = true;
      return null;
    }
  }
}

function* batches(markets: readonly MarketRef[]): Generator<readonly MarketRef[]> {
  for (let from = 0; from < markets.length; from += BATCH) yield markets.slice(from, from + BATCH);
}

function feeMetrics(registry: Registry) {
  const registers = [registry];
  return {
    refreshes: new Counter({ name: 'slotbook_fees_refreshes_total', help: 'fee levels written', registers }),
    failures: new Counter({ name: 'slotbook_fees_failures_total', help: 'markets without an answer', registers }),
  };
}
