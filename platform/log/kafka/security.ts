// TLS and login of the Kafka connections, from the configured files.

import { readFileSync } from 'node:fs';
import type { KafkaConfig, SASLOptions } from 'kafkajs';
import { type Config, ConfigError } from '../../config.ts';

type FileSetting = 'kafkaSslCaFile' | 'kafkaSslCertFile' | 'kafkaSslKeyFile' | 'kafkaSaslPasswordFile';

/** TLS and SASL options for kafkajs. Throws ConfigError for contradictory settings and unreadable files. */
export function kafkaSecurity(config: Config): Pick<KafkaConfig, 'ssl' | 'sasl'> {
  const ssl = sslOf(config);
  const sasl = saslOf(config);
  return { ...(ssl === null ? {} : { ssl }), ...(sasl === null ? {} : { sasl }) };
}

function sslOf(config: Config): NonNullable<KafkaConfig['ssl']> | null {
  const { kafkaSslCaFile: ca, kafkaSslCertFile: cert, kafkaSslKeyFile: key } = config;
  if (config.kafkaSsl === 'off') {
    if (ca + cert + key !== '')
      throw new ConfigError('kafkaSslCaFile, kafkaSslCertFile and kafkaSslKeyFile need kafkaSsl=on');
    return null;
  }
  if ((cert === '') !== (key === '')) throw new ConfigError('kafkaSslCertFile and kafkaSslKeyFile need each other');
  return {
    ...(ca === '' ? {} : { ca: [read(config, 'kafkaSslCaFile')] }),
    ...(cert === '' ? {} : { cert: read(config, 'kafkaSslCertFile'), key: read(config, 'kafkaSslKeyFile') }),
  };
}

function saslOf(config: Config): SASLOptions | null {
  const { kafkaSaslMechanism: mechanism, kafkaSaslUser: username, kafkaSaslPasswordFile: file } = config;
  if (mechanism === 'none') {
    if (username + file !== '')
      throw new ConfigError('kafkaSaslUser and kafkaSaslPasswordFile need kafkaSaslMechanism');
    return null;
  }
  if (username === '' || file === '') {
    throw new ConfigError(`kafkaSaslMechanism=${mechanism} needs kafkaSaslUser and kafkaSaslPasswordFile`);
  }
  return { mechanism, username, password: read(config, 'kafkaSaslPasswordFile').trim() };
}

/** The error names setting and file, never the file's content. */
function read(config: Config, setting: FileSetting): string {
  try {
    return readFileSync(config[setting], 'utf8');
  } catch (error) {
    throw new ConfigError(`${setting}: cannot read ${config[setting]} (${(error as NodeJS.ErrnoException).code})`);
  }
}
