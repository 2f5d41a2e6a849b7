// The read-only SQL user for analysts: one table of limits, written as users.xml for the managed child and as statements
// for a server.

import { createHash } from 'node:crypto';
import { type Config, ConfigError } from '../config.ts';
import { UNCOMPILED } from './client.ts';

const MIB = 1024 * 1024;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

export interface Analyst {
  readonly user: string;
  /** Empty: no password is asked for. */
  readonly password: string;
  /** Every database whose name begins with this may be read: a rebuilt history has the name with a suffix. */
  readonly database: string;
}

interface Limit {
  readonly value: number;
  /** What the user may set it to; equal ends fix it. */
  readonly min: number;
  readonly max: number;
}

/** Limits of one query. Times are seconds, memory is bytes; 0 would mean without limit, so every range begins at 1. */
const LIMITS: Readonly<Record<string, Limit>> = {
  max_execution_time: { value: 60, min: 1, max: 60 },
  max_memory_usage: { value: 512 * MIB, min: 1, max: 512 * MIB },
  max_concurrent_queries_for_user: { value: 8, min: 8, max: 8 },
};
/** 2: no writes, but settings within the ranges above may be changed, which every client library does. */
const READ_ONLY = 2;

/** The analyst that the settings name, or null when `analystUser` is empty. Throws ConfigError for an unusable name. */
export function analystOf(config: Config): Analyst | null {
  const { analystUser: user, analystPassword: password, clickhouseDatabase: database } = config;
  if (user === '') return null;
  if (!NAME.test(user) || user === 'default') throw new ConfigError(`analystUser cannot be "${user}"`);
  if (!NAME.test(database)) throw new ConfigError(`clickhouseDatabase cannot be "${database}"`);
  return { user, password, database };
}

/** Where an HTTP client of the analyst sends SQL; the password is never part of it. */
export function analystUrl({ user }: Analyst, serverUrl: string, database: string): string {
  return `${serverUrl}/?${new URLSearchParams({ user, database })}`;
}

const grant = ({ database }: Analyst) => `GRANT SELECT ON ${database}*.*`;
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** users.xml of the managed child: the pipeline's own `default`, and the analyst. Both from the loopback address only. */
export function usersConfig(analyst: Analyst | null): string {
  const common = '<networks><ip>127.0.0.1</ip><ip>::1</ip></networks><quota>default</quota>';
  return [
    '<clickhouse>',
    `<profiles><default>${uncompiledXml}</default>`,
    analyst ? profileXml() : '',
    '</profiles>',
    '<quotas><default/></quotas>',
    `<users><default><password></password><profile>default</profile>${common}</default>`,
    analyst ? userXml(analyst, common) : '',
    '</users>',
    '</clickhouse>',
    '',
  ].join('\n');
}

const uncompiledXml = Object.entries(UNCOMPILED)
  .map(([name, value]) => `<${name}>${value}</${name}>`)
  .join('');

function userXml(analyst: Analyst, common: string): string {
  const { user, password } = analyst;
  const secret =
    password === '' ? '<password></password>' : `<password_sha256_hex>${sha256(password)}</password_sha256_hex>`;
  const grants = `<grants><query>${grant(analyst)}</query></grants>`;
  return `<${user}>${secret}<profile>analyst</profile>${common}${grants}</${user}>`;
}

function profileXml(): string {
  const limits = Object.entries(LIMITS);
  const values = limits.map(([name, { value }]) => `<${name}>${value}</${name}>`);
  const ranges = limits.map(([name, { min, max }]) => `<${name}><min>${min}</min><max>${max}</max></${name}>`);
  return `<analyst><readonly>${READ_ONLY}</readonly>${uncompiledXml}${values.join('')}<constraints>${ranges.join('')}</constraints></analyst>`;
}

/**
 * Statements that make the same user on a server, to be run by an administrator; repeatable, and a second run changes
 * password and limits. The password is in them as a hash. `cluster` is empty for one server. Throws ConfigError without a
 * password, because a server may be reached from elsewhere.
 */
export function analystStatements(analyst: Analyst, cluster: string): readonly string[] {
  const { user, password } = analyst;
  if (password === '') throw new ConfigError('analystPassword is empty: a user of a server needs one');
  const where = cluster === '' ? '' : ` ON CLUSTER ${cluster}`;
  const limits = Object.entries(LIMITS).map(
    ([name, { value, min, max }]) => `${name} = ${value} MIN ${min} MAX ${max}`,
  );
  const settings = [...Object.entries(UNCOMPILED).map(([name, value]) => `${name} = ${value}`), ...limits];
  return [
    `CREATE SETTINGS PROFILE OR REPLACE ${user}_limits${where} SETTINGS readonly = ${READ_ONLY}, ${settings.join(', ')}`,
    `CREATE USER OR REPLACE ${user}${where} IDENTIFIED WITH sha256_hash BY '${sha256(password)}' SETTINGS PROFILE ${user}_limits`,
    `GRANT${where} SELECT ON ${analyst.database}*.* TO ${user}`,
  ];
}
