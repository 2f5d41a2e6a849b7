// TLS and login against a real broker, whose second listener requires a certificate and a login.

import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTopic, numbered, readAll, take, testTopic, text } from '../../test/support/log/harness.ts';
import { KAFKA, startJavaBroker } from '../../test/support/log/java-broker.ts';
import type { KafkaBroker } from '../../test/support/log/kafka-broker.ts';
import { javaVersion } from '../../test/support/platform/java.ts';
import { type Config, describeConfig, readConfig } from '../config.ts';
import { silentLogger } from '../runtime/logger.ts';
import { kafkaSecurity } from './kafka/security.ts';
import { openEventLog } from './open.ts';

const USER = 'slotbook';
const PASSWORD = randomBytes(12).toString('hex');
const WARN = 40;
const run = promisify(execFile);

let folder: string;
let broker: KafkaBroker;
const file = (name: string) => path.join(folder, name);

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'slotbook-kafka-security-'));
  const java = await javaVersion(KAFKA);
  if (java === null) throw new Error('this test needs Java 17 or later and Maven');
  // One self-signed certificate serves as authority, broker certificate and client certificate.
  const names = 'subjectAltName=IP:127.0.0.1,DNS:localhost';
  const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-subj', '/CN=slotbook-test'];
  await run('openssl', [...made, '-addext', names, '-keyout', file('key.pem'), '-out', file('cert.pem')]);
  writeFileSync(file('broker.pem'), readFileSync(file('key.pem'), 'utf8') + readFileSync(file('cert.pem'), 'utf8'));
  writeFileSync(file('password'), `${PASSWORD}\n`);
  writeFileSync(file('wrong-password'), 'guess\n');
  const stores = { keyStore: file('broker.pem'), trustStore: file('cert.pem') };
  broker = await startJavaBroker(java, { ...stores, user: USER, password: PASSWORD });
});
afterAll(async () => {
  await broker?.stop();
  rmSync(folder, { recursive: true, force: true });
});

function secured(overrides: Partial<Config> = {}): Config {
  return readConfig(
    {},
    {
      log: 'kafka',
      kafkaBrokers: broker.securedBrokers ?? '',
      kafkaTopicPrefix: `${randomBytes(3).toString('hex')}.`,
      kafkaSsl: 'on',
      kafkaSslCaFile: file('cert.pem'),
      kafkaSslCertFile: file('cert.pem'),
      kafkaSslKeyFile: file('key.pem'),
      kafkaSaslMechanism: 'scram-sha-512',
      kafkaSaslUser: USER,
      kafkaSaslPasswordFile: file('password'),
      ...overrides,
    },
  );
}

describe('the Kafka log over TLS with a login', () => {
  it.each(['plain', 'scram-sha-256', 'scram-sha-512'] as const)(
    'appends, reads and follows with %s',
    async (kafkaSaslMechanism) => {
      const log = await openEventLog(secured({ kafkaSaslMechanism }), silentLogger());
      const topic = await createTopic(log);
      const following = take(log, topic, new Map([[0, 'earliest']]), 20);
      await log.append(topic, numbered(20));
      expect((await readAll(log, topic)).map(text)).toHaveLength(20);
      expect((await following).map(text)).toHaveLength(20);
      await log.close();
    },
  );

  it('is refused with a wrong password, and says so without the password', async () => {
    const lines: string[] = [];
    const logger = pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) });
    const refused = openEventLog(secured({ kafkaSaslPasswordFile: file('wrong-password') }), logger);
    await expect(refused).rejects.toThrow(/authentication/i);
    expect(lines.join()).not.toContain('guess');
  });

  it('prints no secret', () => {
    const described = JSON.stringify(describeConfig(secured()));
    expect(described).not.toContain(PASSWORD);
    expect(described).not.toContain('PRIVATE KEY');
  });
});

describe('a first start on Kafka', () => {
  it('warns of nothing while several processes make topics and follow them at once', async () => {
    const lines: { readonly level: number; readonly msg: string }[] = [];
    const logger = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
    const config = readConfig(
      {},
      { log: 'kafka', kafkaBrokers: broker.brokers, kafkaTopicPrefix: `${randomBytes(3).toString('hex')}.` },
    );
    const topics = Array.from({ length: 12 }, () => testTopic(4));
    const starts = [0, 1, 2].map(async () => {
      const log = await openEventLog(config, logger);
      await log.ensureTopics(topics);
      await Promise.all(
        topics.map(async (topic) => {
          await log.append(topic, numbered(4));
          await take(log, topic, new Map([[0, 'earliest']]), 1);
        }),
      );
      await log.load('group');
      return log;
    });
    for (const log of await Promise.all(starts)) await log.close();
    expect(lines.filter(({ level }) => level >= WARN)).toEqual([]);
  });
});

describe('Kafka security settings', () => {
  it('are empty by default', () => {
    expect(kafkaSecurity(readConfig({}))).toEqual({});
  });

  it.each([
    [{ kafkaSslCaFile: 'ca.pem' }, 'need kafkaSsl=on'],
    [{ kafkaSsl: 'on', kafkaSslCertFile: 'cert.pem' }, 'need each other'],
    [{ kafkaSsl: 'on', kafkaSslCaFile: '/nowhere/ca.pem' }, 'kafkaSslCaFile: cannot read /nowhere/ca.pem (ENOENT)'],
    [{ kafkaSaslUser: 'me' }, 'need kafkaSaslMechanism'],
    [{ kafkaSaslMechanism: 'plain', kafkaSaslUser: 'me' }, 'needs kafkaSaslUser and kafkaSaslPasswordFile'],
  ] as const)('that do not fit together are refused: %j', (settings, message) => {
    expect(() => kafkaSecurity(readConfig({}, settings))).toThrow(message);
  });
});
