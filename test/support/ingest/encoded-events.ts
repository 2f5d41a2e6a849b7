// Every event of a simulated chain as ingest writes it, in chain order, read from its blocks.

import { compileEvents } from '../../../ingest/decode/events.ts';
import { decodeTransaction, type EncodedEvent } from '../../../ingest/decode/transaction.ts';
import { RpcSource } from '../../../ingest/rpc.ts';
import type { RunningLocalnet } from '../../../localnet/index.ts';
import { silentLogger } from '../../../platform/index.ts';
import { loadDefinition } from '../../../schemas/index.ts';

const definition = loadDefinition('velocity');

/** The localnet must keep its ledger. */
export async function encodedEventsOf({ rpcUrl, wsUrl, ledger }: RunningLocalnet): Promise<readonly EncodedEvent[]> {
  const decoder = compileEvents(definition);
  const urls = { rpcUrls: [rpcUrl], wsUrls: [wsUrl] };
  const source = new RpcSource({ ...urls, definition, logger: silentLogger(), silenceMs: 60_000 });
  const blocks = source.blocks(new AbortController().signal);
  const events: EncodedEvent[] = [];
  const { slots } = await blocks.slots({ fromSlot: ledger.genesisSlot, toSlot: ledger.tipSlot });
  for (const slot of slots) {
    const block = await blocks.read(slot);
    for (const transaction of block?.transactions ?? []) {
      if (!transaction.failed) events.push(...decodeTransaction(transaction, decoder).events);
    }
  }
  return events;
}
