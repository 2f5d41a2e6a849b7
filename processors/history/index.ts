// The history sinks for the entry file of processors/.

export { sinkMetrics } from './metrics.ts';
export { endsOfLog, type Offsets, startRebuild, unstored } from './rebuild.ts';
export { SINK_TOPICS, startHistorySink } from './role.ts';
