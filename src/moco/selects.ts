import { object, objects, strings, text, texts } from '../base/json.ts';
import type { LabelSelector } from './records.ts';

/** Reads a selector from an object. An absent selector selects everything. */
export function selectorOf(raw: unknown): LabelSelector {
  const { matchLabels, matchExpressions } = object(raw);
  return {
    matchLabels: texts(matchLabels),
    matchExpressions: objects(matchExpressions).map(({ key, operator, values }) => ({
      key: text(key) ?? '',
      operator: text(operator) ?? '',
      values: strings(values),
    })),
  };
}

/**
 * Whether a `policy/v1` selector matches. An empty selector matches every pod of its namespace, an absent selector
 * matches none. An operator that Kubernetes does not know matches, which can only delay a step.
 */
export function selects(selector: LabelSelector | null, labels: Readonly<Record<string, string>>): boolean {
  if (selector === null) return false;
  return (
    Object.entries(selector.matchLabels).every(([key, value]) => labels[key] === value) &&
    selector.matchExpressions.every(({ key, operator, values }) => meets(operator, values, labels[key]) ?? true)
  );
}

/** Whether a value meets a requirement of a label selector. `null` if label selectors have no such operator. */
export function meets(operator: string, values: readonly string[], value: string | undefined): boolean | null {
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    default:
      return null;
  }
}
