#!/usr/bin/env node
// The `slotbook` command: installs missing packages, then runs cli.ts on the pinned Node.

import path from 'node:path';
import { buildPage } from './build-page.mjs';
import { install, ROOT, runPinned } from './install.mjs';
import { nodeEnvironment, nodeFlags } from './node-flags.mjs';

const args = process.argv.slice(2);
await install();
// A page that cannot be built leaves the pipeline as it is; the page's address says what to do.
if (args[0] === 'dev') await buildPage();
process.exitCode = await runPinned(
  [...nodeFlags(args), path.join(ROOT, 'bin', 'cli.ts'), ...args],
  nodeEnvironment(args),
);
