// GET /health, / and /startup: whether slots flow, and whether this process can answer.

import type { FastifyInstance } from 'fastify';
import { OrderbookError } from '../../errors.ts';
import { HEALTH_CONTRACT, STARTUP_CONTRACT } from '../contracts/service.ts';
import { SlotHealth } from '../health.ts';
import { serve } from '../route.ts';
import type { OrderbookServices } from '../services.ts';

export function healthRoutes(app: FastifyInstance, services: OrderbookServices): void {
  const { reader, slotStallMs, feeds, quality, fillQuality } = services;
  const followers = [reader, feeds, quality, fillQuality];
  const health = new SlotHealth(slotStallMs);
  const answer = async (): Promise<string> => {
    const sight = { slot: reader.newestSlot, advancedAtMs: reader.slotAdvancedAtMs };
    if (!health.healthy(sight, reader.now())) throw new OrderbookError('stalled');
    return 'OK';
  };
  serve(app, '/health', HEALTH_CONTRACT, answer);
  serve(app, '/', HEALTH_CONTRACT, answer);
  serve(app, '/startup', STARTUP_CONTRACT, async () => {
    if (!followers.every((follower) => follower?.ready ?? true)) throw new OrderbookError('notReady');
    return 'OK';
  });
}
