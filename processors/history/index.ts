// The history sinks for the entry file of processors/.

export { endsOfLog, type Filling, type Offsets, startFilling, unstored } from './fill.ts';
export { SINK_TOPICS, startHistorySink } from './role.ts';
