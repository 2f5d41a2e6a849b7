// The way of a notification to its sockets, and the faults on it: lost, doubled, late, or a socket that goes silent.

import type { Faults } from '../faults/faults.ts';
import { FAULT_DEFAULTS, REORDER_DISTANCE_MAX } from '../faults/kinds.ts';
import type { Subscriber, Subscription } from './subscriptions.ts';

interface Held {
  readonly frame: Buffer;
  readonly subscription: Subscription;
  /** Notifications until it is sent. */
  wait: number;
}

interface Silence {
  /** Slot of the last decision for this socket. */
  slot: number;
  untilMs: number;
}

export class Delivery {
  readonly #faults: Faults;
  readonly #slot: () => number;
  readonly #now: () => number;
  readonly #silences = new WeakMap<Subscriber, Silence>();
  #held: Held[] = [];

  /** `slot` returns the newest slot of the chain, `now` milliseconds. */
  constructor(faults: Faults, slot: () => number, now: () => number = Date.now) {
    this.#faults = faults;
    this.#slot = slot;
    this.#now = now;
  }

  /** Sends one notification of a subscription, unless a fault has other plans. */
  send(kind: string, result: string, subscription: Subscription): void {
    const method = `${kind}Notification`;
    if (!this.#faults.active('notification') && !this.#faults.has('slotJump')) {
      if (this.#held.length > 0) this.#release(Number.POSITIVE_INFINITY);
      this.#push(frameOf(method, result, subscription), subscription);
      return;
    }
    const text = kind === 'slot' ? this.#jumped(result) : result;
    const frame = frameOf(method, text, subscription);
    if (this.#strikes('loseNotification', method, text)) return;
    if (this.#strikes('reorderNotification', method, text)) {
      const wait = 1 + Math.floor(this.#faults.chance(`distance|${text}`) * REORDER_DISTANCE_MAX);
      this.#held.push({ frame, subscription, wait });
      return;
    }
    this.#push(frame, subscription);
    if (this.#strikes('duplicateNotification', method, text)) this.#push(frame, subscription);
    this.#release(1);
  }

  #strikes(
    kind: 'loseNotification' | 'reorderNotification' | 'duplicateNotification',
    method: string,
    text: string,
  ): boolean {
    if (!this.#faults.has(kind)) return false;
    const key = keyIn(text);
    if (this.#faults.strikeKey(kind, method, key, text) === null) return false;
    this.#faults.report(kind, method, key);
    return true;
  }

  #jumped(result: string): string {
    const jump = this.#faults.strike('slotJump', 'slotNotification');
    if (jump === null) return result;
    const slots = jump.slots ?? FAULT_DEFAULTS.jumpSlots;
    this.#faults.report('slotJump', 'slotNotification', null, { slots });
    const announced = JSON.parse(result) as { parent: number; root: number; slot: number };
    return JSON.stringify({ ...announced, slot: announced.slot + slots });
  }

  /** Lets `notifications` pass the held ones, and sends those whose wait is over. */
  #release(notifications: number): void {
    if (this.#held.length === 0) return;
    const due: Held[] = [];
    const waiting: Held[] = [];
    for (const held of this.#held) {
      held.wait -= notifications;
      (held.wait <= 0 ? due : waiting).push(held);
    }
    this.#held = waiting;
    for (const { frame, subscription } of due) this.#push(frame, subscription);
  }

  #push(frame: Buffer, subscription: Subscription): void {
    for (const subscriber of subscription.subscribers) {
      if (!this.#silent(subscriber)) subscriber.send(frame);
    }
  }

  #silent(subscriber: Subscriber): boolean {
    const known = this.#silences.get(subscriber);
    if (known !== undefined && this.#now() < known.untilMs) return true;
    const slot = this.#slot();
    if (!this.#faults.has('silentSocket') || known?.slot === slot) return false;
    const connection = String(subscriber.connection);
    const struck = this.#faults.strikeKey('silentSocket', 'socket', `${connection}|${slot}`);
    const untilMs = struck === null ? 0 : this.#now() + (struck.ms ?? Number.POSITIVE_INFINITY);
    this.#silences.set(subscriber, { slot, untilMs });
    if (struck === null) return false;
    this.#faults.report('silentSocket', 'socket', connection, { ms: struck.ms ?? null });
    return true;
  }
}

function frameOf(method: string, result: string, subscription: Subscription): Buffer {
  return Buffer.from(
    `{"jsonrpc":"2.0","method":"${method}","params":{"result":${result},"subscription":${subscription.id}}}`,
  );
}

/** The signature, account or slot of a notification. */
function keyIn(result: string): string | null {
  const named = /"(?:signature|pubkey)":"(\w+)"/.exec(result);
  return named?.[1] ?? /"slot":(\d+)/.exec(result)?.[1] ?? null;
}
