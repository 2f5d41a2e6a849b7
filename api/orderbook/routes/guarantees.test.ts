import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { Stage } from '../../../test/support/api/stage.ts';
import { BookReader } from '../../views/book-reader.ts';
import { orderbookApp } from '../app.ts';

it('GET /guarantees is the page of the repository, as Markdown', async () => {
  const context = new Stage().context();
  const services = { reader: new BookReader(context), accounts: { read: async () => [] }, slotStallMs: 5000 };
  const app = await orderbookApp(services, context.logger);
  const answer = await app.inject('/guarantees');
  await app.close();
  expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'text/markdown; charset=utf-8']);
  expect(answer.body).toBe(readFileSync(new URL('../../../docs/guarantees.md', import.meta.url), 'utf8'));
  expect(answer.body).toMatch(/^# Guarantees\n/);
});
