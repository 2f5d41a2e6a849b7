// Validates answers of the history service against its own /openapi.json, for tests.

import type { FastifyInstance } from 'fastify';
import { Contract } from './contracts.ts';

interface Served {
  readonly status: number;
  readonly body: unknown;
}

export class HistoryContract {
  readonly #contract: Contract;
  readonly #paths: readonly string[];

  private constructor(document: { readonly paths: object }) {
    this.#contract = new Contract(document);
    // Of two matching paths the router prefers the one with fewer parameters.
    this.#paths = Object.keys(document.paths).sort((a, b) => namesIn(a) - namesIn(b));
  }

  /** Services with equal documents share one, whose validators take long to compile. */
  static async of(app: FastifyInstance, document = '/openapi.json'): Promise<HistoryContract> {
    const { body } = await app.inject(document);
    const known = compiled.get(body) ?? new HistoryContract(JSON.parse(body));
    compiled.set(body, known);
    return known;
  }

  /** Deviations of an answer from the contract; empty when there are none. */
  problems(url: string, { status, body }: Served): string {
    const path = url.split('?', 1)[0] ?? '';
    const template = this.#paths.find((candidate) => matches(candidate, path));
    if (!template) return `no path for ${url}`;
    try {
      const place = ['paths', template, 'get', 'responses', String(status), 'content', 'application/json', 'schema'];
      const validate = this.#contract.validator(...place);
      return validate(body) ? '' : `${url}: ${JSON.stringify(validate.errors)}`;
    } catch (error) {
      return `${url}: ${String(error)}`;
    }
  }
}

/** By the text of the document. */
const compiled = new Map<string, HistoryContract>();

const namesIn = (template: string): number => template.split('{').length;

function matches(template: string, path: string): boolean {
  const [names, parts] = [template.split('/'), path.split('/')];
  return names.length === parts.length && names.every((name, index) => name.startsWith('{') || name === parts[index]);
}
