// Several live sources at once.

export { type BlockListener, MergedSource, type MergeMember, type Witness } from './source.ts';
