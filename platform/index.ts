// How a process lives: the only entry of platform/.

export * from './config.ts';
export * from './log/port.ts';
export type * from './runtime/context.ts';
