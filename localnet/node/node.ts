// The node that clients talk to: its methods over its own view of the chain, and the faults in front of them.

import { Faults } from '../faults/faults.ts';
import { type Gate, httpFaults } from '../faults/http.ts';
import { BehindView } from '../ledger/behind.ts';
import type { ChainView } from '../ledger/view.ts';
import type { Ledger } from '../ledger.ts';
import { accountMethods } from '../rpc/account-methods.ts';
import { chainMethods } from '../rpc/chain-methods.ts';
import { Delivery } from '../rpc/delivery.ts';
import type { Method, Methods } from '../rpc/dispatch.ts';
import { historyMethods } from '../rpc/history-methods.ts';
import { faultControls } from './fault-controls.ts';
import { faultyMethods } from './faulty-methods.ts';

export interface Node {
  readonly faults: Faults;
  /** Faults of each gRPC server beside the node; the first one has those of the node. */
  readonly grpcFaults: readonly Faults[];
  readonly gate: Gate;
  readonly delivery: Delivery;
  /** Calls of a Solana node, and the controls of the faults. */
  readonly methods: [string, Method][];
  /** The calls of a Solana node that meet no fault. */
  readonly faultlessMethods: Methods;
}

/** `seed` decides where faults strike that have a probability. */
export function createNode(ledger: Ledger, seed: number, grpcServers = 0): Node {
  const slot = (): number => ledger.tipSlot;
  const faults = new Faults(seed, slot);
  const grpcFaults = Array.from({ length: grpcServers }, (_, server) => {
    return server === 0 ? faults : new Faults(seed + server, slot);
  });
  const faultlessMethods = methodsOver(ledger);
  const behind = new Map<number, Methods>([[0, faultlessMethods]]);
  const methodsBehind = (blocks: number): Methods => {
    const distance = Math.min(blocks, ledger.behindBlocks);
    let methods = behind.get(distance);
    if (methods === undefined) {
      methods = methodsOver(new BehindView(ledger, distance));
      behind.set(distance, methods);
    }
    return methods;
  };
  return {
    faults,
    grpcFaults,
    gate: httpFaults(faults),
    delivery: new Delivery(faults, slot),
    methods: [...faultyMethods(faults, methodsBehind), ...faultControls([faults, ...grpcFaults.slice(1)])],
    faultlessMethods,
  };
}

function methodsOver(view: ChainView): Methods {
  return new Map([...chainMethods(view), ...accountMethods(view), ...historyMethods(view)]);
}
