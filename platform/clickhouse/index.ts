// ClickHouse for the other rooms: opening it, settings for reads, migrations.

export { analystOf, analystStatements } from './analyst.ts';
export * from './client.ts';
export * from './current.ts';
export * from './migrate.ts';
export * from './provider.ts';
