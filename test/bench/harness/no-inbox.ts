// Loaded before a server: takes the fair inbox out of its gateway. Each client has a token bucket instead, and is closed when
// that is empty. So a bench compares both.

import { changeModule } from '../../support/platform/changed-module.ts';

const [NAME, INBOX, LIMITS] = ['no inbox', 'api/gateway/inbox.ts', 'api/gateway/limits.ts'];

changeModule({
  name: NAME,
  file: INBOX,
  find: 'const queue = this.#queues.get(connection);\n    if (queue) return',
  replace: `if (!connection.isLight(this.#clock())) return false;
    this.#handle(connection, text);
    return true;
    const queue = this.#queues.get(connection);
    if (queue) return`,
});
// A client may subscribe to all that it may hold at once, and again after a reconnect.
changeModule({
  name: NAME,
  file: LIMITS,
  find: 'export const LIGHT_RATE = { burst: 100, perSecond: 50 } as const;',
  replace: 'export const LIGHT_RATE = { burst: 2 * MAX_SUBSCRIPTIONS, perSecond: 100 } as const;',
});
