// Control calls for faults: switch them on and off, and read what they did.

import type { Faults } from '../faults/faults.ts';
import { FAULT_KINDS, type FaultKind, type FaultRequest, isFaultKind } from '../faults/kinds.ts';
import type { Method } from '../rpc/dispatch.ts';
import { invalidParams, invalidType } from '../rpc/errors.ts';
import { named } from '../rpc/named.ts';
import { type Config, integerOr, listOf } from '../rpc/params.ts';

const REPORTS_DEFAULT = 10_000;

/** `servers`: faults of the node, and of each further gRPC server. */
export function faultControls(servers: readonly Faults[]): [string, Method][] {
  const of = (config: Config) => serverOf(servers, config.server);
  return [
    ['localnet_fault', named((config) => ({ number: of(config).add(faultRequest(config)) }))],
    ['localnet_clearFaults', named((config) => ({ cleared: of(config).clear(optionalKind(config.kind)) }))],
    ['localnet_faults', named((config) => ({ active: of(config).list(), kinds: FAULT_KINDS }))],
    ['localnet_did', named((config) => did(of(config), config))],
  ];
}

/** @throws RpcError when there is no such gRPC server */
function serverOf(servers: readonly Faults[], server: unknown): Faults {
  const faults = servers[integerOr(server, 0)];
  if (faults === undefined) throw invalidParams(`No gRPC server ${String(server)}; there are ${servers.length}`);
  return faults;
}

function did(faults: Faults, config: Config): unknown {
  const limit = integerOr(config.limit, REPORTS_DEFAULT);
  const reports = faults.reports(integerOr(config.from, 0), limit, optionalKind(config.kind));
  return { counts: faults.counts(), reports };
}

/** @throws RpcError when the kind is unknown or a number is out of its range */
function faultRequest(config: Config): FaultRequest {
  const kind = kindOf(config.kind);
  return {
    kind,
    ...shareOf('probability', config.probability),
    ...shareOf('share', config.share),
    ...wholeOf('count', config.count),
    ...wholeOf('retryAfterSeconds', config.retryAfterSeconds),
    ...wholeOf('ms', config.ms),
    ...wholeOf('slots', config.slots),
    ...(typeof config.code === 'number' ? { code: config.code } : {}),
    ...(typeof config.message === 'string' ? { message: config.message } : {}),
    ...(config.methods === undefined ? {} : { methods: listOf(config.methods).map(String) }),
    ...(config.keys === undefined ? {} : { keys: listOf(config.keys).map(String) }),
  };
}

function kindOf(value: unknown): FaultKind {
  if (isFaultKind(value)) return value;
  throw invalidParams(`Unknown fault ${String(value)}; known: ${Object.keys(FAULT_KINDS).join(', ')}`);
}

function optionalKind(value: unknown): FaultKind | undefined {
  return value === undefined || value === null ? undefined : kindOf(value);
}

function shareOf<N extends string>(name: N, value: unknown): { [K in N]?: number } {
  if (value === undefined || value === null) return {};
  if (typeof value !== 'number' || !(value >= 0 && value <= 1)) throw invalidType(value, `${name} from 0 to 1`);
  return { [name]: value } as { [K in N]?: number };
}

function wholeOf<N extends string>(name: N, value: unknown): { [K in N]?: number } {
  if (value === undefined || value === null) return {};
  return { [name]: integerOr(value, 0) } as { [K in N]?: number };
}
