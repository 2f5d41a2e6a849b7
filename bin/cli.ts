// The `slotbook` command line: dev, run, capture, topics, export, sql-user, rebuild, audit, backfill,
// doctor. Each command loads its own modules: the code of all rooms takes half a second.

import { Command } from 'commander';
import { ConfigError, keepTickShape } from '../platform/index.ts';
import type { AuditFlags } from './audit.ts';
import type { BackfillFlags } from './backfill.ts';
import type { DevOptions } from './dev.ts';
import type { ExportFlags } from './export/request.ts';
import { exitWithLauncher } from './launcher-watch.mjs';
import type { RebuildOptions } from './rebuild.ts';
import { ROLE_HELP, ROLE_NAMES, type RoleName } from './roles.ts';
import { configOf, devConfigOf, withDevSettings, withSettings } from './settings.ts';

const EXIT_USAGE = 2;

keepTickShape();
exitWithLauncher();

const program = new Command('slotbook')
  .description('Order book, trades feed and full history of a perpetuals exchange on Solana')
  .showHelpAfterError()
  .configureHelp({ showGlobalOptions: true });

withDevSettings(program.command('dev'))
  .description(
    'run the whole pipeline on embedded stores, with a simulated cluster or the one at --rpc-url (`npm start` runs this)',
  )
  .option('--speed <factor>', 'simulated cluster: slots per 400 ms', '1')
  .option('--seed <number>', 'simulated cluster: seed', '1')
  .option('--accounts <number>', 'simulated cluster: user accounts')
  .option('--orders-per-market <number>', 'simulated cluster: target number of resting orders per market')
  .option('--profile <name>', 'simulated cluster: calm, mainnet or hostile', 'mainnet')
  .action(async (flags: Record<string, unknown> & DevOptions) => {
    const { dev } = await import('./dev.ts');
    process.exitCode = await dev(devConfigOf(flags), flags);
  });

withSettings(program.command('run'))
  .argument('<role...>', `roles: ${ROLE_NAMES.join(', ')}`)
  .description('run roles in one process')
  .addHelpText('after', `\nRoles:\n${ROLE_NAMES.map((name) => `  ${name.padEnd(12)}${ROLE_HELP[name]}`).join('\n')}`)
  .action(async (roles: string[], flags: Record<string, unknown>) => {
    const unknown = roles.filter((role) => !(ROLE_NAMES as readonly string[]).includes(role));
    if (unknown.length > 0) throw new ConfigError(`unknown roles: ${unknown.join(', ')}`);
    const { runRoles } = await import('./run.ts');
    process.exitCode = await runRoles(configOf(flags), roles as RoleName[]);
  });

withSettings(program.command('capture'))
  .requiredOption('--out <file>', 'output file (.ndjson, .ndjson.gz or .ndjson.zst)')
  .option('--seconds <number>', 'stop after this many seconds; default: until ctrl-C')
  .description('record accounts, transactions and slots of a source; --source capture plays the file')
  .action(async (flags: Record<string, unknown> & { out: string; seconds?: string }) => {
    const { capture } = await import('./capture.ts');
    process.exitCode = await capture(configOf(flags), flags.out, flags.seconds);
  });

program
  .command('topics')
  .description('print the topic catalogue')
  .option('--json', 'as JSON')
  .action(async (flags: { json?: boolean }) => {
    const { printTopics } = await import('./topics.ts');
    printTopics(flags.json === true);
  });

withSettings(program.command('export'))
  .option('--table <name>', 'stored table (docs/reference/tables.md)')
  .option('--from <time>', 'start of the range, ISO (UTC) or unix seconds')
  .option('--to <time>', 'end of the range, exclusive')
  .option('--format <name>', 'csv, parquet or arrow', 'csv')
  .option('--out <file>', 'output file; - is standard output; default <table>_<from>_<to>.<format>')
  .description('write the rows of a table by time, and a coverage file with the gaps of the range')
  .action(async (flags: Record<string, unknown> & ExportFlags) => {
    const { exportTable } = await import('./export.ts');
    process.exitCode = await exportTable(configOf(flags), flags);
  });

withSettings(program.command('sql-user'))
  .option('--apply', 'run the statements on clickhouseUrl instead of printing them')
  .description('print the statements that create the read-only SQL user (analystUser) on a ClickHouse server')
  .action(async (flags: Record<string, unknown> & { apply?: true }) => {
    const { sqlUser } = await import('./sql-user.ts');
    process.exitCode = await sqlUser(configOf(flags), flags.apply === true);
  });

withSettings(program.command('rebuild'))
  .description('fill a second ClickHouse database from the log, then switch to it without a failed request')
  .option('--database <name>', 'name of the second database; default: an unfinished one, or a new one')
  .option('--drop-old', 'drop the previous database')
  .action(async (flags: Record<string, unknown> & RebuildOptions) => {
    const { rebuild } = await import('./rebuild.ts');
    process.exitCode = await rebuild(configOf(flags), flags);
  });

withSettings(program.command('audit'))
  .option('--json', 'as JSON')
  .option('--account <key>', 'orders and liquidations of one account')
  .description(
    'say which numbered records the log has and which it lacks; exit code 1 when it lacks any or nothing is known',
  )
  .action(async (flags: Record<string, unknown> & AuditFlags) => {
    const { audit } = await import('./audit.ts');
    process.exitCode = await audit(configOf(flags), flags);
  });

withSettings(program.command('backfill'))
  .requiredOption('--from <slot>', 'first slot')
  .requiredOption('--to <slot>', 'last slot')
  .option('--no-wait', 'ask only; ingest reads the blocks')
  .description('read the blocks of a range of slots again and store the events that the log lacks')
  .action(async (flags: Record<string, unknown> & BackfillFlags) => {
    const { backfill } = await import('./backfill.ts');
    process.exitCode = await backfill(configOf(flags), flags);
  });

withSettings(program.command('doctor'))
  .description('check this machine and the configured services')
  .action(async (flags: Record<string, unknown>) => {
    const { doctor } = await import('./doctor.ts');
    process.exitCode = await doctor(configOf(flags));
  });

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  process.stderr.write(`slotbook: ${error.message}\n`);
  process.exitCode = EXIT_USAGE;
}
