// An answer that many ask for and that seldom changes: its newest version, ready in every encoding.

import type { FastifyReply, FastifyRequest } from 'fastify';
import { encodingChooser, PreparedBody } from '../prepared-body.ts';

const encodingFor = encodingChooser(['br', 'gzip', 'deflate']);

export class PreparedText {
  readonly #contentType: string;
  #version: number | null = null;
  #body = new PreparedBody('');

  constructor(contentType: string) {
    this.#contentType = contentType;
  }

  /** Sends the text of `version`; `text` is asked for once per version. */
  send(request: FastifyRequest, reply: FastifyReply, version: number, text: () => string): Promise<FastifyReply> {
    if (version !== this.#version) {
      this.#body = new PreparedBody(text());
      this.#version = version;
    }
    return this.#body.send(reply, this.#contentType, encodingFor(request.headers['accept-encoding']));
  }
}
