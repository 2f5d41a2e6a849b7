// Upgrades WebSockets within an AcceptBudget. Copies the request's headers first, because the engine reuses the request.

import type { HttpRequest, HttpResponse, us_socket_context_t } from 'uWebSockets.js';
import type { AcceptBudget, Entrant } from './accept-budget.ts';

/** An `upgrade` handler. `makeData` returns the data that the engine keeps with each socket. */
export function pacedUpgrade<Data>(
  budget: AcceptBudget,
  makeData: () => Data,
): (res: HttpResponse, req: HttpRequest, context: us_socket_context_t) => void {
  return (res, req, context) => {
    const key = req.getHeader('sec-websocket-key');
    const protocol = req.getHeader('sec-websocket-protocol');
    const extensions = req.getHeader('sec-websocket-extensions');
    const entrant: Entrant = {
      admit: () => res.cork(() => res.upgrade(makeData(), key, protocol, extensions, context)),
      refuse: () => res.close(),
    };
    res.onAborted(() => budget.forget(entrant));
    budget.take(entrant);
  };
}
