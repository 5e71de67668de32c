/**
 * What is kept of a value: all of it, some fields of it, or what a function makes of it. A shape of a list is one of its items.
 * Fields that no shape names are left out, so that a field which nobody has thought of can't bring a secret along.
 */
export type Shape = 'all' | { readonly [field: string]: Shape } | ((value: unknown) => unknown);

export function keep(value: unknown, shape: Shape): unknown {
  if (shape === 'all') return value;
  if (typeof shape === 'function') return shape(value);
  if (Array.isArray(value)) return value.map((item) => keep(item, shape));
  if (typeof value !== 'object' || value === null) return undefined;
  const fields = new Map(Object.entries(value));
  const kept = Object.entries(shape).map(([field, part]) => [field, keep(fields.get(field), part)] as const);
  return Object.fromEntries(kept.filter(([, part]) => part !== undefined));
}

/** Items of a list as they are with some fields more or less. */
export const all = (...fields: readonly string[]): Record<string, Shape> =>
  Object.fromEntries(fields.map((field) => [field, 'all']));
