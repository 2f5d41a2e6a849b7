// Switches faults on and off, decides where each one strikes, and reports every strike. A decision follows from the seed and
// from what is asked, not from a clock, so the same requests meet the same faults.

import { chanceOf } from '../chance.ts';
import { FAULT_KINDS, type FaultKind, type FaultPlace, type FaultRequest } from './kinds.ts';

/** Reports in memory; older ones are dropped. */
const REPORTS_MAX = 200_000;

export interface FaultReport {
  /** Counted from 0 since the start. */
  readonly number: number;
  readonly kind: FaultKind;
  /** Newest slot of the chain when it happened. */
  readonly slot: number;
  readonly method: string;
  /** Signature, address, connection or notification that was hit; null for the nth call of a method. */
  readonly key: string | null;
  /** Number of accounts left out, slots behind, and so on. */
  readonly detail: Readonly<Record<string, unknown>>;
}

interface Rule {
  readonly number: number;
  readonly request: FaultRequest;
  readonly methods: ReadonlySet<string> | null;
  readonly keys: ReadonlySet<string> | null;
  left: number;
  strikes: number;
}

export class Faults {
  readonly #seed: number;
  readonly #slot: () => number;
  readonly #rules = new Map<FaultKind, Rule[]>();
  readonly #ordinals = new Map<string, number>();
  readonly #counts = new Map<FaultKind, number>();
  #reports: FaultReport[] = [];
  #reported = 0;
  #nextRule = 0;

  /** `slot` returns the newest slot of the chain, for reports. */
  constructor(seed: number, slot: () => number) {
    this.#seed = seed;
    this.#slot = slot;
  }

  /** Switches a fault on and returns its number. */
  add(request: FaultRequest): number {
    const number = this.#nextRule;
    this.#nextRule += 1;
    const methods: readonly string[] | null = request.methods ?? FAULT_KINDS[request.kind].methods;
    const rule: Rule = {
      number,
      request,
      methods: methods === null ? null : new Set(methods),
      keys: request.keys === undefined ? null : new Set(request.keys),
      left: request.count ?? Number.POSITIVE_INFINITY,
      strikes: 0,
    };
    const rules = this.#rules.get(request.kind);
    if (rules === undefined) this.#rules.set(request.kind, [rule]);
    else rules.push(rule);
    return number;
  }

  /** Switches off one kind, or all. Returns the number of rules. */
  clear(kind?: FaultKind): number {
    let cleared = 0;
    for (const [one, rules] of [...this.#rules]) {
      if (kind !== undefined && one !== kind) continue;
      cleared += rules.length;
      this.#rules.delete(one);
    }
    return cleared;
  }

  /** Whether a fault of this place is on. */
  active(place: FaultPlace): boolean {
    for (const kind of this.#rules.keys()) if (FAULT_KINDS[kind].place === place) return true;
    return false;
  }

  has(kind: FaultKind): boolean {
    return this.#rules.has(kind);
  }

  /** The fault that hits the next call of `method`, or null. */
  strike(kind: FaultKind, method: string, key: string | null = null): FaultRequest | null {
    return this.#decide(kind, method, key, () => `#${this.#ordinal(kind, method)}`);
  }

  /** The fault that hits everything about `key`, however often it is asked, or null. Chance goes by `subject`. */
  strikeKey(kind: FaultKind, method: string, key: string | null, subject = String(key)): FaultRequest | null {
    return this.#decide(kind, method, key, () => subject);
  }

  report(kind: FaultKind, method: string, key: string | null, detail: Readonly<Record<string, unknown>> = {}): void {
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1);
    this.#reports.push({ number: this.#reported, kind, slot: this.#slot(), method, key, detail });
    this.#reported += 1;
    if (this.#reports.length > 2 * REPORTS_MAX) this.#reports = this.#reports.slice(-REPORTS_MAX);
  }

  /** Reports from number `from` on, oldest first. */
  reports(from: number, limit: number, kind?: FaultKind): FaultReport[] {
    const wanted = this.#reports.filter((one) => one.number >= from && (kind === undefined || one.kind === kind));
    return wanted.slice(0, limit);
  }

  /** Number of reports by kind since the start. */
  counts(): Partial<Record<FaultKind, number>> {
    return Object.fromEntries(this.#counts);
  }

  /** The switched-on faults with their numbers and strikes. */
  list(): { number: number; strikes: number; request: FaultRequest }[] {
    const all = [...this.#rules.values()].flat();
    return all.map(({ number, strikes, request }) => ({ number, strikes, request }));
  }

  /** A number in [0, 1) that follows from the seed and the text. */
  chance(text: string): number {
    return chanceOf(`${this.#seed}|${text}`);
  }

  #decide(kind: FaultKind, method: string, key: string | null, subject: () => string): FaultRequest | null {
    for (const [index, rule] of (this.#rules.get(kind) ?? []).entries()) {
      if (rule.left <= 0 || (rule.methods !== null && !rule.methods.has(method))) continue;
      if (rule.keys !== null && (key === null || !rule.keys.has(key))) continue;
      const probability = rule.request.probability ?? 1;
      // Faults of one kind strike apart from each other, or the less probable one would never strike.
      const draw = index === 0 ? '' : `|${index}`;
      if (probability < 1 && this.chance(`${kind}|${method}|${subject()}${draw}`) >= probability) continue;
      rule.left -= 1;
      rule.strikes += 1;
      return rule.request;
    }
    return null;
  }

  #ordinal(kind: FaultKind, method: string): number {
    const name = `${kind}|${method}`;
    const ordinal = this.#ordinals.get(name) ?? 0;
    this.#ordinals.set(name, ordinal + 1);
    return ordinal;
  }
}
