// Several live sources at once.

export { MergedSource, type MergeMember } from './source.ts';
