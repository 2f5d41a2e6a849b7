// The read-only SQL user for analysts: one table of limits, written as users.xml for the managed child and as statements
// for a server.

import { createHash } from 'node:crypto';
import { type Config, ConfigError } from '../config.ts';
import { UNCOMPILED } from './client.ts';
import { PIPELINE_USER } from './password.ts';

const MIB = 1024 * 1024;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

export interface Analyst {
  readonly user: string;
  /** Empty: no password is required. */
  readonly password: string;
  /** The user may read every database with this prefix: a rebuilt history has a suffix in its name. */
  readonly database: string;
}

/** `default` is the child's own session; the pipeline uses the other one. */
const RESERVED = new Set(['default', PIPELINE_USER]);

interface Limit {
  readonly value: number;
  /** Range that the user may choose from; equal ends fix the value. */
  readonly min: number;
  readonly max: number;
}

/** Times in seconds, sizes in bytes. 0 would mean no limit, so every range begins at 1. */
const LIMITS: Readonly<Record<string, Limit>> = {
  max_execution_time: { value: 60, min: 1, max: 60 },
  max_memory_usage: { value: 512 * MIB, min: 1, max: 512 * MIB },
  // For all queries of the user together: the managed child has 1 GiB, and the pipeline needs a part of it.
  max_memory_usage_for_user: { value: 512 * MIB, min: 1, max: 512 * MIB },
  max_concurrent_queries_for_user: { value: 8, min: 8, max: 8 },
  max_sessions_for_user: { value: 32, min: 32, max: 32 },
  max_temporary_data_on_disk_size_for_query: { value: 1024 * MIB, min: 1, max: 1024 * MIB },
  max_temporary_data_on_disk_size_for_user: { value: 2048 * MIB, min: 1, max: 2048 * MIB },
};
/** 2: no writes, but the user may change settings within the ranges above, as every client library does. */
const READ_ONLY = 2;

/** The configured analyst; null when `analystUser` is empty. Throws ConfigError for an invalid name. */
export function analystOf(config: Config): Analyst | null {
  const { analystUser: user, analystPassword: password, clickhouseDatabase: database } = config;
  if (user === '') return null;
  if (!NAME.test(user) || RESERVED.has(user)) throw new ConfigError(`analystUser cannot be "${user}"`);
  if (!NAME.test(database)) throw new ConfigError(`clickhouseDatabase cannot be "${database}"`);
  return { user, password, database };
}

/** URL for the analyst's HTTP client, without the password. */
export function analystUrl({ user }: Analyst, serverUrl: string, database: string): string {
  return `${serverUrl}/?${new URLSearchParams({ user, database })}`;
}

const grant = ({ database }: Analyst) => `GRANT SELECT ON ${database}*.*`;
export const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** The analyst's part of users.xml. `access` is common to all users of the child: networks and quota. */
export function analystXml(analyst: Analyst, access: string): { readonly profile: string; readonly user: string } {
  const { user, password } = analyst;
  const secret =
    password === '' ? '<password></password>' : `<password_sha256_hex>${sha256(password)}</password_sha256_hex>`;
  const grants = `<grants><query>${grant(analyst)}</query></grants>`;
  return {
    profile: profileXml(),
    user: `<${user}>${secret}<profile>analyst</profile>${access}${grants}</${user}>`,
  };
}

/** Settings of every user of the child. */
export const UNCOMPILED_XML = Object.entries(UNCOMPILED)
  .map(([name, value]) => `<${name}>${value}</${name}>`)
  .join('');

function profileXml(): string {
  const limits = Object.entries(LIMITS);
  const values = limits.map(([name, { value }]) => `<${name}>${value}</${name}>`);
  const ranges = limits.map(([name, { min, max }]) => `<${name}><min>${min}</min><max>${max}</max></${name}>`);
  return `<analyst><readonly>${READ_ONLY}</readonly>${UNCOMPILED_XML}${values.join('')}<constraints>${ranges.join('')}</constraints></analyst>`;
}

/**
 * SQL that an administrator runs to create the same user on a server. A second run updates password and limits. It contains
 * the password as a hash. `cluster` is empty for one server. Throws ConfigError without a password, because a server is
 * often open to other machines.
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
