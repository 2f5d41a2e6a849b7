// The `slotbook` command line: dev, run, capture, topics, export, sql-user, rebuild, doctor.

import { Command } from 'commander';
import { ConfigError } from '../platform/index.ts';
import { capture } from './capture.ts';
import { type DevOptions, dev } from './dev.ts';
import { doctor } from './doctor.ts';
import type { ExportFlags } from './export/request.ts';
import { exportTable } from './export.ts';
import type { RebuildOptions } from './rebuild.ts';
import { ROLE_HELP, ROLE_NAMES, type RoleName } from './roles.ts';
import { runRoles } from './run.ts';
import { configOf, devConfigOf, withDevSettings, withSettings } from './settings.ts';
import { sqlUser } from './sql-user.ts';
import { printTopics } from './topics.ts';

const EXIT_USAGE = 2;

const program = new Command('slotbook')
  .description('Order book, trades feed and full history of a perpetuals exchange on Solana')
  .showHelpAfterError()
  .configureHelp({ showGlobalOptions: true });

withDevSettings(program.command('dev'))
  .description(
    'run the whole pipeline on embedded stores, against a simulated cluster or the one of --rpc-url (what `npm start` runs)',
  )
  .option('--speed <factor>', 'simulated cluster: slots per 400 ms', '1')
  .option('--seed <number>', 'simulated cluster: seed', '1')
  .option('--accounts <number>', 'simulated cluster: user accounts')
  .option('--orders-per-market <number>', 'simulated cluster: resting orders aimed at in each market')
  .action(async (flags: Record<string, unknown> & DevOptions) => {
    process.exitCode = await dev(devConfigOf(flags), flags);
  });

withSettings(program.command('run'))
  .argument('<role...>', `roles: ${ROLE_NAMES.join(', ')}`)
  .description('run roles in one process')
  .addHelpText('after', `\nRoles:\n${ROLE_NAMES.map((name) => `  ${name.padEnd(12)}${ROLE_HELP[name]}`).join('\n')}`)
  .action(async (roles: string[], flags: Record<string, unknown>) => {
    const unknown = roles.filter((role) => !(ROLE_NAMES as readonly string[]).includes(role));
    if (unknown.length > 0) throw new ConfigError(`unknown roles: ${unknown.join(', ')}`);
    process.exitCode = await runRoles(configOf(flags), roles as RoleName[]);
  });

withSettings(program.command('capture'))
  .requiredOption('--out <file>', 'where to write (.ndjson, .ndjson.gz or .ndjson.zst)')
  .option('--seconds <number>', 'stop after this long; until ctrl-C otherwise')
  .description('record accounts, transactions and slots of a source, to be played with --source capture')
  .action(async (flags: Record<string, unknown> & { out: string; seconds?: string }) => {
    process.exitCode = await capture(configOf(flags), flags.out, flags.seconds);
  });

program
  .command('topics')
  .description('print the topic catalogue')
  .option('--json', 'as JSON')
  .action((flags: { json?: boolean }) => printTopics(flags.json === true));

withSettings(program.command('export'))
  .option('--table <name>', 'stored table (schemas/TABLES.md)')
  .option('--from <time>', 'first time, ISO (UTC) or unix seconds')
  .option('--to <time>', 'time before which to end')
  .option('--format <name>', 'csv, parquet or arrow', 'csv')
  .option('--out <file>', 'where to write; - is standard output; default <table>_<from>_<to>.<format>')
  .description('write rows of a table by time, each once, with a coverage file beside them that names gaps')
  .action(async (flags: Record<string, unknown> & ExportFlags) => {
    process.exitCode = await exportTable(configOf(flags), flags);
  });

withSettings(program.command('sql-user'))
  .option('--apply', 'run the statements on clickhouseUrl instead of printing them')
  .description('statements that make the read-only SQL user (analystUser) on a ClickHouse server')
  .action(async (flags: Record<string, unknown> & { apply?: true }) => {
    process.exitCode = await sqlUser(configOf(flags), flags.apply === true);
  });

withSettings(program.command('rebuild'))
  .description('fill a second ClickHouse database from the log, then make it the history without a failed request')
  .option('--database <name>', 'name of the second database; an unfinished one, or a new one, by default')
  .option('--drop-old', 'drop the database that was the history until then')
  .action(async (flags: Record<string, unknown> & RebuildOptions) => {
    const { rebuild } = await import('./rebuild.ts');
    process.exitCode = await rebuild(configOf(flags), flags);
  });

withSettings(program.command('doctor'))
  .description('check what this machine has and whether the configured services answer')
  .action(async (flags: Record<string, unknown>) => {
    process.exitCode = await doctor(configOf(flags));
  });

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  process.stderr.write(`slotbook: ${error.message}\n`);
  process.exitCode = EXIT_USAGE;
}
