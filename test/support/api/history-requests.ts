// Requests to the history service in tests. Each test has a fresh service, because answers are cached for a minute, and the
// contract validates every answer.

import bs58 from 'bs58';
import type { FastifyInstance } from 'fastify';
import { expect } from 'vitest';
import type { HistorySettings } from '../../../api/history/services.ts';
import { MarketSummaries } from '../../../api/history/summaries.ts';
import { HistoryContract } from './history-contract.ts';
import { HistoryStage, makeApp, marketSummary, registry } from './history-stage.ts';

export const HOUR = 3600;
export const address = (text: string): string => bs58.encode(Buffer.from(text));
export const key = (letter: string): string => letter.repeat(32);

/** First columns of every event row. */
export const event = (id: number, ts: number) => ({
  signature: String(id).padStart(64, 'e'),
  event_index: 0,
  slot: String(id),
  tx_index: 0,
  ts,
});

export const asValidation = (urls: readonly string[]) => urls.map((url) => [url, 400, 'ValidationError']);

/** An answer, which is as the contract says. */
async function askChecked(app: FastifyInstance, contract: HistoryContract, url: string) {
  const answer = await app.inject(url);
  expect(contract.problems(url, { status: answer.statusCode, body: answer.json() })).toBe('');
  return answer;
}

/** The body of a 200 answer, which is as the contract says. */
export async function getChecked<T>(app: FastifyInstance, contract: HistoryContract, url: string): Promise<T> {
  const answer = await askChecked(app, contract, url);
  if (answer.statusCode !== 200) throw new Error(`${answer.statusCode} ${answer.body}`);
  return answer.json<T>();
}

export class HistoryRequests {
  readonly stage: HistoryStage;
  readonly #contract: HistoryContract;
  #app: FastifyInstance;

  private constructor(stage: HistoryStage, contract: HistoryContract) {
    this.stage = stage;
    this.#contract = contract;
    this.#app = stage.app;
  }

  static async open(): Promise<HistoryRequests> {
    const stage = await HistoryStage.open();
    return new HistoryRequests(stage, await HistoryContract.of(stage.app));
  }

  close(): Promise<void> {
    return this.stage.close();
  }

  /** Empties the tables and starts a fresh service. */
  async reset(): Promise<void> {
    await this.stage.reset();
    this.#app = await this.appWith();
  }

  /** A service with the given settings, with or without the summary of one market. */
  appWith(settings: Partial<HistorySettings> = {}, summary = true): Promise<FastifyInstance> {
    const markets = registry();
    const summaries = new MarketSummaries(markets);
    if (summary) summaries.put(marketSummary());
    return makeApp(this.stage.clickhouse, markets, {
      summaries,
      accountStates: this.stage.accountStates,
      settings: { vaultsPath: '', fundingVenuesPath: '', ...settings },
    });
  }

  ask(url: string, from = this.#app) {
    return askChecked(from, this.#contract, url);
  }

  /** The body of a 200 answer. */
  get<T = Record<string, unknown>>(url: string, from = this.#app): Promise<T> {
    return getChecked(from, this.#contract, url);
  }

  /** URL, status and `error` of each answer. */
  refused(urls: readonly string[]) {
    return Promise.all(
      urls.map(async (url) => {
        const { statusCode, body } = await this.ask(url);
        return [url, statusCode, JSON.parse(body).error];
      }),
    );
  }
}
