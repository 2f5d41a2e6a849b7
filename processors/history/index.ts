// The history sinks for the entry file of processors/.

export { HISTORY_SINK_GROUP, startHistorySink } from './role.ts';
