// Sends generated frames to the WebSockets of a running order-book server and reports faults: silence, messages that are not in
// `/asyncapi.json`, closes without a code.

import { MAX_PAYLOAD_BYTES } from '../../api/gateway/limits.ts';
import { MAX_QUOTE_BYTES } from '../../api/gateway/quotes/limits.ts';
import { QUOTE_REFUSALS } from '../../api/http/errors.ts';
import { checkedName, type SocketName } from '../support/api/contracts.ts';
import { TestKey } from '../support/api/quote-maker.ts';
import {
  CODELESS,
  Conversation,
  isBroken,
  OPEN,
  type Probe,
  readable,
  SILENT,
  type SocketInput,
} from './conversation.ts';
import { KEY, QUOTES_MAX, quoteInput } from './quote-inputs.ts';
import { socketInput } from './socket-inputs.ts';
import { eachAtOnce, generated, type InputsResult, Tally } from './tally.ts';

/** Only some longer messages are validated: a whole L3 takes as long as a hundred short ones. */
const WHOLE_CHARS = 20_000;
const LARGE_EVERY = 50;

const FEED_PROBE: Probe = {
  text: JSON.stringify({ type: 'unsubscribe', channel: 'still-there', market: '', marketType: '' }),
  isAnswer: (text) => text.startsWith('{"channel":"still-there"'),
};
/** The only message that is malformed at this place. */
const QUOTE_PROBE: Probe = {
  text: JSON.stringify({
    market_index: 0,
    market_type: 'perp',
    quotes: Array.from({ length: QUOTES_MAX + 3 }, (_, at) => (at === QUOTES_MAX + 2 ? 'x' : {})),
  }),
  isAnswer: (text) => text.endsWith(`"quote":${QUOTES_MAX + 2}}`),
};

/** Judges the state of a connection after each input. */
class Judge extends Tally {
  readonly #socket: SocketName;
  readonly #maxBytes: number;
  #large = 0;

  constructor(socket: SocketName, maxBytes: number) {
    super();
    this.#socket = socket;
    this.#maxBytes = maxBytes;
  }

  /** Judges the received messages; true while the connection can go on. */
  after(talk: Conversation, end: string, input: SocketInput): boolean {
    this.answered(end);
    for (const text of talk.received.splice(0)) {
      const fault = this.#faultOf(text);
      if (fault !== null) this.fault(fault, readable(input));
    }
    if (end === SILENT) this.fault('no answer any more', readable(input));
    if (end === CODELESS && !isBroken(input, this.#maxBytes)) this.fault('closed without a code', readable(input));
    if (end !== OPEN) talk.leave();
    return end === OPEN;
  }

  #faultOf(text: string): string | null {
    if (text.length > WHOLE_CHARS && this.#large++ % LARGE_EVERY !== 0) return null;
    try {
      checkedName(this.#socket, JSON.parse(text) as Record<string, unknown>);
      return null;
    } catch (error) {
      return String(error).slice(0, 500);
    }
  }
}

/** Sends frames to `/ws` one by one on several sockets, each followed by a probe that the server must answer. */
export async function runSocketInputs(url: string, count: number, seed: number): Promise<InputsResult> {
  const judge = new Judge('feed', MAX_PAYLOAD_BYTES);
  await eachAtOnce(generated(socketInput, count, seed), async (inputs) => {
    let talk: Conversation | null = null;
    for (const input of inputs) {
      judge.inputs += 1;
      talk ??= await Conversation.open(url);
      if (!judge.after(talk, await talk.say(input, FEED_PROBE), input)) talk = null;
    }
    talk?.leave();
  });
  return judge;
}

/** The same to `/quotes/ws`: refused upgrades, wrong proofs, and messages of makers whose key is proved. */
export async function runQuoteInputs(url: string, count: number, seed: number): Promise<InputsResult> {
  const judge = new Judge('quotes', MAX_QUOTE_BYTES);
  await eachAtOnce(generated(quoteInput, count, seed), async (inputs) => {
    let talk: Conversation | null = null;
    for (const input of inputs) {
      judge.inputs += 1;
      if (input.is === 'upgrade') await judgeUpgrade(judge, url, input.query);
      else if (input.is === 'proof') await judgeProof(judge, url, input.frame);
      else {
        talk ??= await proved(url);
        if (!judge.after(talk, await talk.say(input.frame, QUOTE_PROBE), input.frame)) talk = null;
      }
    }
    talk?.leave();
  });
  return judge;
}

const REFUSALS: ReadonlySet<string> = new Set(Object.values(QUOTE_REFUSALS).map(({ status }) => `HTTP/1.1 ${status}`));

/** No generated key is valid, so the server must refuse the upgrade as documented. */
async function judgeUpgrade(judge: Judge, url: string, query: string): Promise<void> {
  const how = await Conversation.open(`${url}${query}`).then(
    (talk) => {
      talk.leave();
      return 'upgraded';
    },
    (error: Error) => error.message,
  );
  judge.answered(how);
  if (!REFUSALS.has(how)) judge.fault(how, query.slice(0, 200));
}

/** A wrong proof closes the connection. */
async function judgeProof(judge: Judge, url: string, frame: SocketInput): Promise<void> {
  const { talk, key } = await connected(url);
  const bytes = frame.isText
    ? Buffer.from(frame.bytes.toString('latin1').replace(KEY, key.name), 'latin1')
    : frame.bytes;
  const end = await talk.say({ ...frame, bytes }, QUOTE_PROBE);
  if (judge.after(talk, end, frame)) {
    judge.fault('a wrong proof was taken', readable(frame));
    talk.leave();
  }
}

/** A new connection of a new key that has received its nonce. */
async function connected(url: string) {
  const key = new TestKey();
  const talk = await Conversation.open(`${url}?pubkey=${key.name}`);
  let nonce = '';
  const isNonce = (text: string): boolean => {
    nonce = (JSON.parse(text) as { nonce?: string }).nonce ?? '';
    return nonce !== '';
  };
  const early = talk.received.splice(0).some(isNonce);
  const how = early ? OPEN : await talk.awaits(isNonce);
  if (how !== OPEN) throw new Error(`no nonce: ${how}`);
  return { talk, key, nonce };
}

/** A new connection whose key is proved. */
async function proved(url: string): Promise<Conversation> {
  const { talk, key, nonce } = await connected(url);
  const proof = Buffer.from(JSON.stringify({ pubkey: key.name, signature: key.sign(nonce) }));
  const isTaken = (text: string): boolean => text.includes('"Authenticated"');
  const how = await talk.say({ bytes: proof, isText: true }, { text: null, isAnswer: isTaken });
  if (how !== OPEN) throw new Error(`the proof was not taken: ${how}`);
  return talk;
}
