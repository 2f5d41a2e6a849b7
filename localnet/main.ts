// Process entry of the localnet: prints one line of JSON when it answers; SIGTERM and SIGINT stop it cleanly.

import { parseArgs } from 'node:util';
import { profileOf } from './chain/profile.ts';
import { type LocalnetOptions, startLocalnet } from './server.ts';

const USAGE = `Usage: node localnet/main.ts [options]
  --seed N                 seed of the exchange (default 1)
  --speed X                a slot every 400 ms / X; 0: only by localnet_step (default 1)
  --accounts N             number of trading accounts
  --orders-per-market N    target of resting orders per market
  --activity X             scales the transactions per slot
  --slot-seconds X         chain time per slot (default 0.4)
  --slot-burst N           slots per burst, followed by a quiet time (default 1)
  --rarities               add rare events
  --profile NAME           calm, mainnet or hostile (default calm)
  --announce               record accounts and deposits of the genesis in the first block
  --genesis-time SECONDS   Unix time of the first block (default now)
  --host ADDRESS           (default 127.0.0.1)
  --rpc-port PORT          JSON-RPC, 0 for any (default 8899)
  --ws-port PORT           PubSub, 0 for any (default 8900)
  --grpc-port PORT         Yellowstone gRPC, 0 for any (default: none)
  --grpc-servers N         gRPC servers, each with faults of its own, at the ports after --grpc-port (default 1)
  --grpc-token TOKEN       token that gRPC callers must give
  --state-file PATH        keep the chain over restarts
  --keep-events            keep every event for localnet_events
  --keep-ledger            keep every block and transaction
  --account-log PATH       write every account after each slot to a file
  --until-stdin-ends       exit when standard input closes, which happens when the parent process ends
`;

interface Options extends LocalnetOptions {
  readonly untilStdinEnds?: true;
}

function optionsFrom(args: readonly string[]): Options | null {
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
      profile: { type: 'string' },
      announce: { type: 'boolean' },
      'genesis-time': { type: 'string' },
      host: { type: 'string' },
      'rpc-port': { type: 'string' },
      'ws-port': { type: 'string' },
      'grpc-port': { type: 'string' },
      'grpc-servers': { type: 'string' },
      'grpc-token': { type: 'string' },
      'state-file': { type: 'string' },
      'keep-events': { type: 'boolean' },
      'keep-ledger': { type: 'boolean' },
      'account-log': { type: 'string' },
      'until-stdin-ends': { type: 'boolean' },
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
    ...(values.profile === undefined ? {} : { profile: profileOf(values.profile).name }),
    ...(values.announce === true ? { announce: true } : {}),
    ...numbered('genesisTime', values['genesis-time']),
    ...numbered('rpcPort', values['rpc-port']),
    ...numbered('wsPort', values['ws-port']),
    ...numbered('grpcPort', values['grpc-port']),
    ...numbered('grpcServers', values['grpc-servers']),
    ...(values['grpc-token'] === undefined ? {} : { grpcToken: values['grpc-token'] }),
    ...(values.host === undefined ? {} : { host: values.host }),
    ...(values['state-file'] === undefined ? {} : { stateFile: values['state-file'] }),
    ...(values['keep-events'] === true ? { keepEvents: true } : {}),
    ...(values['keep-ledger'] === true ? { keepLedger: true } : {}),
    ...(values['account-log'] === undefined ? {} : { accountLog: values['account-log'] }),
    ...(values['until-stdin-ends'] === true ? { untilStdinEnds: true } : {}),
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
  let isEnding = false;
  const end = (): void => {
    if (isEnding) return;
    isEnding = true;
    running.stop().then(
      () => process.exit(0),
      (error: unknown) => fail(error),
    );
  };
  process.once('SIGTERM', end);
  process.once('SIGINT', end);
  if (options.untilStdinEnds) process.stdin.once('end', end).once('error', end).resume();
  const { rpcUrl, wsUrl, faultlessUrl, grpcUrl, grpcUrls, vaultProgram, lookupTable } = running;
  const addresses = { rpcUrl, wsUrl, faultlessUrl, grpcUrl, grpcUrls };
  process.stdout.write(`${JSON.stringify({ ...addresses, vaultProgram, lookupTable })}\n`);
}

function fail(error: unknown): void {
  process.stderr.write(`localnet: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
}

main().catch(fail);
