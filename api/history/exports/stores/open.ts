// Opens the configured file store.

import path from 'node:path';
import type { Config } from '../../../../platform/index.ts';
import { FolderStore } from './folder.ts';
import type { FileStore } from './port.ts';

const FOLDER = 'exports';

/** S3 where a bucket is set, else a folder of the data directory. Makes no request. */
export async function openFileStore(config: Config): Promise<FileStore> {
  if (config.exportS3Bucket === '') return FolderStore.open(path.join(config.dataDir, FOLDER));
  // The SDK takes a second to load, and most deployments on one machine never need it.
  const { S3Store } = await import('./s3.ts');
  return new S3Store({
    bucket: config.exportS3Bucket,
    endpoint: config.exportS3Endpoint,
    publicEndpoint: config.exportS3PublicEndpoint,
    region: config.exportS3Region,
    prefix: config.exportS3Prefix,
    isPathStyle: config.exportS3PathStyle === 'on',
    accessKeyId: config.exportS3AccessKeyId,
    secretAccessKey: config.exportS3SecretAccessKey,
  });
}
