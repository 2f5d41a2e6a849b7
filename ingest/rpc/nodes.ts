// The RPC nodes of the configuration: each request goes to the first node that has the answer.

import type { Clock } from './clock.ts';
import type { Endpoint } from './endpoint.ts';
import { BEHIND, RpcError } from './errors.ts';

/** Rounds over all nodes before a request fails. */
const ROUNDS_MAX = 4;
const ROUND_PAUSE_MS = 300;
/** A node further behind the best one is asked last. */
const BEHIND_SLOTS_MAX = 12;
/** Longest wait for nodes that asked for a pause. Beyond it the request fails, and its caller asks again. */
const PAUSE_MAX_MS = 15_000;
/** A node that did not answer within somebody's patience is asked for nothing better for as long. */
const SLOW_MS = 30_000;

export interface Call {
  readonly method: string;
  readonly params: readonly unknown[];
}

export interface AskOptions {
  readonly isBackground?: boolean;
  readonly signal?: AbortSignal;
  /** Nodes that may be asked; absent: all. */
  readonly mayAsk?: (endpoint: Endpoint) => boolean;
}

/** How much of the answer a value lacks; 0 for a whole one. Another node may have more. */
export type Lacks = (value: unknown) => number;

/** Result of one call of a batch. */
export type Outcome = { readonly value: unknown } | { readonly error: RpcError };

interface Envelope {
  readonly id?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code?: number; readonly message?: string };
}

export class Nodes {
  readonly endpoints: readonly Endpoint[];
  readonly #commitment: string;
  readonly #signal: AbortSignal;
  readonly #clock: Clock;

  /** `commitment` is the one in use: the progress of a node is judged by it. */
  constructor(endpoints: readonly Endpoint[], commitment: string, signal: AbortSignal, clock: Clock) {
    if (endpoints.length === 0) throw new RangeError('no RPC node');
    this.endpoints = endpoints;
    this.#commitment = commitment;
    this.#signal = signal;
    this.#clock = clock;
  }

