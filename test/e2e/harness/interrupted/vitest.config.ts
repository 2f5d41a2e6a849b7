// A run of one test file that never ends by itself: test/e2e/interrupted.test.ts interrupts it.

import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/e2e/harness/interrupted/endless.ts'],
    globalSetup: ['test/support/platform/run-folder.ts'],
    setupFiles: ['test/support/platform/worker-lifeline.ts'],
    testTimeout: 600_000,
  },
});
