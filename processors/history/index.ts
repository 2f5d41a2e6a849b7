// The history sinks for the entry file of processors/.

export { endsOfLog, type Filling, startFilling, unstored } from './fill.ts';
export { HISTORY_SINK_GROUP, SINK_TOPICS, sinkGroup, startHistorySink } from './role.ts';