  /** Order of the configuration; nodes that fail or are behind come last. */
  ranked(): readonly Endpoint[] {
    const newest = this.endpoints.reduce((slot, one) => Math.max(slot, one.slotAt(this.#commitment)), -1);
    const isPoor = (one: Endpoint) => {
      const slot = one.slotAt(this.#commitment);
      return one.failures > 0 || (slot >= 0 && slot < newest - BEHIND_SLOTS_MAX);
    };
    return [...this.endpoints].sort((a, b) => Number(isPoor(a)) - Number(isPoor(b)));
  }

  /**
   * Runs the work at each node until one succeeds, then again after a pause when that helps. Throws the last RpcError.
   */
  async first<T>(work: (endpoint: Endpoint, signal: AbortSignal) => Promise<T>, options: AskOptions = {}): Promise<T> {
    const signal = options.signal ? AbortSignal.any([options.signal, this.#signal]) : this.#signal;
    const { mayAsk = () => true } = options;
    let last = new RpcError('every RPC node asked for a pause', null, { isTransport: true });
    for (let round = 0; round < ROUNDS_MAX; round++) {
      if (round > 0 && !(await this.#pause(round, mayAsk, signal))) break;
      let isLaterOfUse = false;
      for (const endpoint of this.ranked().filter(mayAsk)) {
        if (endpoint.pauseMs > 0) {
          isLaterOfUse = true;
          continue;
        }
        try {
          return await work(endpoint, signal);
        } catch (error) {
          if (!(error instanceof RpcError)) throw error;
          if (error.remedy === 'never') throw error;
          last = error;
          isLaterOfUse ||= error.remedy === 'later';
        }
      }
      if (!isLaterOfUse) break;
    }
    throw last;
  }

  /** One call at the first node whose value lacks nothing. Of values that all lack something the one that lacks least counts. */
  async call({ method, params }: Call, options: AskOptions & { readonly lacks?: Lacks } = {}): Promise<unknown> {
    const { lacks = () => 0 } = options;
    let spare: { readonly value: unknown } | null = null;
    let least = Number.POSITIVE_INFINITY;
    try {
      return await this.first(async (endpoint, signal) => {
        const answer = await endpoint.post({ jsonrpc: '2.0', id: 1, method, params }, { ...options, signal });
        const value = this.#valueOf(endpoint, answer as Envelope, params);
        const lacking = lacks(value);
        if (lacking === 0) return value;
        if (spare === null || lacking < least) {
          spare = { value };
          least = lacking;
        }
        throw new RpcError('the node lacks the answer', null, { remedy: 'elsewhere' });
      }, options);
    } catch (error) {
      if (spare !== null && error instanceof RpcError) return (spare as { readonly value: unknown }).value;
      throw error;
    }
  }

  /**
   * Many calls in one request. Each stands alone: a call whose value lacks something goes to the next node. Of several values the
   * one that lacks least counts. Rejects only when no node answered any request.
   */
  async batch(calls: readonly Call[], lacks: Lacks, options: AskOptions = {}): Promise<readonly Outcome[]> {
    const outcomes: (Outcome | undefined)[] = calls.map(() => undefined);
    let left = calls.map((_, index) => index);
    const ask = async (endpoint: Endpoint, signal: AbortSignal): Promise<void> => {
      const answers = await this.#batchAt(
        endpoint,
        left.flatMap((index) => calls[index] ?? []),
        { ...options, signal },
      );
      const asked = left;
      left = [];
      for (const [at, index] of asked.entries()) {
        const answer = answers[at] ?? { error: new RpcError('no answer in the batch', null, { remedy: 'elsewhere' }) };
        const lacking = 'value' in answer ? lacks(answer.value) : Number.POSITIVE_INFINITY;
        const earlier = outcomes[index];
        // A value with a part of the answer says more than an error.
        if (earlier === undefined || 'error' in earlier || lacking < lacks(earlier.value)) outcomes[index] = answer;
        if (lacking > 0 && !('error' in answer && answer.error.remedy === 'never')) left.push(index);
      }
      if (left.length === 0) return;
      // The caller asks again later: one bad item must not hold the others. A busy node is asked for the rest after its pause.
      const isBusy = answers.some((one) => 'error' in one && one.error.isTransport && one.error.remedy === 'later');
      throw new RpcError('calls without an answer', null, { remedy: isBusy ? 'later' : 'elsewhere' });
    };
    try {
      await this.first(ask, options);
    } catch (error) {
      if (!(error instanceof RpcError) || outcomes.every((one) => one === undefined)) throw error;
    }
    return outcomes.map((one) => one ?? { error: new RpcError('no answer') });
  }

  /**
   * Better values for calls that have one, from the other nodes that are in order, by index of the call. Each is asked once. Within
   * `patienceMs`: one that does not answer in it is left alone for a while. Absent: a node has the time of any request.
   */
  async better(
    calls: readonly Call[],
    isBetter: (value: unknown, index: number) => boolean,
    { patienceMs, ...options }: AskOptions & { readonly patienceMs?: number } = {},
  ): Promise<ReadonlyMap<number, unknown>> {
    const found = new Map<number, unknown>();
    const outer = options.signal ? AbortSignal.any([options.signal, this.#signal]) : this.#signal;
    for (const endpoint of this.ranked().slice(1)) {
      const left = [...calls.keys()].filter((index) => !found.has(index));
      const isInOrder = endpoint.pauseMs === 0 && endpoint.failures === 0;
      if (left.length === 0 || outer.aborted) break;
      if (!isInOrder || (patienceMs !== undefined && endpoint.isSlow)) continue;
      try {
        const signal = patienceMs === undefined ? outer : AbortSignal.any([outer, AbortSignal.timeout(patienceMs)]);
        const wanted = left.flatMap((index) => calls[index] ?? []);
        const answers = await this.#batchAt(endpoint, wanted, { ...options, signal });
        for (const [at, index] of left.entries()) {
          const answer = answers[at];
          if (answer && 'value' in answer && isBetter(answer.value, index)) found.set(index, answer.value);
        }
      } catch {
        if (patienceMs !== undefined && !outer.aborted) endpoint.wasSlow(SLOW_MS);
      }
    }
    return found;
  }

  /** The answers of all nodes that have one. */
  async each({ method, params }: Call): Promise<readonly unknown[]> {
    const answers = this.endpoints.map(async (endpoint) => {
      const answer = await endpoint.post({ jsonrpc: '2.0', id: 1, method, params }, { signal: this.#signal });
      return this.#valueOf(endpoint, answer as Envelope, params);
    });
    const settled = await Promise.allSettled(answers);
    return settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  }

  /** The result of a parsed answer of a node. Throws RpcError for an error, and for an answer older than asked for. */
  resultOf(endpoint: Endpoint, answer: unknown, params: readonly unknown[]): unknown {
    return this.#valueOf(endpoint, answer as Envelope, params);
  }

  /** Asks every node for its newest slot, so that `ranked` knows which are behind. */
  async probe(): Promise<void> {
    if (this.endpoints.length < 2) return;
    const params = [{ commitment: this.#commitment }];
    const probes = this.endpoints.map(async (endpoint) => {
      if (endpoint.pauseMs > 0) return;
      const answer = await endpoint.post(
        { jsonrpc: '2.0', id: 1, method: 'getSlot', params },
        { signal: this.#signal, isBackground: true },
      );
      const { result } = answer as Envelope;
      if (Number.isSafeInteger(result)) endpoint.sawSlot(this.#commitment, Number(result));
    });
    await Promise.allSettled(probes);
  }

  async #batchAt(
    endpoint: Endpoint,
    calls: readonly Call[],
    options: AskOptions & { signal: AbortSignal },
  ): Promise<readonly Outcome[]> {
    if (!endpoint.takesBatches || calls.length === 1) return this.#eachAt(endpoint, calls, options);
    const body = calls.map((call, id) => ({ jsonrpc: '2.0', id, ...call }));
    let answer: unknown;
    try {
      answer = await endpoint.post(body, { ...options, cost: calls.length });
    } catch (error) {
      // 4xx for a batch: the node may take its calls one by one.
      if (!(error instanceof RpcError) || !error.isTransport || error.remedy === 'later') throw error;
      answer = null;
    }
    if (!Array.isArray(answer)) {
      const { error } = (answer ?? {}) as Envelope;
      const whole = error ? errorOf(error) : null;
      if (whole?.remedy === 'later') throw whole;
      const outcomes = await this.#eachAt(endpoint, calls, options);
      // A node that refuses the calls alone too says nothing about batches.
      if (outcomes.some((one) => 'value' in one)) endpoint.takesBatches = false;
      return outcomes;
    }
    const byId = new Map(
      (answer as (Envelope | null)[]).flatMap((one) => (one === null ? [] : [[one.id, one] as const])),
    );
    return calls.map(({ params }, id) => {
      const envelope = byId.get(id);
      return envelope === undefined
        ? { error: new RpcError('no answer in the batch', null, { remedy: 'elsewhere' }) }
        : this.#outcomeOf(endpoint, envelope, params);
    });
  }

  /** Asks one by one. A request that fails ends it: its call and the later ones have that error. Throws when it is the first. */
  async #eachAt(
    endpoint: Endpoint,
    calls: readonly Call[],
    options: AskOptions & { signal: AbortSignal },
  ): Promise<readonly Outcome[]> {
    const outcomes: Outcome[] = [];
    try {
      for (const call of calls) {
        const answer = await endpoint.post({ jsonrpc: '2.0', id: 1, ...call }, options);
        outcomes.push(this.#outcomeOf(endpoint, answer as Envelope, call.params));
      }
    } catch (error) {
      if (!(error instanceof RpcError) || outcomes.length === 0) throw error;
      return calls.map((_, index) => outcomes[index] ?? { error });
    }
    return outcomes;
  }

  #outcomeOf(endpoint: Endpoint, envelope: Envelope, params: readonly unknown[]): Outcome {
    try {
      return { value: this.#valueOf(endpoint, envelope, params) };
    } catch (error) {
      if (error instanceof RpcError) return { error };
      throw error;
    }
  }

  /** The result of an answer. Notes the node's slot, and refuses an answer that is older than `minContextSlot`. */
  #valueOf(endpoint: Endpoint, envelope: Envelope, params: readonly unknown[]): unknown {
    if (envelope.error) throw errorOf(envelope.error);
    const value = envelope.result ?? null;
    const slot = contextSlot(value);
    if (slot === null) return value;
    const config = params.at(-1) as { readonly commitment?: string; readonly minContextSlot?: number } | undefined;
    endpoint.sawSlot(config?.commitment ?? this.#commitment, slot);
    if (slot < (config?.minContextSlot ?? 0)) throw new RpcError('the answer is older than asked for', BEHIND);
    return value;
  }

  /** Waits before another round. False when all nodes ask for too long a pause. */
  async #pause(round: number, mayAsk: (endpoint: Endpoint) => boolean, signal: AbortSignal): Promise<boolean> {
    const pauseMs = Math.min(...this.endpoints.filter(mayAsk).map((one) => one.pauseMs));
    if (pauseMs > PAUSE_MAX_MS) return false;
    const spreadMs = ROUND_PAUSE_MS * 2 ** (round - 1) * (0.5 + this.#clock.chance() / 2);
    await this.#clock.wait(Math.max(pauseMs, spreadMs), signal);
    return true;
  }
}

function errorOf({ code, message }: NonNullable<Envelope['error']>): RpcError {
  return new RpcError(message ?? 'unknown error', code ?? null);
}

/** Slot at which a node answered; null for answers without a context. */
export function contextSlot(value: unknown): number | null {
  const slot = (value as { readonly context?: { readonly slot?: unknown } } | null)?.context?.slot;
  return typeof slot === 'number' && Number.isSafeInteger(slot) && slot >= 0 ? slot : null;
}
