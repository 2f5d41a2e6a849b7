// Markdown as the reference pages use it.

/** A table; cells may hold Markdown, and bars in them are escaped. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), `|${head.map(() => '---|').join('')}`, ...rows.map(line)].join('\n');
}

export function code(text: string): string {
  return `\`${text}\``;
}

/** The anchor that GitHub gives a heading. */
export function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-');
}

export function fenced(language: string, text: string): string {
  return `\`\`\`${language}\n${text}\n\`\`\``;
}

/** A text as a sentence: with a capital and a full stop. */
export function sentence(text: string): string {
  const trimmed = text.trim();
  if (trimmed === '') return '';
  return `${trimmed.charAt(0).toUpperCase()}${trimmed.slice(1)}${/[.!?:]$/.test(trimmed) ? '' : '.'}`;
}

/** A paragraph as a list, a sentence each. */
export function bullets(text: string): string {
  const sentences = text.trim().split(/(?<=[.;])\s+(?=[A-Z`])/);
  return sentences.map((one) => `- ${one.replace(/;$/, '.')}`).join('\n');
}

/** The first line under the heading of a page that `npm run docs` writes. */
export function written(source: string): string {
  return `<!-- Written by \`npm run docs\` from ${source}. Edit the source, not this page. -->`;
}

/** A page of blocks, with blank lines between them. */
export function page(blocks: readonly (string | null)[]): string {
  return `${blocks.filter((block) => block !== null && block !== '').join('\n\n')}\n`;
}
