// Frames of the compatible channels, which are not numbered.

/** The data envelope: `data` is JSON text inside JSON. docs/internals/order-book-server.md, "WebSocket messages". */
export function envelope(name: string, json: string): Buffer {
  return Buffer.from(`{"channel":${JSON.stringify(name)},"data":${JSON.stringify(json)}}`);
}
