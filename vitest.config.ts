import { defineConfig } from 'vitest/config';

// Unit and contract tests stand beside the code; test/ holds what crosses rooms and starts real processes.
export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: 'unit',
          include: ['{schemas,platform,ingest,processors,api,client,localnet,bin}/**/*.test.ts'],
          testTimeout: 20_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'system',
          include: ['test/e2e/**/*.test.ts'],
          testTimeout: 240_000,
          hookTimeout: 180_000,
          // Each of these starts many processes; more at once would only wait for each other.
          maxWorkers: 2,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
