// A self-signed certificate for a TLS server of a test (X.509 in DER, RFC 5280), made with a key of its own.

import { generateKeyPairSync, sign } from 'node:crypto';

const SEQUENCE = 0x30;
const SET = 0x31;
const INTEGER = 0x02;
const BIT_STRING = 0x03;
const OCTET_STRING = 0x04;
const UTF8 = 0x0c;
const UTC_TIME = 0x17;
const BOOLEAN = 0x01;
/** Tags of the parts of a certificate that have numbers. */
const VERSION = 0xa0;
const EXTENSIONS = 0xa3;
const DNS_NAME = 0x82;
const ECDSA_WITH_SHA256 = Buffer.from('06082a8648ce3d040302', 'hex');
const COMMON_NAME = Buffer.from('0603550403', 'hex');
const SUBJECT_ALTERNATIVE_NAME = Buffer.from('0603551d11', 'hex');
const BASIC_CONSTRAINTS = Buffer.from('0603551d13', 'hex');
/** Two digits of the year: 1950 to 2049. */
const [FROM, TO] = ['200101000000Z', '491231235959Z'];

export interface Certificate {
  /** PEM. */
  readonly key: string;
  readonly cert: string;
}

/** A certificate for `localhost` that is its own authority. */
export function selfSigned(name = 'localhost'): Certificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const issuer = der(SEQUENCE, der(SET, der(SEQUENCE, COMMON_NAME, der(UTF8, Buffer.from(name)))));
  const alternative = der(
    SEQUENCE,
    SUBJECT_ALTERNATIVE_NAME,
    der(OCTET_STRING, der(SEQUENCE, der(DNS_NAME, Buffer.from(name)))),
  );
  const authority = der(
    SEQUENCE,
    BASIC_CONSTRAINTS,
    der(OCTET_STRING, der(SEQUENCE, der(BOOLEAN, Buffer.from([0xff])))),
  );
  const body = der(
    SEQUENCE,
    der(VERSION, der(INTEGER, Buffer.from([2]))),
    der(INTEGER, Buffer.from([1])),
    der(SEQUENCE, ECDSA_WITH_SHA256),
    issuer,
    der(SEQUENCE, der(UTC_TIME, Buffer.from(FROM)), der(UTC_TIME, Buffer.from(TO))),
    issuer,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(EXTENSIONS, der(SEQUENCE, alternative, authority)),
  );
  const signature = der(BIT_STRING, Buffer.from([0]), sign('sha256', body, privateKey));
  const whole = der(SEQUENCE, body, der(SEQUENCE, ECDSA_WITH_SHA256), signature);
  return {
    key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
    cert: `-----BEGIN CERTIFICATE-----\n${whole.toString('base64').replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`,
  };
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const length =
    body.length < 0x80
      ? [body.length]
      : body.length < 0x100
        ? [0x81, body.length]
        : [0x82, body.length >> 8, body.length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
}
