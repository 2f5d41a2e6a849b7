// Flattens nested program records: `order.price` becomes `order_price`, a list of structs becomes parallel lists, padding
// goes. A table row and an Avro record then have the same fields.

import { emptyRecord } from './empty-record.ts';
import type { NamedType, WireType } from './layout.ts';

/** Fields that precede a stored event's own. A program field with one of these names becomes `record_<name>`. */
export const HEAD_FIELDS = ['signature', 'event_index', 'slot', 'tx_index'] as const;

const HEAD: ReadonlySet<string> = new Set(HEAD_FIELDS);

/** True for fields without information. */
function isPadding(name: string): boolean {
  return /^_?padding/.test(name);
}

/** Stored name of a top-level program field. A record's own `slot` would otherwise hide the slot of its transaction. */
export function storedName(name: string): string {
  return HEAD.has(name) ? `record_${name}` : name;
}

/** The flat fields of a record in wire order. */
export function flattenFields(fields: readonly NamedType[]): NamedType[] {
  return planOf(fields).steps.flatMap(namedTypes);
}

/**
 * Flat `data` of a decoded record. `value` comes from an event decoder: snake_case keys, structs as objects, lists as
 * arrays, absent options null. Fields that `value` lacks become null.
 */
export function flattenRecord(
  fields: readonly NamedType[],
  value: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const plan = planOf(fields);
  const flat = { ...plan.empty };
  assign(flat, plan.steps, value);
  return flat;
}

/** Whether decoded records of these fields are flat as they are. */
export function isFlat(fields: readonly NamedType[]): boolean {
  const { steps } = planOf(fields);
  return steps.length === fields.length && steps.every((step) => step.kind === 'value' && step.path === step.name);
}

/** Handles one member of a decoded record. Each record kind builds its steps once. */
type Step =
  | { readonly kind: 'value'; readonly name: string; readonly path: string; readonly type: WireType }
  | { readonly kind: 'struct' | 'list'; readonly name: string; readonly steps: readonly Step[] };

interface Plan {
  readonly steps: readonly Step[];
  readonly empty: Readonly<Record<string, unknown>>;
}

const plans = new WeakMap<readonly NamedType[], Plan>();

function planOf(fields: readonly NamedType[]): Plan {
  const known = plans.get(fields);
  if (known) return known;
  const steps = planSteps(fields, '');
  const plan = { steps, empty: emptyRecord(steps.flatMap(namedTypes).map(({ name }) => name)) };
  plans.set(fields, plan);
  return plan;
}

function planSteps(fields: readonly NamedType[], prefix: string): Step[] {
  return fields
    .filter(({ name }) => !isPadding(name))
    .map(({ name, type }): Step => {
      const path = prefix === '' ? storedName(name) : prefix + name;
      const inner = structOf(type);
      if (!inner) return { kind: 'value', name, path, type };
      return { kind: type.kind === 'struct' ? 'struct' : 'list', name, steps: planSteps(inner, `${path}_`) };
    });
}

/** Fields of a struct, or of the structs in a list; null for other types. */
function structOf(type: WireType): readonly NamedType[] | null {
  const inner = type.kind === 'vec' || type.kind === 'array' ? type.element : type;
  return inner.kind === 'struct' ? inner.layout.fields : null;
}

function namedTypes(step: Step): NamedType[] {
  if (step.kind === 'value') return [{ name: step.path, type: step.type }];
  const inner = step.steps.flatMap(namedTypes);
  return step.kind === 'struct'
    ? inner
    : inner.map(({ name, type }) => ({ name, type: { kind: 'vec', element: type } }));
}

function assign(flat: Record<string, unknown>, steps: readonly Step[], value: unknown): void {
  const members = value as Readonly<Record<string, unknown>> | null | undefined;
  for (const step of steps) {
    const member = members?.[step.name] ?? null;
    if (step.kind === 'value') flat[step.path] = member;
    else if (step.kind === 'struct') assign(flat, step.steps, member);
    else assignList(flat, step.steps, (member as readonly unknown[] | null) ?? []);
  }
}

function assignList(flat: Record<string, unknown>, steps: readonly Step[], members: readonly unknown[]): void {
  const rows = members.map((member) => {
    const row: Record<string, unknown> = {};
    assign(row, steps, member);
    return row;
  });
  for (const { name } of steps.flatMap(namedTypes)) flat[name] = rows.map((row) => row[name]);
}
