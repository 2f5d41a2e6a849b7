// What `npm run soak` can run. Plain JavaScript: bin/task.mjs lists it on the machine's own Node.

/**
 * `usage` follows the name of the suite; `takes` is for its default size on two quiet cores. A suite without `files` is the
 * script of its name in this folder. `files` are test files that run with their large numbers (test/support/platform/times.ts).
 * With `profiles` they run with the numbers of `npm test`, on each of these profiles of the simulated cluster.
 */
export const SUITES = {
  'book-keeper': {
    usage: '[minutes] [seed]',
    takes: '11 min',
    proves: 'clients hold right books through lost and altered messages, kills and restarts',
  },
  chain: {
    usage: '[seeds] [first seed] [verbose]',
    takes: '25 min',
    proves:
      'no event is lost, doubled or made up and no book is wrong in 10,000 simulated chains with faults and crashes',
  },
  contracts: {
    usage: '',
    takes: '10 min',
    proves: 'schemathesis finds no answer that the contracts of both REST services do not have',
    files: ['test/e2e/history-service.test.ts', 'test/e2e/generated-inputs.test.ts'],
  },
  exports: {
    usage: '',
    takes: '15 min',
    proves: '200 statement exports are built once each, through 50 kills of the service and its workers',
    files: ['test/e2e/exports.test.ts'],
  },
  hostile: {
    usage: '[clients of each kind] [rounds] [kind | together]',
    takes: '30 min',
    proves: 'polite clients beside a thousand hostile ones of each kind',
  },
  inputs: {
    usage: '[inputs] [seed]',
    takes: '10 min',
    proves: 'a million generated REST and WebSocket inputs get documented answers',
  },
  kills: {
    usage: '',
    takes: '20 min',
    proves:
      'every event is stored and sent once, and books and rankings stay right, on faster chains through many kills',
    files: [
      'test/e2e/pipeline.test.ts',
      'test/e2e/kafka.test.ts',
      'test/e2e/shadow.test.ts',
      'test/e2e/order-book.test.ts',
      'test/e2e/clickhouse-kills.test.ts',
      'test/e2e/notification-kills.test.ts',
      'test/e2e/takeover.test.ts',
      'processors/history/sink.test.ts',
      'processors/history/account-days.test.ts',
      'api/history/queries/account-days.test.ts',
      'platform/log/embedded.test.ts',
      'platform/log/kafka.test.ts',
    ],
  },
  memory: {
    usage: '[minutes]',
    takes: '16 min',
    proves: 'the memory of `npm start` is flat',
  },
  month: {
    usage: '[seed] [slots]',
    takes: '20 min',
    proves: 'every list, candle and sum of a month, then again from a log in disorder through kills',
  },
  'page-views': {
    usage: '',
    takes: '5 min',
    proves: 'the ladder of the page is the book of /l2, a hundred times for every perp market, through faults',
    files: ['test/e2e/page.test.ts'],
  },
  page: {
    usage: '[minutes]',
    takes: '61 min',
    proves: 'heap and frame work of the page stay what they are at 1,000 level changes a second',
  },
  profiles: {
    usage: '',
    takes: '8 min',
    proves:
      'history, books and trades are those of the chain on every profile of the simulated cluster, over both logs and through kills',
    files: [
      'test/e2e/pipeline.test.ts',
      'test/e2e/kafka.test.ts',
      'test/e2e/grpc.test.ts',
      'test/e2e/live-sources.test.ts',
      'test/e2e/processed.test.ts',
      'test/e2e/shadow.test.ts',
      'test/e2e/order-book.test.ts',
      'test/e2e/takeover.test.ts',
    ],
    profiles: ['calm', 'mainnet', 'hostile'],
  },
  properties: {
    usage: '',
    takes: '3 min',
    proves:
      'the simulated exchange keeps its invariants for 30 seeds and sizes, and what is claimed of many lost fills, of merged sources, of dropped slots, of pages and of the order of fills is true with more of them',
    files: [
      'localnet/exchange/exchange.test.ts',
      'processors/coverage/coverage.test.ts',
      'ingest/merge/source.test.ts',
      'processors/history/retraction-sink.test.ts',
      'api/history/paging.test.ts',
      'api/history/fill-order.test.ts',
    ],
  },
  'real-node': {
    usage: '',
    takes: '4 min',
    proves:
      'books over a real validator are whole and gaps named through ten kills of both, pauses, and the loss of its blocks',
    files: ['test/e2e/real-node.test.ts'],
  },
  teeth: {
    usage: '[seeds of each fault] [part of a name]',
    takes: '30 min',
    proves:
      'the simulation of `chain` finds faults that are put into the ingester on purpose, 52 of them, one at a time',
  },
};

const NAME_CHARS = 14;

/** One line for each suite, and for what runs several of them. */
export function listing() {
  const lines = Object.entries(SUITES).map(
    ([name, { usage, takes, proves }]) => `  ${name.padEnd(NAME_CHARS)}${takes.padEnd(8)}${proves}. ${usage}`,
  );
  return [
    'npm run soak SUITE',
    ...lines.map((line) => line.trimEnd()),
    `  ${'all'.padEnd(NAME_CHARS)}${'5 h'.padEnd(8)}every suite above, then a summary`,
    `  ${'repeat'.padEnd(NAME_CHARS)}${'10 h'.padEnd(8)}the tests of npm test beside two busy loops, then the failures. [times, 20 by default]`,
    '',
  ].join('\n');
}
