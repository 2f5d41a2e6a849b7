// Process entry of the localnet: one line of JSON on standard output when it answers, a clean end on SIGTERM and SIGINT.

import { parseArgs } from 'node:util';
import { type LocalnetOptions, startLocalnet } from './server.ts';

const USAGE = `Usage: node localnet/main.ts [options]
  --seed N                 what the exchange does (default 1)
  --speed X                slots pass every 400 ms / X; 0: only by localnet_step (default 1)
  --accounts N             trading accounts
  --orders-per-market N    resting orders kept up per market
  --activity X             scales the transactions of a slot (default 1)
  --slot-seconds X         chain time per slot (default 0.4)
  --slot-burst N           slots that come at once, then a quiet time (default 1)
  --rarities               add what seldom happens on an exchange
  --announce               tell of accounts and deposits of the genesis in the first block
  --genesis-time SECONDS   Unix time of the first block (default now)
  --host ADDRESS           (default 127.0.0.1)
  --rpc-port PORT          JSON-RPC, 0 for any (default 8899)
  --ws-port PORT           PubSub, 0 for any (default 8900)
  --state-file PATH        keep the chain across restarts
  --keep-events            keep every event for localnet_events
  --keep-ledger            keep every block and transaction
  --account-log PATH       write every account as each slot leaves it to a file
`;

function optionsFrom(args: readonly string[]): LocalnetOptions | null {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: 'string' },
      speed: { type: 'string' },
      accounts: { type: 'string' },
      'orders-per-market': { type: 'string' },
      activity: { type: 'string' },
      'slot-seconds': { type: 'string' },
      'slot-burst': { type: 'string' },
      rarities: { type: 'boolean' },
      announce: { type: 'boolean' },
      'genesis-time': { type: 'string' },
      host: { type: 'string' },
      'rpc-port': { type: 'string' },
      'ws-port': { type: 'string' },
      'state-file': { type: 'string' },
      'keep-events': { type: 'boolean' },
      'keep-ledger': { type: 'boolean' },
      'account-log': { type: 'string' },
      help: { type: 'boolean' },
    },
  });
  if (values.help === true) return null;
  return {
    ...numbered('seed', values.seed),
    ...numbered('speed', values.speed),
    ...numbered('accounts', values.accounts),
    ...numbered('ordersPerMarket', values['orders-per-market']),
    ...numbered('activity', values.activity),
    ...numbered('slotSeconds', values['slot-seconds']),
    ...numbered('slotBurst', values['slot-burst']),
    ...(values.rarities === true ? { rarities: true } : {}),
    ...(values.announce === true ? { announce: true } : {}),
    ...numbered('genesisTime', values['genesis-time']),
    ...numbered('rpcPort', values['rpc-port']),
    ...numbered('wsPort', values['ws-port']),
    ...(values.host === undefined ? {} : { host: values.host }),
    ...(values['state-file'] === undefined ? {} : { stateFile: values['state-file'] }),
    ...(values['keep-events'] === true ? { keepEvents: true } : {}),
    ...(values['keep-ledger'] === true ? { keepLedger: true } : {}),
    ...(values['account-log'] === undefined ? {} : { accountLog: values['account-log'] }),
  };
}

function numbered<N extends string>(name: N, text: string | undefined): { [K in N]?: number } {
  if (text === undefined) return {};
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value) || value < 0) throw new Error(`${name}: ${text} is not a number`);
  return { [name]: value } as { [K in N]?: number };
}

async function main(): Promise<void> {
  const options = optionsFrom(process.argv.slice(2));
  if (options === null) {
    process.stdout.write(USAGE);
    return;
  }
  const running = await startLocalnet(options);
  const end = (): void => {
    running.stop().then(
      () => process.exit(0),
      (error: unknown) => fail(error),
    );
  };
  process.once('SIGTERM', end);
  process.once('SIGINT', end);
  const { rpcUrl, wsUrl, vaultProgram } = running;
  process.stdout.write(`${JSON.stringify({ rpcUrl, wsUrl, vaultProgram })}\n`);
}

function fail(error: unknown): void {
  process.stderr.write(`localnet: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}

main().catch(fail);
