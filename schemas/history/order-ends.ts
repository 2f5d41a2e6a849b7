// How an action record ends or triggers an order, besides a fill. api/history/queries/account-days.test.ts compares the forms in
// ClickHouse.

/** Explanation of a cancel because the order's time was over. */
const TIME_IS_OVER = 'orderExpired';
const TRIGGERED = { above: 'triggeredAbove', below: 'triggeredBelow' } as const;

/** True for an action after which the order is gone, whatever is filled. */
export const isEnd = (action: unknown): action is 'cancel' | 'expire' => action === 'cancel' || action === 'expire';

/** `isEnd` of a text expression. */
export const isEndSql = (action: string): string => `${action} IN ('cancel', 'expire')`;

/** True for the end of an order because its time was over. */
export const isExpiry = (action: unknown, explanation: unknown): boolean =>
  action === 'expire' || (action === 'cancel' && explanation === TIME_IS_OVER);

/** `isExpiry` of two text expressions. */
export const isExpirySql = (action: string, explanation: string): string =>
  `(${action} = 'expire' OR (${action} = 'cancel' AND ${explanation} = '${TIME_IS_OVER}'))`;

/** The condition of an order after its trigger. */
export function triggeredCondition(condition: string): string {
  if (condition === 'above' || condition === 'below') return TRIGGERED[condition];
  return condition;
}

/** `triggeredCondition` of a text expression. */
export const triggeredConditionSql = (condition: string): string =>
  `multiIf(${Object.entries(TRIGGERED)
    .map(([waiting, triggered]) => `${condition} = '${waiting}', '${triggered}'`)
    .join(', ')}, ${condition})`;
