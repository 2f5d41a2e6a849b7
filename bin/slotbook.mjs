#!/usr/bin/env node
// The `slotbook` command: installs what is missing, then runs cli.ts on the pinned Node.

import path from 'node:path';
import { install, ROOT, runPinned } from './install.mjs';
import { nodeFlags } from './node-flags.mjs';

/** glibc otherwise keeps freed memory in one arena per thread. */
const LAPTOP_ENVIRONMENT = { MALLOC_ARENA_MAX: '2' };

const args = process.argv.slice(2);
await install();
process.exitCode = await runPinned(
  [...nodeFlags(args), path.join(ROOT, 'bin', 'cli.ts'), ...args],
  args[0] === 'dev' ? LAPTOP_ENVIRONMENT : {},
);
