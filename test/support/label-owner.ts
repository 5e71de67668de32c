import type { Json } from '../../src/base/json.ts';
import { revisionHashLabel } from '../../src/moco/names.ts';
import { timestamp } from './moment.ts';

interface Labelled {
  readonly metadata: { readonly labels?: Readonly<Record<string, string>>; readonly managedFields?: readonly Json[] };
}

/** The API server records who has set the label of a pod's revision last, and when that writer last changed a field. */
export const revisionOwner = (manager: string, time: string): Json => ({
  manager,
  operation: 'Update',
  time,
  fieldsV1: { 'f:metadata': { 'f:labels': { [`f:${revisionHashLabel}`]: {} } } },
});

/** The entries of a pod after a write that may have changed the label of its revision. `before` is `null` for a new one. */
export function withRevisionOwner(
  before: Labelled | null,
  after: Labelled,
  manager: string,
  wallMilliseconds: number,
): readonly Json[] | undefined {
  const { managedFields, labels } = after.metadata;
  const revision = labels?.[revisionHashLabel];
  if (revision === undefined || revision === before?.metadata.labels?.[revisionHashLabel]) return managedFields;
  const others = (managedFields ?? []).filter((entry) => !JSON.stringify(entry).includes(`"f:${revisionHashLabel}"`));
  return [...others, revisionOwner(manager, timestamp(wallMilliseconds))];
}
