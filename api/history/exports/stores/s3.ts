// Statement files in S3-compatible storage: multipart uploads of bounded memory, and presigned URLs.

import type { Readable } from 'node:stream';
import {
  AbortMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  S3Client,
  type S3ClientConfig,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { attachment } from '../../attachment.ts';
import type { FileStore, UrlRequest } from './port.ts';

/** A file of 10,000 parts, the most that S3 takes, has 80 GB. One part of each upload is in memory. */
const PART_BYTES = 8 * 1024 * 1024;
const PARTS_AT_ONCE = 1;
const CONTENT_TYPE = 'application/gzip';

export interface S3Settings {
  readonly bucket: string;
  /** Empty: AWS. */
  readonly endpoint: string;
  /** Address in download URLs; empty: `endpoint`. */
  readonly publicEndpoint: string;
  readonly region: string;
  readonly prefix: string;
  readonly isPathStyle: boolean;
  /** Empty: the SDK's own search. */
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export class S3Store implements FileStore {
  readonly kind = 's3';
  readonly #settings: S3Settings;
  readonly #client: S3Client;
  /** Signs URLs for the public address; makes no request. */
  readonly #signer: S3Client;

  constructor(settings: S3Settings) {
    this.#settings = settings;
    this.#client = new S3Client(clientConfig(settings, settings.endpoint));
    this.#signer = new S3Client(clientConfig(settings, settings.publicEndpoint || settings.endpoint));
  }

  async put(name: string, body: Readable, signal: AbortSignal): Promise<void> {
    const upload = new Upload({
      client: this.#client,
      params: { ...this.#object(name), Body: body, ContentType: CONTENT_TYPE },
      partSize: PART_BYTES,
      queueSize: PARTS_AT_ONCE,
    });
    const onAbort = () => {
      body.destroy();
      void upload.abort();
    };
    signal.addEventListener('abort', onAbort, { once: true });
    try {
      signal.throwIfAborted();
      await upload.done();
    } finally {
      signal.removeEventListener('abort', onAbort);
      body.destroy();
    }
  }

  url(name: string, { saveAs, validS, nowS }: UrlRequest): Promise<string> {
    const command = new GetObjectCommand({
      ...this.#object(name),
      ResponseContentType: CONTENT_TYPE,
      ResponseContentDisposition: attachment(saveAs),
    });
    return getSignedUrl(this.#signer, command, { expiresIn: validS, signingDate: new Date(nowS * 1000) });
  }

  async remove(requestId: string): Promise<void> {
    const { bucket: Bucket, prefix } = this.#settings;
    const Prefix = `${prefix}${requestId}.`;
    const objects = await this.#client.send(new ListObjectsV2Command({ Bucket, Prefix }));
    for (const { Key } of objects.Contents ?? []) await this.#client.send(new DeleteObjectCommand({ Bucket, Key }));
    // A killed process leaves the parts of its upload, which no list of objects shows.
    const uploads = await this.#client.send(new ListMultipartUploadsCommand({ Bucket, Prefix }));
    for (const { Key, UploadId } of uploads.Uploads ?? []) {
      await this.#client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }));
    }
  }

  async close(): Promise<void> {
    this.#client.destroy();
    this.#signer.destroy();
  }

  #object(name: string) {
    return { Bucket: this.#settings.bucket, Key: `${this.#settings.prefix}${name}` };
  }
}

function clientConfig({ region, isPathStyle, accessKeyId, secretAccessKey }: S3Settings, endpoint: string) {
  const config: S3ClientConfig = {
    region,
    forcePathStyle: isPathStyle,
    // Not every compatible server knows the checksums that the SDK adds by default.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  };
  if (endpoint !== '') config.endpoint = endpoint;
  if (accessKeyId !== '') config.credentials = { accessKeyId, secretAccessKey };
  return config;
}
