// Control calls take their parameters by name in one object, and answer any value.

import type { Method } from './dispatch.ts';
import { type Config, configOf } from './params.ts';

export function named(control: (config: Config) => unknown): Method {
  return async (params) => JSON.stringify((await control(configOf(params[0]))) ?? null);
}
