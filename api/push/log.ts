// Writes pushes to the process log instead of sending them: for development.

import type { Logger } from '../../platform/index.ts';
import type { PushAdapter } from './port.ts';

export function logAdapter(logger: Pick<Logger, 'info'>): PushAdapter {
  return {
    name: 'log',
    send: async ({ device, record, idempotencyKey }) => {
      const { notificationId, authorityId, type, title, body } = record;
      const { deviceId, platform } = device;
      logger.info({ notificationId, authorityId, type, title, body, deviceId, platform, idempotencyKey }, 'push');
    },
  };
}
