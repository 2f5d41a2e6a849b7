// ClickHouse for the other rooms: opening it, the settings of reads, migrations.

export * from './client.ts';
export * from './migrate.ts';
export * from './provider.ts';
