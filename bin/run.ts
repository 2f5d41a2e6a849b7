// `slotbook run ROLE...`: runs roles in one process until a signal or a failure ends it.

import { type Config, createLogger, startProcess } from '../platform/index.ts';
import { assertPortsFree, PortTakenError, ROLE_PORTS } from './ports.ts';
import { type RoleName, roleEntries } from './roles.ts';
import { untilSignal } from './signals.ts';

const EXIT_FAILURE = 1;

/** Resolves to the exit code; ends the process itself when a role cannot start or fails. Prints one JSON line with the endpoints once all roles run or stand by. */
export async function runRoles(config: Config, roles: readonly RoleName[]): Promise<number> {
  const logger = createLogger({ level: config.logLevel, roles });
  const interrupted = untilSignal();
  // When no open handle can resolve an awaited promise, Node exits silently with code 13.
  const nothingLeft = () => {
    logger.fatal('no open handle is left, and the process has not ended');
    process.exit(EXIT_FAILURE);
  };
  process.once('beforeExit', nothingLeft);
  try {
    await assertPortsFree(config, ['metricsPort', ...roles.flatMap((role) => ROLE_PORTS[role] ?? [])]);
    const running = await startProcess({ config, logger, roles: roleEntries(roles) });
    process.stdout.write(
      `${JSON.stringify({ ready: roles, standby: running.standby(), endpoints: running.endpoints })}\n`,
    );
    try {
      await Promise.race([interrupted, running.done]);
    } finally {
      await running.stop();
    }
    return 0;
  } catch (error) {
    if (error instanceof PortTakenError) {
      process.stderr.write(`slotbook: ${error.message}\n`);
      return EXIT_FAILURE;
    }
    logger.fatal({ err: error }, 'shutting down after a failure');
    // A timer or a connection that the failure left behind would keep the process.
    process.exit(EXIT_FAILURE);
  } finally {
    process.off('beforeExit', nothingLeft);
  }
}
