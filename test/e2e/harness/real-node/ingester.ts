// Ingest's own readers on a node: what they make of its answers, and each form in which they ask.

import bs58 from 'bs58';
import { PubSubForks } from '../../../../ingest/forks/pubsub.ts';
import { openDecoder } from '../../../../ingest/rpc/account-data.ts';
import { accountFilters } from '../../../../ingest/rpc/account-filters.ts';
import { AccountStream } from '../../../../ingest/rpc/account-stream.ts';
import { RequestBudget } from '../../../../ingest/rpc/budget.ts';
import { type Clock, REAL_CLOCK } from '../../../../ingest/rpc/clock.ts';
import { Endpoint } from '../../../../ingest/rpc/endpoint.ts';
import { FinalizedChain } from '../../../../ingest/rpc/finalized.ts';
import { JsonRpc } from '../../../../ingest/rpc/json-rpc.ts';
import { Nodes } from '../../../../ingest/rpc/nodes.ts';
import { NETWORK, type Transport } from '../../../../ingest/rpc/transport.ts';
import { RpcSource } from '../../../../ingest/rpc.ts';
import { silentLogger } from '../../../../platform/index.ts';
import { loadDefinition } from '../../../../schemas/index.ts';
import { until } from '../../../support/platform/eventually.ts';
import { CONFIRMED, FAKE_KIND, FAR, MISSING_KEY, MISSING_SIGNATURE, type NodeCall, type Subjects } from './call.ts';
import type { NodeSubscription } from './subscriptions.ts';

const SILENCE_MS = 60_000;
const AUDIT_MS = 100;
/** Pauses between the rounds of a request take no time. */
const CLOCK: Clock = { ...REAL_CLOCK, wait: async () => {} };
/** Members that say where an answer begins and how long it is. */
const PLACES: ReadonlySet<string> = new Set(['minContextSlot', 'before', 'limit', 'paginationKey', 'changedSinceSlot']);

/** Notes the form of each request on its way to the network. */
export function noting(forms: Set<string>): Transport {
  const note = (text: string): void => {
    const asked = JSON.parse(text) as Request | readonly Request[];
    for (const { method, params } of [asked].flat()) forms.add(formOf(method, params));
  };
  return {
    post: (url, body, signal) => {
      note(body);
      return NETWORK.post(url, body, signal);
    },
    connect: async (url) => {
      const socket = await NETWORK.connect(url);
      const send = socket.send.bind(socket);
      socket.send = (text) => {
        note(text);
        send(text);
      };
      return socket;
    },
    openWorker: () => {
      const worker = NETWORK.openWorker();
      const postMessage = worker.postMessage.bind(worker);
      worker.postMessage = (request) => {
        if (request.kind === 'read') note(request.body);
        postMessage(request);
      };
      return worker;
    },
  };
}

