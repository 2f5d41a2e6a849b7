// Authenticates writes of wallets over a shared log; prints the outcome of each request.

import { HistoryError } from '../../../api/http/errors.ts';
import { openEventLog } from '../../../platform/log/open.ts';
import { silentLogger } from '../../../platform/runtime/logger.ts';
import { startTestWallets } from '../api/wallet-requests.ts';
import type { ClaimerTask } from './processes.ts';

const { config, requests, nowS } = JSON.parse(process.argv[2] ?? '') as ClaimerTask;
const log = await openEventLog(config, silentLogger());
// A busy machine may return a claim late.
const wallets = await startTestWallets({ log, now: () => nowS, timeoutMs: 60_000 });
process.stdout.write('ready\n');
for (const rawHeaders of requests) {
  const outcome = await wallets.auth.authenticate({ rawHeaders }, { writes: true }).then(
    () => 'admitted',
    (error: unknown) => (error instanceof HistoryError ? error.code : String(error)),
  );
  process.stdout.write(`${outcome}\n`);
}
await wallets.stop();
await log.close();
