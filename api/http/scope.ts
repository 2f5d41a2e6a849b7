// Groups of routes with hooks of their own.

import type { FastifyInstance } from 'fastify';

const NAME = Symbol.for('fastify.display-name');

export interface ScopeOptions {
  /** Before every path of the group. */
  readonly prefix?: string;
}

/**
 * Registers a group of routes. It gets a name: the framework looks for a function without one among all modules of the process, for
 * each of forty groups.
 */
export async function inScope(
  app: FastifyInstance,
  routes: (scope: FastifyInstance) => Promise<void> | void,
  options: ScopeOptions = {},
): Promise<void> {
  const group = async (scope: FastifyInstance): Promise<void> => routes(scope);
  await app.register(Object.assign(group, { [NAME]: 'routes' }), options);
}
