// The header that names the file of a download.

/** Value of `content-disposition`. Symbols are free text from the chain, so only characters stay that are safe in a header and a file name. */
export function attachment(name: string): string {
  return `attachment; filename=${name.replaceAll(/[^A-Za-z0-9._-]/g, '_')}`;
}
