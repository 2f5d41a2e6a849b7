// Opens the source that the configuration names.

import type { Config, Logger } from '../platform/index.ts';
import type { ChainDefinition } from '../schemas/index.ts';
import { CaptureSource } from './capture/source.ts';
import { RpcSource } from './rpc.ts';
import type { Source } from './source.ts';

export function openSource(config: Config, definition: ChainDefinition, logger: Logger): Source {
  if (config.source === 'capture') return new CaptureSource(config.capturePath);
  const { rpcUrl, rpcWsUrl: wsUrl, slotStallMs: silenceMs, sampleSlots } = config;
  return new RpcSource({ rpcUrl, wsUrl, definition, logger, silenceMs, sampleSlots });
}
