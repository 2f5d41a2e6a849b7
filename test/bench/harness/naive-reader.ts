// Reads a node as programs on the exchange's SDK do: web3.js subscribes, Anchor's coders decode every account and every log in full.

import { BorshAccountsCoder, BorshCoder, EventParser, type Idl } from '@coral-xyz/anchor';
import { Connection, PublicKey } from '@solana/web3.js';
import { loadDefinition } from '../../../schemas/index.ts';
import type { SenderReady } from './update-sender.ts';

export interface NaiveCounts {
  readonly accounts: number;
  readonly events: number;
  readonly cpuSeconds: number;
}

const MICROSECONDS = 1e6;
const definition = loadDefinition('velocity').programs[0];
if (!definition) throw new Error('no program');
const idl = definition.idl as Idl;
const program = new PublicKey(definition.programId);
let counts = { accounts: 0, events: 0 };
let begun = process.cpuUsage();

function follow({ rpcUrl, wsUrl }: SenderReady): void {
  const connection = new Connection(rpcUrl, { wsEndpoint: wsUrl, commitment: 'confirmed' });
  const accounts = new BorshAccountsCoder(idl);
  const parser = new EventParser(program, new BorshCoder(idl));
  connection.onProgramAccountChange(program, ({ accountInfo }) => {
    accounts.decodeAny(accountInfo.data);
    counts.accounts += 1;
  });
  connection.onLogs(program, ({ logs }) => {
    for (const _ of parser.parseLogs(logs)) counts.events += 1;
  });
  connection.onSlotChange(() => {});
}

process.on('message', (message: SenderReady | 'mark' | 'counts') => {
  if (message === 'mark') {
    counts = { accounts: 0, events: 0 };
    begun = process.cpuUsage();
  } else if (message === 'counts') {
    const { user, system } = process.cpuUsage(begun);
    process.send?.({ ...counts, cpuSeconds: (user + system) / MICROSECONDS } satisfies NaiveCounts);
  } else follow(message);
});
process.on('disconnect', () => process.exit(0));