interface Request {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** The method, and the members of its configuration without places, keys and bytes. */
function formOf(method: string, params: readonly unknown[]): string {
  const config = params.at(-1);
  if (typeof config !== 'object' || config === null || Array.isArray(config)) return method;
  const members = Object.entries(config).filter(([name]) => !PLACES.has(name));
  return [method, ...members.map(([name, value]) => `${name}=${kindsOf(value)}`).sort()].join(' ');
}

/** Filters by their kinds: their number is that of the accounts. */
function kindsOf(value: unknown): string {
  return Array.isArray(value)
    ? [...new Set(value.flatMap((one: object) => Object.keys(one)))].join('+')
    : String(value);
}

export function formsOf(
  calls: readonly NodeCall[],
  subscriptions: readonly NodeSubscription[],
  subjects: Subjects,
): ReadonlySet<string> {
  const kind = { program: subjects.program, bytes: FAKE_KIND };
  const changing = { program: subjects.program, wallet: subjects.wallet, kind };
  return new Set([
    ...calls.flatMap(({ method, params }) => {
      const given = params(subjects);
      return Array.isArray(given) ? [formOf(method, given)] : [];
    }),
    ...subscriptions.map(({ kind: name, params }) => formOf(`${name}Subscribe`, params(changing))),
  ]);
}

/** What the readers make of a node, as far as two nodes with the same accounts must agree. */
export async function readAsIngest(rpcUrl: string, subjects: Subjects, transport: Transport): Promise<object> {
  await openDecoder();
  const { signal } = new AbortController();
  const endpoint = new Endpoint(rpcUrl, new RequestBudget(0, CLOCK), CLOCK, transport);
  const nodes = new Nodes([endpoint], CONFIRMED.commitment, signal, CLOCK);
  const stream = new AccountStream(transport);
  const rpc = new JsonRpc(nodes, stream);
  try {
    return {
      ...(await accountsOf(rpc, subjects)),
      ...(await transactionsOf(rpc, subjects)),
      ...(await blocksOf(rpc, subjects)),
      ...(await finalityOf(new FinalizedChain(nodes, signal), subjects)),
    };
  } finally {
    await stream.close();
  }
}

async function accountsOf(rpc: JsonRpc, { program, accounts, tip }: Subjects): Promise<object> {
  const filters = [{ memcmp: { offset: 0, bytes: FAKE_KIND } }];
  const options = { ...CONFIRMED, minSlot: tip };
  const ofKind = await rpc.programAccounts(program, filters, options);
  const byKey = await rpc.accounts([...accounts, MISSING_KEY], options);
  const ahead = await rpc.accounts(accounts.slice(0, 1), { ...CONFIRMED, minSlot: tip + FAR }).catch(codeOf);
  return {
    ofKind: [...ofKind.accounts.updates()].map(({ pubkey, data }) => `${bs58.encode(pubkey)} ${base64(data)}`).sort(),
    byKey: byKey.accounts.map((account) => account && { ...account, data: base64(account.data) }),
    isRecent: ofKind.slot >= tip && byKey.slot >= tip,
    ahead,
  };
}

async function transactionsOf(rpc: JsonRpc, subjects: Subjects): Promise<object> {
  const { wallet, signature, lookupSignature, failedSignature, tip } = subjects;
  const named = [signature, lookupSignature, failedSignature, MISSING_SIGNATURE];
  const listed = await rpc.signatures(wallet, { limit: 1_000, before: null }, { ...CONFIRMED, minSlot: tip });
  const read = await rpc.transactions(named, CONFIRMED.commitment);
  return {
    listed: named.map((one) => listed.find((found) => found.signature === one)?.failed ?? null),
    read: read.map((one) => one.found && { failed: one.found.failed, hasLogs: one.found.logs.length > 0 }),
    misses: read.map((one) => (one.found === null ? one.miss : null)),
  };
}

async function blocksOf(rpc: JsonRpc, subjects: Subjects): Promise<object> {
  const { lookupSignature, lookedUp, slot, skippedSlot, tip } = subjects;
  const block = await rpc.block(slot, [lookedUp], CONFIRMED);
  const header = await rpc.blockLists.header(slot, CONFIRMED);
  const first = await rpc.firstAvailableBlock();
  const compared = await rpc.blockLists.compare(slot, CONFIRMED);
  return {
    // A busy validator puts several of them into one block.
    block: block?.transactions.filter((one) => one.signature === lookupSignature).map((one) => one.blockIndex !== null),
    lacking: block?.lacking,
    header: header && [typeof header.blockhash, typeof header.parentSlot],
    skipped: await rpc.block(skippedSlot, [lookedUp], CONFIRMED),
    skippedHeader: await rpc.blockLists.header(skippedSlot, CONFIRMED),
    skippedTime: await rpc.blockTime(skippedSlot).catch(codeOf),
    future: await rpc.block(tip + FAR, [lookedUp], CONFIRMED).catch(codeOf),
    inRange: (await rpc.blockLists.inRange({ fromSlot: slot, toSlot: slot }, CONFIRMED)).missing,
    time: typeof (await rpc.blockTime(slot)),
    reachesBack: first <= slot,
    isWhole: compared.whole.size,
    genesis: (await rpc.genesisHash()).length > 0,
    tips: [(await rpc.slot('finalized')) >= slot, (await rpc.slot('processed')) >= tip],
  };
}

async function finalityOf(chain: FinalizedChain, subjects: Subjects): Promise<object> {
  const { lookupSignature: signature, slot } = subjects;
  const elsewhere = { signature: MISSING_SIGNATURE, slot };
  return {
    lackingFinal: (await chain.lacking([{ signature, slot }, elsewhere])).map((one) => one === elsewhere),
    landed: (await chain.landed([signature, MISSING_SIGNATURE])).map((one) => one.slot === slot),
  };
}

/** Follows a node like ingest, at `confirmed` and at `processed`, until a read of all accounts is over and audits have run. */
export async function followAsIngest({ rpcUrl, wsUrl }: Urls, transport: Transport, forms: Set<string>): Promise<void> {
  const over = new AbortController();
  const definition = loadDefinition('velocity');
  const source = new RpcSource({
    rpcUrls: [rpcUrl],
    wsUrls: [wsUrl],
    definition,
    logger: silentLogger(),
    silenceMs: SILENCE_MS,
    auditMs: AUDIT_MS,
    sampleSlots: 1,
    transport,
  });
  const nothing = () => {};
  const books = { news: nothing, account: nothing };
  const forks = new PubSubForks(
    { books, trades: { take: nothing }, silenceMs: SILENCE_MS, signal: over.signal },
    {
      wsUrl,
      filters: accountFilters(definition),
      programs: definition.programs.map(({ programId }) => programId),
      transport,
    },
  ).run();
  const seen = new Set<string>();
  const following = (async () => {
    for await (const updates of source.updates(null, over.signal)) for (const { kind } of updates) seen.add(kind);
  })();
  try {
    const isAsked = (method: string) => [...forms].some((form) => form.startsWith(method));
    await until(() => seen.has('snapshotEnd') && seen.has('slot') && seen.has('progress') && isAsked('getBlocks '));
    await until(() => isAsked('slotsUpdatesSubscribe'));
  } finally {
    over.abort();
    await Promise.all([following, forks]);
  }
}

interface Urls {
  readonly rpcUrl: string;
  readonly wsUrl: string;
}

const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
const codeOf = (error: unknown) => (error as { readonly code?: unknown }).code;
