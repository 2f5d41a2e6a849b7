// `slotbook run ROLE...`: a process with the given roles, until a signal or a failure ends it.

import { type Config, createLogger, startProcess } from '../platform/index.ts';
import { type RoleName, roleEntries } from './roles.ts';
import { untilSignal } from './signals.ts';

const EXIT_FAILURE = 1;

/** Resolves to the exit code. Prints one JSON line with the endpoints when all roles run. */
export async function runRoles(config: Config, roles: readonly RoleName[]): Promise<number> {
  const logger = createLogger({ level: config.logLevel, roles });
  const interrupted = untilSignal();
  try {
    const running = await startProcess({ config, logger, roles: roleEntries(roles) });
    process.stdout.write(`${JSON.stringify({ ready: roles, endpoints: running.endpoints })}\n`);
    try {
      await Promise.race([interrupted, running.done]);
    } finally {
      await running.stop();
    }
    return 0;
  } catch (error) {
    logger.fatal({ err: error }, 'going down');
    return EXIT_FAILURE;
  }
}
