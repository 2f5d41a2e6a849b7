// `slotbook topics`: prints the topic catalogue as a table or as JSON.

import { type Retention, TOPIC_LIST } from '../schemas/index.ts';

export function printTopics(asJson: boolean): void {
  if (asJson) {
    process.stdout.write(`${JSON.stringify(TOPIC_LIST, null, 2)}\n`);
    return;
  }
  const rows = TOPIC_LIST.map((topic) => [
    topic.name,
    topic.key,
    String(topic.partitions),
    describeRetention(topic.retention),
    topic.schemas.join(' '),
  ]);
  const header = ['topic', 'key', 'partitions', 'retention', 'schemas'];
  const widths = header.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)));
  for (const row of [header, ...rows]) {
    process.stdout.write(
      `${row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd()}\n`,
    );
  }
}

function describeRetention(retention: Retention): string {
  return retention.kind === 'compact' ? 'newest of each key' : `${retention.hours} h`;
}
