// The node version that the localnet reports.

export const SOLANA_CORE = '2.2.16';
export const FEATURE_SET = 3_073_396_398;

/** The context of an answer. Notifications contain only the slot. */
export function contextJson(slot: number): string {
  return `{"apiVersion":"${SOLANA_CORE}","slot":${slot}}`;
}
