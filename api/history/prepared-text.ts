// The newest version of an answer that many clients request, encoded once per encoding.

import type { FastifyReply, FastifyRequest } from 'fastify';
import { PreparedBody } from '../http/prepared-body.ts';

export class PreparedText {
  readonly #contentType: string;
  #version: number | null = null;
  #body = new PreparedBody('');

  constructor(contentType: string) {
    this.#contentType = contentType;
  }

  /** Sends the text of `version`; calls `text` once per version. */
  send(request: FastifyRequest, reply: FastifyReply, version: number, text: () => string): Promise<FastifyReply> {
    if (version !== this.#version) {
      this.#body = new PreparedBody(text());
      this.#version = version;
    }
    return this.#body.send(request, reply, this.#contentType);
  }
}
