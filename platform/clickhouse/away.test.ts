import { createServer } from 'node:http';
import { pino } from 'pino';
import { describe, expect, it } from 'vitest';
import { freePorts } from '../../test/support/platform/ports.ts';
import { readConfig } from '../config.ts';
import { silentLogger } from '../runtime/logger.ts';
import { isAway, whenReachable } from './away.ts';
import { makeClient } from './client.ts';
import { LockLostError } from './lock.ts';
import { openClickHouse } from './provider.ts';

const never = new Promise<never>(() => {});

describe('waiting for ClickHouse', () => {
  it('ends when the server answers, and logs all failures in one line', async () => {
    const [port] = await freePorts(1);
    const client = makeClient({ url: `http://127.0.0.1:${port}`, user: 'u', password: 'p', logger: silentLogger() });
    const lines: string[] = [];
    const logger = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
    let asked = 0;
    const server = createServer((_, response) => response.end());
    const waiting = whenReachable(
      () => {
        asked += 1;
        if (asked === 3) server.listen(port, '127.0.0.1');
        return client.command({ query: 'SELECT 1' });
      },
      logger,
      never,
    );
    await waiting;
    await client.close();
    server.close();
    expect(asked).toBeGreaterThanOrEqual(3);
    expect(lines).toHaveLength(1);
  });

  it('ends with the reason when `failed` rejects', async () => {
    const gone = Promise.reject(new Error('it is elsewhere now'));
    gone.catch(() => {});
    const away = () => Promise.reject(Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }));
    await expect(whenReachable(away, silentLogger(), gone)).rejects.toThrow('it is elsewhere now');
  });

  it('does not begin for a refusal', async () => {
    const refused = () => Promise.reject(new Error('Syntax error'));
    await expect(whenReachable(refused, silentLogger(), never)).rejects.toThrow('Syntax error');
    expect(isAway(new LockLostError('ended'))).toBe(true);
    expect(isAway(new Error('Timeout error.'))).toBe(true);
  });

  it('begins when no server listens at the configured address', async () => {
    const clickhouseUrl = `http://127.0.0.1:${(await freePorts(1))[0]}`;
    const opening = openClickHouse(readConfig({}, { clickhouseUrl }), silentLogger());
    const outcome = await Promise.race([
      opening.then(
        () => 'open',
        () => 'failed',
      ),
      new Promise((resolve) => setTimeout(resolve, 1_500, 'waiting')),
    ]);
    expect(outcome).toBe('waiting');
    // Ends the wait: the next answer is not from a ClickHouse.
    const server = createServer((_, response) => response.writeHead(500).end('no'));
    await new Promise<void>((resolve) => server.listen(Number(new URL(clickhouseUrl).port), '127.0.0.1', resolve));
    await expect(opening).rejects.toThrow();
    server.close();
  });
});
