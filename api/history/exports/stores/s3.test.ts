import { ListMultipartUploadsCommand, ListObjectsV2Command, S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeFileStore, nowS } from '../../../../test/support/api/file-store-contract.ts';
import { type S3Server, startS3Server } from '../../../../test/support/api/s3-server.ts';
import { S3Store } from './s3.ts';

const START_WITHIN_MS = 180_000;

let server: S3Server;
let store: S3Store;
let client: S3Client;

beforeAll(async () => {
  server = await startS3Server();
  const { endpoint, region, accessKeyId, secretAccessKey } = server.settings;
  store = new S3Store(server.settings);
  client = new S3Client({ endpoint, region, forcePathStyle: true, credentials: { accessKeyId, secretAccessKey } });
}, START_WITHIN_MS);
afterAll(async () => {
  client?.destroy();
  await store?.close();
  await server?.stop();
});

async function download(url: string) {
  const response = await fetch(url);
  const disposition = response.headers.get('content-disposition') ?? '';
  return { status: response.status, body: Buffer.from(await response.arrayBuffer()), disposition };
}

/** Objects, and the parts of uploads. */
async function traces(requestId: string): Promise<readonly string[]> {
  const { bucket: Bucket, prefix } = server.settings;
  const Prefix = `${prefix}${requestId}`;
  const objects = await client.send(new ListObjectsV2Command({ Bucket, Prefix }));
  const uploads = await client.send(new ListMultipartUploadsCommand({ Bucket, Prefix }));
  return [...(objects.Contents ?? []), ...(uploads.Uploads ?? [])].map(({ Key = '' }) => Key);
}

describe('files in S3', () => {
  describeFileStore(() => ({ store, download, traces }));

  it('rejects where the server refuses the key', async () => {
    const other = new S3Store({ ...server.settings, secretAccessKey: 'wrong' });
    await expect(other.remove('01890a5d-ac96-774b-bcce-b302099a8057')).rejects.toThrow();
    await other.close();
  });

  it('signs URLs for the public address', async () => {
    const { endpoint } = server.settings;
    const outside = new S3Store({ ...server.settings, publicEndpoint: 'https://files.example.com' });
    const url = await outside.url('a.b.csv.gz', { saveAs: 'x.csv.gz', nowS: nowS(), validS: 60, origin: '' });
    expect([url.startsWith('https://files.example.com/statements/exports/'), url.includes(endpoint)]).toEqual([
      true,
      false,
    ]);
    await outside.close();
  });
});
