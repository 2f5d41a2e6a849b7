// From events to read models: the only entry of processors/.

export * from './history/index.ts';
