// Asking the history service in tests: a fresh service for each test, since answers are kept for a minute, and every answer
// held against the contract.

import bs58 from 'bs58';
import type { FastifyInstance } from 'fastify';
import { expect } from 'vitest';
import type { HistorySettings } from '../history/services.ts';
import { MarketSummaries } from '../history/summaries.ts';
import { HistoryContract } from './history-contract.ts';
import { HistoryStage, makeApp, marketSummary, registry } from './history-stage.ts';

export const HOUR = 3600;
export const address = (text: string): string => bs58.encode(Buffer.from(text));
export const key = (letter: string): string => letter.repeat(32);

/** What every event row begins with. */
export const event = (id: number, ts: number) => ({
  signature: String(id).padStart(64, 'e'),
  event_index: 0,
  slot: String(id),
  tx_index: 0,
  ts,
});

export const asValidation = (urls: readonly string[]) => urls.map((url) => [url, 400, 'ValidationError']);

export class Asking {
  readonly stage: HistoryStage;
  readonly #contract: HistoryContract;
  #app: FastifyInstance;

  private constructor(stage: HistoryStage, contract: HistoryContract) {
    this.stage = stage;
    this.#contract = contract;
    this.#app = stage.app;
  }

  static async open(): Promise<Asking> {
    const stage = await HistoryStage.open();
    return new Asking(stage, await HistoryContract.of(stage.app));
  }

  close(): Promise<void> {
    return this.stage.close();
  }

  /** Empties the tables and starts a service that has answered nothing yet. */
  async reset(): Promise<void> {
    await this.stage.reset();
    this.#app = await this.appWith();
  }

  /** A service with settings of its own, with or without the summary of one market. */
  appWith(settings: Partial<HistorySettings> = {}, summary = true): Promise<FastifyInstance> {
    const markets = registry();
    const summaries = new MarketSummaries(markets);
    if (summary) summaries.put(marketSummary());
    return makeApp(this.stage.clickhouse, markets, {
      summaries,
      settings: { vaultsPath: '', fundingVenuesPath: '', ...settings },
    });
  }

  async ask(url: string, from = this.#app) {
    const answer = await from.inject(url);
    expect(this.#contract.problems(url, { status: answer.statusCode, body: answer.json() })).toBe('');
    return answer;
  }

  /** The body of a 200 answer. */
  async get<T = Record<string, unknown>>(url: string, from = this.#app): Promise<T> {
    const answer = await this.ask(url, from);
    if (answer.statusCode !== 200) throw new Error(`${answer.statusCode} ${answer.body}`);
    return answer.json<T>();
  }

  /** Status and `error` of each. */
  refused(urls: readonly string[]) {
    return Promise.all(
      urls.map(async (url) => {
        const { statusCode, body } = await this.ask(url);
        return [url, statusCode, JSON.parse(body).error];
      }),
    );
  }
}
