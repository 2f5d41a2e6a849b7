// Downloads of clients that read when they please.

import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, type RequestOptions, request } from 'node:http';

/** Sends a request and reads nothing; resolves at the response head. */
export async function openDownload(
  options: RequestOptions,
): Promise<{ readonly download: ClientRequest; readonly response: IncomingMessage }> {
  const download = request({ host: '127.0.0.1', ...options });
  download.on('error', () => {}); // the hang-up's error
  download.end();
  const [response] = (await once(download, 'response')) as [IncomingMessage];
  return { download, response };
}
