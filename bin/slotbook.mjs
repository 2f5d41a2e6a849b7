#!/usr/bin/env node
// The `slotbook` command: installs what is missing, then runs cli.ts on the pinned Node.

import path from 'node:path';
import { install, ROOT, runPinned } from './install.mjs';

/** `dev` shares a laptop with everything else: collect garbage earlier than a server would. */
const LAPTOP_FLAGS = ['--max-semi-space-size=4', '--heap-growing-percent=20'];
/** glibc otherwise keeps freed memory in one arena per thread. */
const LAPTOP_ENVIRONMENT = { MALLOC_ARENA_MAX: '2' };

const [command] = process.argv.slice(2);
const onLaptop = command === 'dev';
await install();
process.exitCode = await runPinned(
  [...(onLaptop ? LAPTOP_FLAGS : []), path.join(ROOT, 'bin', 'cli.ts'), ...process.argv.slice(2)],
  onLaptop ? LAPTOP_ENVIRONMENT : {},
);
