// users.xml of the managed child: the users, their rights, and the loopback address as the only network.

import { type Analyst, analystXml, sha256, UNCOMPILED_XML } from './analyst.ts';
import { PIPELINE_USER } from './password.ts';

/**
 * How long the server waits for a client that takes nothing, seconds. A download waits for a slow client of the history service in
 * this time. The server reads it from its default profile alone, not from a query; its own default is 30 s.
 */
const HTTP_SEND_TIMEOUT_S = 600;
const ACCESS = '<networks><ip>127.0.0.1</ip><ip>::1</ip></networks><quota>default</quota>';

/**
 * Rights for migrations, sink, readers, rebuilds and exports. Without sources: no files, addresses or programs (`file`, `url`,
 * `remote`, `s3`, dictionaries, named collections, backups), and without users and functions.
 */
const PIPELINE_GRANTS = [
  'SHOW',
  'SELECT',
  'INSERT',
  'ALTER TABLE',
  'ALTER VIEW',
  'CREATE DATABASE',
  'CREATE TABLE',
  'CREATE TEMPORARY TABLE',
  'CREATE VIEW',
  'DROP DATABASE',
  'DROP TABLE',
  'DROP VIEW',
  'TRUNCATE',
  'OPTIMIZE',
  'KILL QUERY',
];

const PIPELINE_ENGINES = ['MergeTree', 'ReplacingMergeTree', 'MaterializedView'];

/** The child's own session starts the listener, then reads its standard input to the end. */
const SESSION_GRANTS = ['SYSTEM LISTEN', 'CREATE TEMPORARY TABLE'];

/**
 * The engine runs its own statements as `default`, which cannot have a password there. The profile allows one session of
 * `default`, and the child keeps it from before the listener starts until the end. Nobody else can log in by that name.
 */
const SESSION_PROFILE = [
  '<session><max_sessions_for_user>1</max_sessions_for_user>',
  '<constraints><max_sessions_for_user><readonly/></max_sessions_for_user></constraints></session>',
].join('');

/** `password`: of the pipeline's own user; the file contains its hash. */
export function usersConfig(password: string, analyst: Analyst | null): string {
  const extra = analyst === null ? { profile: '', user: '' } : analystXml(analyst, ACCESS);
  return [
    '<clickhouse>',
    `<profiles><default>${UNCOMPILED_XML}<http_send_timeout>${HTTP_SEND_TIMEOUT_S}</http_send_timeout></default>${SESSION_PROFILE}${extra.profile}</profiles>`,
    '<quotas><default/></quotas>',
    '<users>',
    `<default><password></password><profile>session</profile>${ACCESS}`,
    `<grants><query>GRANT ${SESSION_GRANTS.join(', ')} ON *.*</query><query>GRANT READ ON FILE</query></grants></default>`,
    `<${PIPELINE_USER}><password_sha256_hex>${sha256(password)}</password_sha256_hex><profile>default</profile>${ACCESS}`,
    `<grants><query>GRANT ${PIPELINE_GRANTS.join(', ')} ON *.*</query>`,
    ...PIPELINE_ENGINES.map((engine) => `<query>GRANT TABLE ENGINE ON ${engine}</query>`),
    `</grants></${PIPELINE_USER}>`,
    extra.user,
    '</users>',
    '</clickhouse>',
    '',
  ].join('\n');
}
