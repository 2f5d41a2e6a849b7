// Several live sources at once.

export { type Arbiter, type BlockListener, MergedSource, type MergeMember } from './source.ts';
