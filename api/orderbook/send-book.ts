// Sends the rendering of a book in the encoding that the client takes; its bytes are shared by all who ask for it.

import type { FastifyReply, FastifyRequest } from 'fastify';
import { encodingChooser, type PreparedBody } from '../prepared-body.ts';
import { COMPRESS_FROM_BYTES, ENCODINGS } from './limits.ts';

export const JSON_TYPE = 'application/json; charset=utf-8';

const encodingFor = encodingChooser(ENCODINGS);

export function sendBook(request: FastifyRequest, reply: FastifyReply, body: PreparedBody): Promise<FastifyReply> {
  const isShort = body.text.length < COMPRESS_FROM_BYTES;
  return body.send(reply, JSON_TYPE, isShort ? 'identity' : encodingFor(request.headers['accept-encoding']));
}
