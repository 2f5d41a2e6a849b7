// Whole books to a thousand subscribers: messages per CPU-second of the server process, beside a `ws` server that works like the
// predecessor. `npm run bench fanout`. Each book waits until all clients have the previous one, so nothing is dropped and no server
// waits for the other. Servers take turns; the median of the rounds counts. Not a measure of latency (`npm run bench latency`).

import { Crowd } from './harness/crowd.ts';
import { cpuSeconds, machine } from './harness/processes.ts';
import { report } from './harness/report.ts';
import { Predecessor, Stage, subscribeTo } from './harness/stage.ts';
import { SyntheticMarket } from './harness/synthetic-markets.ts';

const SUBSCRIBERS = 1_000;
const WARM_UP_BOOKS = 20;
const ROUNDS = 5;
const OUR_BOOKS = 200;
const PEER_BOOKS = 20;
const BAR = 8;
const ACKNOWLEDGEMENT_AND_REPLAY = 2;

interface Round {
  readonly perCpuSecond: number;
  readonly bytesPerMessage: number;
}

/** One server with its clients. */
class Contestant {
  readonly #pid: number;
  readonly #crowd: Crowd;
  readonly #publish: () => Promise<void>;
  readonly rounds: Round[] = [];

  private constructor(pid: number, crowd: Crowd, publish: () => Promise<void>) {
    this.#pid = pid;
    this.#crowd = crowd;
    this.#publish = publish;
  }

  static async enter(
    pid: number,
    url: string,
    market: SyntheticMarket,
    publish: () => Promise<void>,
  ): Promise<Contestant> {
    const crowd = new Crowd();
    const says = [subscribeTo(market)];
    await crowd.open({ url, clients: SUBSCRIBERS, deflate: true, says, framesEach: ACKNOWLEDGEMENT_AND_REPLAY });
    const contestant = new Contestant(pid, crowd, publish);
    await contestant.#run(WARM_UP_BOOKS);
    return contestant;
  }

  async round(books: number): Promise<void> {
    const usedBefore = cpuSeconds(this.#pid);
    await this.#run(books);
    const used = cpuSeconds(this.#pid) - usedBefore;
    const { frames, bytes } = await this.#crowd.counts();
    this.rounds.push({ perCpuSecond: frames / used, bytesPerMessage: bytes / frames });
  }

  stop(): Promise<void> {
    return this.#crowd.stop();
  }

  /** Publishes books one after another; the next when all clients have the last. */
  async #run(books: number): Promise<void> {
    await this.#crowd.mark();
    for (let book = 1; book <= books; book += 1) {
      await this.#publish();
      await this.#crowd.received(book * SUBSCRIBERS);
    }
  }
}

function perCpuSecond({ rounds }: Contestant): number[] {
  return rounds.map((round) => Math.round(round.perCpuSecond));
}

function median(values: readonly number[]): number {
  return [...values].sort((left, right) => left - right)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** Two markets of one seed: the same books for both. */
const [market, peerMarket] = [new SyntheticMarket(0), new SyntheticMarket(0)];
const stage = await Stage.start([market], { BOOK_TICK_MS: 0 });
const peer = await Predecessor.start([peerMarket]);
try {
  const ours = await Contestant.enter(stage.server.pid, stage.gateway, market, () =>
    stage.publish([{ market, diff: market.change() }]),
  );
  const theirs = await Contestant.enter(peer.pid, peer.gateway, peerMarket, async () =>
    peer.publish([{ market: peerMarket, diff: peerMarket.change() }]),
  );
  for (let round = 0; round < ROUNDS; round += 1) {
    await ours.round(OUR_BOOKS);
    await theirs.round(PEER_BOOKS);
  }
  await Promise.all([ours.stop(), theirs.stop()]);
  const each = { ours: perCpuSecond(ours), predecessor: perCpuSecond(theirs) };
  const ratios = each.ours.map((value, round) => value / (each.predecessor[round] ?? Number.NaN));
  const beside = {
    subscribers: SUBSCRIBERS,
    perCpuSecond: each,
    bytesPerMessage: { ours: ours.rounds[0]?.bytesPerMessage, predecessor: theirs.rounds[0]?.bytesPerMessage },
    ...machine(),
  };
  report({ name: 'fanout: whole books', value: median(each.ours), unit: 'messages/CPU-s', ...beside });
  report({
    name: 'fanout: ratio to the predecessor',
    value: median(ratios),
    unit: 'x',
    bar: { atLeast: BAR },
    ratios,
    ...beside,
  });
} finally {
  await stage.stop();
  await peer.stop();
}
