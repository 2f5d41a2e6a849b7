// Sends generated requests to a running order-book server and reports undocumented answers.

import { Agent, request } from 'node:http';
import { brotliDecompressSync, unzipSync, zstdDecompressSync } from 'node:zlib';
import { type RestAnswer, RestContract } from './rest-contract.ts';
import { type RestInput, restInput } from './rest-inputs.ts';
import { AT_ONCE, eachAtOnce, generated, type InputsResult, Tally } from './tally.ts';

const DECOMPRESS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: unzipSync,
  deflate: unzipSync,
  br: brotliDecompressSync,
  zstd: zstdDecompressSync,
};
const SERVER_FAULTS_FROM = 500;

/** Sends REST requests, several at a time over kept connections, and validates each answer against the served contract. */
export async function runRestInputs(url: string, count: number, seed: number): Promise<InputsResult> {
  const tally = new Tally();
  const contract = await RestContract.of(url);
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  const judge = async (input: RestInput): Promise<void> => {
    const answer = await send(url, agent, input);
    tally.answered(`${contract.pathOf(input) ?? 'other'} ${answer.status}`);
    const fault = contract.faultOf(input, answer);
    if (fault !== null) tally.fault(fault, input);
    // A HEAD answer does not name its failure; the same request with a body does.
    if (input.method === 'HEAD' && answer.status >= SERVER_FAULTS_FROM) await judge({ ...input, method: 'GET' });
  };
  await eachAtOnce(generated(restInput, count, seed), async (inputs) => {
    for (const input of inputs) {
      tally.inputs += 1;
      await judge(input);
    }
  });
  agent.destroy();
  return tally;
}

function send(url: string, agent: Agent, input: RestInput): Promise<RestAnswer> {
  const { method, path, headers, body } = input;
  const carries = body !== null && method !== 'GET' && method !== 'HEAD';
  return new Promise((resolve) => {
    const broken = (error: unknown): void => resolve({ status: 0, type: '', body: String(error) });
    const sent = request(`${url}/`, {
      method,
      path,
      agent,
      headers: { ...headers, ...(carries ? { 'content-length': Buffer.byteLength(body) } : {}) },
    });
    sent.on('response', (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () => {
        const whole = Buffer.concat(parts);
        const decompress = whole.length > 0 ? DECOMPRESS[response.headers['content-encoding'] ?? ''] : undefined;
        const type = response.headers['content-type']?.split(';', 1)[0] ?? '';
        resolve({ status: response.statusCode ?? 0, type, body: String(decompress ? decompress(whole) : whole) });
      });
      response.on('error', broken);
    });
    sent.on('error', broken);
    sent.end(carries ? body : undefined);
  });
}
