// What things look like, for every room: the only entry of schemas/.

export * from './clob.ts';
export * from './definition.ts';
export * from './layout.ts';
export * from './market.ts';
export * from './messages.ts';
export * from './names.ts';
export * from './topics.ts';
