// GET /guarantees: what readers may rely on, clause by clause, as the repository has it.

import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { text } from '../../http/contract/json-schema.ts';
import type { RouteContract } from '../../http/contract/openapi.ts';
import { serve } from '../route.ts';

const PAGE = new URL('../../../docs/guarantees.md', import.meta.url);
const MARKDOWN_TYPE = 'text/markdown';

const GUARANTEES_CONTRACT = {
  summary: 'What readers may rely on, and what not',
  description: 'Each clause names the test that proves it.',
  tags: ['service'],
  parameters: {},
  answers: {
    '200': { description: 'the page', content: { [MARKDOWN_TYPE]: text('Markdown') } },
  },
} satisfies RouteContract;

export function guaranteesRoute(app: FastifyInstance): void {
  const page = readFileSync(PAGE, 'utf8');
  serve(app, '/guarantees', GUARANTEES_CONTRACT, async (_given, _request, reply) =>
    reply.type(`${MARKDOWN_TYPE}; charset=utf-8`).send(page),
  );
}
