import { createServer, type Server } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { readConfig } from '../platform/index.ts';
import { freePorts } from '../test/support/platform/ports.ts';
import { assertPortsFree, PortTakenError } from './ports.ts';

describe('ports of a command', () => {
  let server: Server | undefined;
  afterEach(() => new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve())));

  const taken = async (port: number) => {
    server = createServer();
    await new Promise<void>((resolve) => server?.listen(port, '127.0.0.1', resolve));
  };
  const check = (port: number, waitMs?: number) =>
    assertPortsFree(readConfig({}, { host: '127.0.0.1', historyPort: port }), ['historyPort'], waitMs);

  it('are free when no process listens, and 0 is always free', async () => {
    const [port] = await freePorts(1);
    await check(port);
    await check(0);
  });

  it('are reported with process, setting and remedy', async () => {
    const [port] = await freePorts(1);
    await taken(port);
    const failure = await check(port, 0).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(PortTakenError);
    const { message } = failure as Error;
    expect(message).toContain(`port ${port} of 127.0.0.1 is taken by `);
    expect(message).toContain('or choose another port with --history-port or SLOTBOOK_HISTORY_PORT');
    if (process.platform === 'linux') {
      expect(message).toMatch(
        new RegExp(`taken by pid ${process.pid} \\(\\S+.*\\); end it with: kill ${process.pid},`),
      );
    }
  });

  it('are waited for while a killed process releases them', async () => {
    const [port] = await freePorts(1);
    await taken(port);
    setTimeout(() => server?.close(), 200);
    await check(port, 10_000);
    server = undefined;
  });
});
