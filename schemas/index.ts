// What things look like, for every room: the only entry of schemas/.

export * from './market.ts';
export * from './messages.ts';
export * from './topics.ts';
