#!/usr/bin/env node
// The `slotbook` command: installs what is missing, then runs cli.ts on the pinned Node.

import path from 'node:path';
import { install, ROOT, runPinned } from './install.mjs';

await install();
process.exitCode = await runPinned([path.join(ROOT, 'bin', 'cli.ts'), ...process.argv.slice(2)]);
