// Commitment levels as a node names them.

export type NodeCommitment = 'processed' | 'confirmed' | 'finalized';
/** Nodes list no signatures of slots that are only processed. */
export type HistoryCommitment = Exclude<NodeCommitment, 'processed'>;
