// Faults that the simulation must find. Each is one change of a source text, made while the module loads in a thread of its own:
// product code knows nothing of them.

import { changeModule, type SourceChange } from '../support/platform/changed-module.ts';

export interface Mutation extends SourceChange {
  /** Runs without it never meet the fault, so they are counted and not run; absent: any run may. */
  readonly needs?: 'grpc' | 'processed' | 'merged' | 'jumpSlots' | 'drop';
}

export const MUTATIONS: readonly Mutation[] = [
  {
    name: 'the resume point follows slot notifications',
    file: 'ingest/rpc/session.ts',
    find: 'this.#intake.labels.announced(slot);',
    replace: "this.#parts.history.notified('slots', slot); this.#intake.labels.announced(slot);",
  },
  {
    name: 'the resume point passes a transaction that no node returned',
    file: 'ingest/rpc/history.ts',
    find: 'Math.min(toSlot, oldestMissing - 1, ...covered)',
    replace: 'Math.min(toSlot, ...covered)',
  },
  {
    name: 'the resume point passes what a list was asked too early for',
    file: 'ingest/rpc/history.ts',
    find: 'return isCurrent ? Math.min(toSlot, Math.max(newest, list?.askedSlot ?? -1)) : newest;',
    replace: 'return isCurrent ? toSlot : newest;',
  },
  {
    name: 'a short page counts as the end',
    file: 'ingest/rpc/history.ts',
    find: 'if (last === null || last === before) break;',
    replace: 'if (page.length < PAGE) return list(true);',
  },
  {
    name: 'the first transaction after a reconnect is dropped',
    file: 'ingest/rpc/session.ts',
    find: 'history.notified(program, transaction.slot);',
    replace:
      'history.notified(program, transaction.slot); const self = this as unknown as { hadOne?: boolean }; if (!self.hadOne) { self.hadOne = true; history.take(transaction.signature, transaction.slot); return; }',
  },
  {
    name: 'stored events are forgotten at a restart',
    file: 'ingest/writer.ts',
    find: 'this.#begins = this.nextOffsets;\n    await this.#catchUp(found);',
    replace: 'this.#begins = this.nextOffsets;',
  },
  {
    name: 'minContextSlot is not sent and not checked',
    file: 'ingest/rpc/json-rpc.ts',
    find: 'return minSlot !== undefined && minSlot > 0 ? { commitment, minContextSlot: minSlot } : { commitment };',
    replace: 'return { commitment };',
  },
  {
    name: 'a full read of a stale node is accepted, by the question and by the answer',
    file: 'ingest/rpc/full-reading.ts',
    // Both guards at once: the node refuses to answer from before a slot, and the answer's own slot is compared.
    find: `      const answer = await read(old < OLD_READS_MAX ? fromSlot() : 0).catch((error: unknown) => {
        if (error instanceof RpcError && error.code === BEHIND) old += 1;
        throw error;
      });
      if (Math.min(...answer.slots) >= fromSlot() || old++ >= OLD_READS_MAX) return answer;`,
    replace: '      return read(0);',
  },
  {
    name: 'an item error counts as an answer',
    file: 'ingest/rpc/history.ts',
    find: 'missing += 1;\n        oldestMissing = Math.min(oldestMissing, entry.slot);',
    replace: 'this.#seen.set(entry.signature, entry.slot);',
  },
  {
    name: 'a cut log counts as complete',
    file: 'ingest/pipeline.ts',
    find: 'if (decoded.incomplete) decoded = await this.#refetch(transaction, decoded);',
    replace: '',
  },
  {
    name: 'a gap counts as filled when its begin is reached',
    file: 'ingest/gaps.ts',
    find: 'isOpen(gap) && !gap.isLasting && gap.toSlot <= slot',
    replace: 'isOpen(gap) && !gap.isLasting && gap.fromSlot <= slot',
  },
  {
    name: 'failed transactions count',
    file: 'ingest/rpc/notifications.ts',
    find: 'failed: (err ?? null) !== null,',
    replace: 'failed: false,',
  },
  {
    name: 'a slot is labelled with its first data',
    file: 'ingest/rpc/slot-labels.ts',
    find: 'return this.#label(complete);',
    replace: 'return this.#label(slot);',
  },
  {
    name: 'the first full read leaves out known accounts',
    file: 'ingest/differ.ts',
    find: 'this.#bracketed = true;\n      this.#forget();',
    replace: 'this.#bracketed = true;',
  },
  {
    name: 'changes that arrive during a full read are dropped',
    file: 'ingest/rpc/intake.ts',
    find: 'update.slot > (slots[kind] ?? before)',
    replace: 'update.slot > (slots[kind] ?? before) + 1e9',
  },
  {
    name: 'a full read ends before the stream has passed it',
    file: 'ingest/rpc/intake.ts',
    find: 'const isOfOneSlot = slot === newest && this.labels.dataSlot <= slot;',
    replace: 'const isOfOneSlot = true;',
  },
  {
    name: 'changes of a later full read have the slots of their accounts',
    file: 'ingest/differ.ts',
    find: 'emit(changeAt(snapshotSlot, change));',
    replace: 'emit(change);',
  },
  {
    name: 'a full read on a chain that stands still is not labelled',
    file: 'ingest/rpc/intake.ts',
    find: 'if (isWhole) this.label(this.labels.complete(slot));',
    replace: '',
  },
  {
    name: 'the books of a market are not written',
    file: 'ingest/record-buffer.ts',
    find: 'this.#record(topic, marketKey(value), name, value, slot);',
    replace: "if (marketKey(value) !== 'perp-1') this.#record(topic, marketKey(value), name, value, slot);",
  },
  {
    name: 'a full read never ends its books',
    file: 'ingest/full-emission.ts',
    find: "for (const [, ref] of fresh) emit({ name: 'BookSnapshotEnd', value: { ...ref, snapshotSlot } });",
    replace: '',
  },
  {
    name: 'the whole history is a lasting gap',
    file: 'ingest/rpc/transaction-audit.ts',
    find: 'for (const hole of holes)',
    replace:
      "for (const hole of [...holes, { fromSlot: 0, toSlot: Math.max(0, history.liveSlot), reason: 'not known' }])",
  },
  {
    name: 'a node that lost blocks lists beside a whole one',
    file: 'ingest/rpc/transaction-audit.ts',
    needs: 'jumpSlots',
    find: 'return tips.has(endpoint) && (this.#parts.history.resume?.slot ?? 0) >= Math.max(...tips.values());',
    replace: 'return true;',
  },
  {
    name: 'a quiet program holds the resume point',
    file: 'ingest/rpc/history.ts',
    find: 'if (live > listed && live >= this.#floor) return newest;',
    replace: 'if (live > listed) return newest;',
  },
  {
    name: 'a full read does not wait for the first block of its gRPC stream',
    file: 'ingest/grpc/session.ts',
    needs: 'grpc',
    find: 'await waitFor(() => this.#firstSlot >= 0, FIRST_BLOCK_PATIENCE_MS, signal);',
    replace: 'this.#firstSlot = 0;',
  },
  {
    name: 'a block that a gRPC stream skipped is not missed',
    file: 'ingest/grpc/cursor.ts',
    needs: 'grpc',
    find: "if (parent.slot > last.slot) return 'missing';",
    replace: "if (parent.slot > last.slot) return 'next';",
  },
  {
    name: 'a gRPC stream is continued after its newest block',
    file: 'ingest/grpc/cursor.ts',
    needs: 'grpc',
    find: 'this.#complete = this.#newest;',
    replace: 'this.#complete = block;',
  },
  {
    name: 'the first block of a gRPC replay is dropped',
    file: 'ingest/grpc/replay.ts',
    needs: 'grpc',
    find: 'if (update.slot <= this.#from.slot) return;',
    replace: 'if (update.slot <= this.#from.slot + 1) return;',
  },
  {
    name: 'an undo at processed restores the states of the lost block',
    file: 'ingest/forks/states.ts',
    needs: 'processed',
    find: 'if (pubkey) this.#emit(key, state, pubkey);',
    replace: 'if (pubkey) this.#emit(key, state ?? emitted, pubkey);',
  },
  {
    name: 'an undo leaves out the orders that the lost blocks removed',
    file: 'ingest/forks/books.ts',
    needs: 'processed',
    find: `      emit: (update) => this.#take(update),
      reverted: (slot) => this.#revert(slot),`,
    replace: `      emit: (update) => {
        const self = this as unknown as { isUndoing?: boolean; removed?: Set<string> };
        const removed = (self.removed ??= new Set());
        const idOf = (order: { maker: Uint8Array; orderId: number }) => Buffer.from(order.maker).toString('hex') + order.orderId;
        this.#slot = Math.max(this.#slot, update.slot);
        this.#differ?.account(changed(update, { slot: this.#slot, writeVersion: null }), (output) => {
          if (output.name !== 'BookOrders') return this.#emit(output);
          const upserts = output.value.upserts.filter((order) => !self.isUndoing || !removed.has(idOf(order)));
          for (const order of output.value.removals) removed.add(idOf(order));
          for (const order of upserts) removed.delete(idOf(order));
          this.#emit({ ...output, value: { ...output.value, upserts } });
        });
      },
      reverted: (slot) => {
        (this as unknown as { isUndoing?: boolean }).isUndoing = slot !== null;
        this.#revert(slot);
      },`,
  },
  {
    name: 'a revert is not published',
    file: 'ingest/forks/books.ts',
    needs: 'processed',
    find: "if (this.#differ) this.#everywhere('BookRevert', { slot: this.#slot, reverted });",
    replace: '',
  },
  {
    name: 'the states of a dead slot stay',
    file: 'ingest/forks/chain.ts',
    needs: 'processed',
    find: 'this.#dead.add(slot);',
    replace: '',
  },
  {
    name: 'the fills of a lost block are not withdrawn by news of it',
    file: 'ingest/forks/trades.ts',
    needs: 'processed',
    find: 'for (const { fills } of withdrawn) for (const fill of fills) this.#withdraw(fill);',
    replace: '',
  },
  {
    name: 'fills are withdrawn only with the next transaction',
    file: 'ingest/forks/books.ts',
    needs: 'processed',
    find: 'this.#parts.moved?.();',
    replace: '',
  },
  {
    name: 'a fill of a slot of which too little is known is withdrawn',
    file: 'ingest/forks/fills.ts',
    needs: 'processed',
    find: "if (place === 'left' && this.#published.delete(id)) withdrawn.push(transaction);",
    replace: "if (place !== 'followed' && this.#published.delete(id)) withdrawn.push(transaction);",
  },
  {
    name: 'a fill at processed is resolved without its confirmation',
    file: 'ingest/forks/trades.ts',
    needs: 'processed',
    find: "for (const fill of events.filter(isFill)) this.#fill('confirmed', fill);",
    replace: '',
  },
  {
    name: 'fills of resolved slots stay without a confirmation',
    file: 'processors/processed-trades/role.ts',
    needs: 'processed',
    find: "if (name === 'FillsResolved') return this.#trades.resolve(value.slot);",
    replace: '',
  },
  {
    name: 'a withdrawn fill is withdrawn again',
    file: 'processors/processed-trades/processed-trades.ts',
    needs: 'processed',
    find: 'this.#close(idOf({ signature: bs58.decode(fill.txSig), eventIndex: fill.txSigIndex }));',
    replace: '',
  },
  {
    name: 'a fill at processed is published again when it is confirmed',
    file: 'processors/processed-trades/processed-trades.ts',
    needs: 'processed',
    find: 'known?.slot === fill.slot ? [] : [...this.#withdrawn(known), this.#publish(event, fill)];',
    replace: '[this.#publish(event, fill)];',
  },
  {
    name: 'the newest block of a quiet gRPC stream is labelled without a pong',
    file: 'ingest/grpc/block-end.ts',
    needs: 'grpc',
    find: 'else this.#options.ping(++this.#pinged);',
    replace: 'else this.#options.ended();',
  },
  {
    name: 'an announced slot counts as followed where two forks compete',
    file: 'ingest/forks/chain.ts',
    needs: 'processed',
    find: 'return others.every((other) => this.#standsOn(other, slot) || this.#isInvalid(other));',
    replace: 'return others.length >= 0;',
  },
  {
    name: 'a newer confirmed state of another fork is no undo',
    file: 'ingest/forks/states.ts',
    needs: 'processed',
    find: 'if (isUndone) this.#ports.reverted(emitted);',
    replace: '',
  },
  {
    name: 'the account updates of all live sources are applied',
    file: 'ingest/merge/merge.ts',
    needs: 'merged',
    find: 'if (isLeader) this.#passAccount(update);',
    replace: 'if (isLeader || member.reading === null) this.#passAccount(update);',
  },
  {
    name: 'the transactions of all live sources are applied',
    file: 'ingest/merge/copies.ts',
    needs: 'merged',
    find: 'if (this.#signatures.has(signature)) return [];',
    replace: '',
  },
  {
    name: 'the resume point passes copies that wait',
    file: 'ingest/merge/merge.ts',
    needs: 'merged',
    find: 'this.#passCopies(slot);',
    replace: '',
  },
  {
    name: 'a source that lies is not named',
    file: 'ingest/merge/comparison.ts',
    needs: 'merged',
    find: 'counts.faults += 1;',
    replace: '',
  },
  {
    name: 'transactions of a dropped confirmed slot stay',
    file: 'ingest/rpc/finalized.ts',
    needs: 'drop',
    find: 'return lacking;',
    replace: 'return [];',
  },
  {
    name: 'confirmed transactions are compared before their slot is final',
    file: 'ingest/finality/check.ts',
    needs: 'drop',
    find: 'slot <= this.#finalSlot - MARGIN_SLOTS',
    replace: 'slot <= this.#finalSlot + 24',
  },
  {
    name: 'a restart forgets which transactions are not final yet',
    file: 'ingest/role.ts',
    needs: 'drop',
    find: '({ slot, signature }) => finality?.stored({ slot, signature: bs58.encode(signature) })',
    replace: '() => {}',
  },
  {
    name: 'the resume state leaves out transactions that are not compared yet',
    file: 'ingest/resume-state.ts',
    needs: 'drop',
    find: 'Math.min(resume.slot - RESUME_MARGIN_SLOTS, oldestWaiting)',
    replace: 'resume.slot - RESUME_MARGIN_SLOTS',
  },
  {
    name: 'a restart forgets what it retracted',
    file: 'ingest/role.ts',
    needs: 'drop',
    find: 'finality?.retracted(one.slot, signaturesOf(one));',
    replace: 'signaturesOf(one);',
  },
  {
    name: 'a dropped transaction that lands again is not written',
    file: 'ingest/finality/landed.ts',
    needs: 'drop',
    find: 'found.length > 0 ? await this.#parts.write(found) : []',
    replace: '[]',
  },
  {
    name: 'an event that landed again is written by each read',
    file: 'ingest/writer.ts',
    needs: 'drop',
    find: 'if (this.#forgotten.delete(id)) this.#known.add(id);',
    replace: 'this.#forgotten.delete(id);',
  },
];

/** Puts a fault into the modules that this thread loads from now on. */
export function putIn(name: string): void {
  const mutation = MUTATIONS.find((one) => one.name === name);
  if (mutation === undefined) throw new RangeError(`no mutation ${name}`);
  changeModule(mutation);
}
