// Asks a node every call and collects one kind of notification after the other, as shapes.

import { decodeAccountData } from '../../../../ingest/rpc/account-data.ts';
import { ask, call, RawPubSub } from '../../../support/localnet/test-client.ts';
import { eventually } from '../../../support/platform/eventually.ts';
import type { NodeCall, Subjects } from './call.ts';
import { CALLS } from './calls.ts';
import { type Shape, shapeOf } from './shape.ts';
import { type Changing, REFUSALS, SILENT, SUBSCRIPTIONS } from './subscriptions.ts';

/** Shapes by the name of the call or subscription. */
export type Shapes = Readonly<Record<string, Shape>>;

export interface Observed {
  readonly shapes: Shapes;
  /** Results of the calls whose values must agree, without their context. */
  readonly values: Readonly<Record<string, unknown>>;
}

/** Updates that every slot of a healthy chain has. */
const SLOT_UPDATES = ['completed', 'createdBank', 'frozen', 'optimisticConfirmation', 'root'];

export async function observeCalls(
  rpcUrl: string,
  subjects: Subjects,
  calls: readonly NodeCall[] = CALLS,
): Promise<Observed> {
  const shapes: Record<string, Shape> = {};
  const values: Record<string, unknown> = {};
  for (const { name, method, params, sameValues, isAtTip } of calls) {
    const given = isAtTip ? { ...subjects, tip: await newestSlot(rpcUrl) } : subjects;
    const { result, error } = await call(rpcUrl, method, params(given));
    shapes[name] = shapeOf(error === undefined ? { result } : { error });
    if (sameValues) values[name] = comparable(withoutContext(result));
  }
  return { shapes, values };
}

const newestSlot = (rpcUrl: string) => ask<number>(rpcUrl, 'getSlot', [{ commitment: 'processed' }]);

export async function observeRefusals(wsUrl: string, changing: Changing): Promise<Shapes> {
  const client = await RawPubSub.open(wsUrl);
  const shapes: Record<string, Shape> = {};
  for (const { name, method, params } of REFUSALS) {
    const { result, error } = await client.call(method, params(changing));
    shapes[name] = shapeOf(error === undefined ? { result } : { error });
  }
  client.close();
  return shapes;
}

interface Subscribed {
  readonly client: RawPubSub;
  /** Names of the subscriptions by number. */
  readonly names: ReadonlyMap<number, string>;
}

/** `act` makes the program's accounts and the wallet change. It runs until every subscription has a notification. */
export async function observeSubscriptions(
  wsUrl: string,
  changing: Changing,
  act: () => Promise<unknown>,
): Promise<Shapes> {
  const subscribe = async (): Promise<Subscribed> => {
    const client = await RawPubSub.open(wsUrl);
    const names = new Map<number, string>();
    for (const { name, kind, params } of [...SUBSCRIPTIONS, SILENT])
      names.set(await client.subscribe(kind, ...params(changing)), name);
    return { client, names };
  };
  let subscribed = await subscribe();
  const received = new Map<string, unknown[]>();
  await eventually(async () => {
    // A node closes the socket of a client that reads too slowly.
    if (subscribed.client.isClosed) subscribed = await subscribe();
    const { client, names } = subscribed;
    await act();
    for (const { method, params } of await client.settle()) {
      const name = names.get(params.subscription) ?? 'none';
      received.set(name, [...(received.get(name) ?? []), { method, result: params.result }]);
    }
    const missing = SUBSCRIPTIONS.map(({ name }) => name).filter((name) => !received.has(name));
    const updates = JSON.stringify(received.get('slotsUpdates') ?? []);
    missing.push(...SLOT_UPDATES.filter((type) => !updates.includes(`"type":"${type}"`)));
    if (missing.length > 0) throw new Error(`no notification yet: ${missing.join(', ')}`);
  }, 100);
  subscribed.client.close();
  return Object.fromEntries([...received].map(([name, all]) => [name, shapeOf(all)]));
}

function withoutContext(result: unknown): unknown {
  return typeof result === 'object' && result !== null && 'value' in result ? result.value : result;
}

/**
 * Lists of accounts by key, and fields by name, because nodes have no order for either. Packed data is unpacked: two libraries pack it
 * differently.
 */
function comparable(value: unknown): unknown {
  if (Array.isArray(value)) {
    const [data, encoding] = value;
    if (encoding === 'base64+zstd') return decodeAccountData([String(data), encoding]).toString('base64');
    const items = value.map(comparable);
    const isKeyed = items.every((item) => typeof item === 'object' && item !== null && 'pubkey' in item);
    return isKeyed ? items.sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)) : items;
  }
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, inner]) => [name, comparable(inner)]));
}
