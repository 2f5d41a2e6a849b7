// Faults on single calls: errors, answers of a second node that is behind, and answers that lack something.

import type { Faults } from '../faults/faults.ts';
import { FAULT_DEFAULTS } from '../faults/kinds.ts';
import type { JsonText, Method, Methods } from '../rpc/dispatch.ts';
import { INTERNAL_ERROR, NODE_UNHEALTHY, RpcError } from '../rpc/errors.ts';

/** Signatures whose null answer has a time limit; older ones are forgotten. */
const AWAITED_MAX = 100_000;

/** Methods of the node, or of one that is so many blocks behind. */
export type MethodsBehind = (blocks: number) => Methods;

/** Wraps every method of the node. `now` returns milliseconds. */
export function faultyMethods(faults: Faults, behind: MethodsBehind, now: () => number = Date.now): [string, Method][] {
  const spoiler = new Spoiler(faults, now);
  return [...behind(0)].map(([name, direct]) => [
    name,
    (params) => {
      if (!faults.active('call')) return direct(params);
      refuse(faults, name);
      return spoiler.answer(name, params, method(faults, behind, name) ?? direct);
    },
  ]);
}

function refuse(faults: Faults, name: string): void {
  const unhealthy = faults.strike('unhealthy', name);
  if (unhealthy !== null) {
    const numSlotsBehind = unhealthy.slots ?? FAULT_DEFAULTS.slots;
    faults.report('unhealthy', name, null, { numSlotsBehind });
    throw new RpcError(NODE_UNHEALTHY, `Node is behind by ${numSlotsBehind} slots`, { numSlotsBehind });
  }
  const error = faults.strike('error', name);
  if (error === null) return;
  const { code = INTERNAL_ERROR, message = 'Internal error' } = error;
  faults.report('error', name, null, { code });
  throw new RpcError(code, message);
}

function method(faults: Faults, behind: MethodsBehind, name: string): Method | undefined {
  const struck = faults.strike('behind', name);
  if (struck === null) return undefined;
  const slots = struck.slots ?? FAULT_DEFAULTS.slots;
  faults.report('behind', name, null, { slots });
  return behind(slots).get(name);
}

class Spoiler {
  readonly #faults: Faults;
  readonly #now: () => number;
  /** When a null answer for a signature ends. */
  readonly #awaited = new Map<string, number>();

  constructor(faults: Faults, now: () => number) {
    this.#faults = faults;
    this.#now = now;
  }

  async answer(name: string, params: readonly unknown[], direct: Method): Promise<JsonText> {
    const text = await direct(params);
    switch (name) {
      case 'getSlot':
        return this.#slot(text);
      case 'getTransaction':
        return this.#transaction(String(params[0]), text);
      case 'getBlock':
        return this.#block(text);
      case 'getSignaturesForAddress':
        return this.#page(String(params[0]), text);
      case 'getProgramAccounts':
      case 'getProgramAccountsV2':
        return this.#accounts(name, String(params[0]), text);
      default:
        return text;
    }
  }

  #slot(text: JsonText): JsonText {
    const jump = this.#faults.strike('slotJump', 'getSlot');
    if (jump === null) return text;
    const slots = jump.slots ?? FAULT_DEFAULTS.jumpSlots;
    this.#faults.report('slotJump', 'getSlot', null, { slots });
    return String(Number(wholeText(text)) + slots);
  }

  #transaction(signature: string, text: JsonText): JsonText {
    if (wholeText(text) === 'null') return text;
    if (this.#isNull(signature)) return 'null';
    return this.#logless('getTransaction', signature) ? withoutLogs(JSON.parse(wholeText(text))) : text;
  }

  #isNull(signature: string): boolean {
    const until = this.#awaited.get(signature);
    if (until !== undefined) return this.#now() < until;
    const struck = this.#faults.strikeKey('nullTransaction', 'getTransaction', signature);
    if (struck === null) return false;
    if (this.#awaited.size >= AWAITED_MAX) this.#awaited.clear();
    if (struck.ms !== undefined) this.#awaited.set(signature, this.#now() + struck.ms);
    this.#faults.report('nullTransaction', 'getTransaction', signature, { ms: struck.ms ?? null });
    return true;
  }

  #logless(method: string, signature: string): boolean {
    if (this.#faults.strikeKey('nullLogs', method, signature) === null) return false;
    this.#faults.report('nullLogs', method, signature);
    return true;
  }

  #block(text: JsonText): JsonText {
    if (!this.#faults.has('nullLogs')) return text;
    const block = JSON.parse(wholeText(text)) as { transactions?: Parsed[] };
    for (const one of block.transactions ?? []) {
      const signature = one.transaction?.signatures?.[0];
      if (one.meta && signature !== undefined && this.#logless('getBlock', signature)) one.meta.logMessages = null;
    }
    return JSON.stringify(block);
  }

  #page(address: string, text: JsonText): JsonText {
    const method = 'getSignaturesForAddress';
    if (this.#faults.strike('emptyPage', method, address) !== null) {
      this.#faults.report('emptyPage', method, address);
      return '[]';
    }
    const short = this.#faults.strike('shortPage', method, address);
    if (short === null) return text;
    const page = JSON.parse(wholeText(text)) as unknown[];
    const kept = page.slice(0, Math.floor(page.length * (short.share ?? FAULT_DEFAULTS.share)));
    this.#faults.report('shortPage', method, address, { of: page.length, left: kept.length });
    return JSON.stringify(kept);
  }

  /** The pieces are the head, one piece per account, and the tail. */
  #accounts(method: string, program: string, text: JsonText): JsonText {
    const empty = this.#faults.strike('emptyAccounts', method, program);
    const cut = empty ?? this.#faults.strike('cutAccounts', method, program);
    if (cut === null || typeof text === 'string') return text;
    const pieces = [...text];
    const count = pieces.length - 2;
    const left = empty === null ? Math.floor(count * (cut.share ?? FAULT_DEFAULTS.share)) : 0;
    this.#faults.report(empty === null ? 'cutAccounts' : 'emptyAccounts', method, program, { of: count, left });
    return [...pieces.slice(0, 1 + left), ...pieces.slice(-1)];
  }
}

interface Parsed {
  readonly meta: { logMessages: unknown } | null;
  readonly transaction?: { readonly signatures?: readonly string[] };
}

function withoutLogs(transaction: Parsed): string {
  if (transaction.meta) transaction.meta.logMessages = null;
  return JSON.stringify(transaction);
}

function wholeText(text: JsonText): string {
  return typeof text === 'string' ? text : [...text].join('');
}
