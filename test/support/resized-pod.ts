import type { Json } from '../../src/base/json.ts';
import { timestamp } from './moment.ts';

type Lists = Readonly<Record<string, Readonly<Record<string, string>>>>;

interface Resizable {
  readonly metadata: object;
  readonly [field: string]: unknown;
}

/**
 * What `pods/resize` makes of a pod: it changes resources alone, and the API server records who has changed them.
 * `wanted` is the pod with the patch.
 */
export function resizedPod(
  before: Resizable,
  wanted: Resizable,
  manager: string | null,
  wallMilliseconds: number,
): { readonly spec: Json; readonly managedFields: readonly Json[] } {
  const [old, now] = [containersOf(before), containersOf(wanted)];
  const containers = old.map((one) => ({
    ...one,
    resources: now.find(({ name }) => name === one['name'])?.['resources'] ?? {},
  }));
  const entry = {
    manager,
    operation: 'Update',
    subresource: 'resize',
    time: timestamp(wallMilliseconds),
    fieldsV1: { 'f:spec': { 'f:containers': Object.fromEntries(containers.map((one) => fieldsOf(one, old))) } },
  };
  const { managedFields: known = [] } = before.metadata as { readonly managedFields?: readonly Json[] };
  return { spec: { ...(before['spec'] as Json), containers }, managedFields: [...known, entry] };
}

const containersOf = ({ spec }: Resizable): readonly Json[] =>
  (spec as { readonly containers: readonly Json[] }).containers;

/** Every quantity of a container that is another one than before. */
function fieldsOf({ name, resources }: Json, before: readonly Json[]): readonly [string, Json] {
  const old = (before.find((one) => one['name'] === name)?.['resources'] ?? {}) as Lists;
  const changed = Object.entries(resources as Lists).map(([list, quantities]) => {
    const names = Object.keys(quantities).filter((key) => old[list]?.[key] !== quantities[key]);
    return [`f:${list}`, Object.fromEntries(names.map((key) => [`f:${key}`, {}]))] as const;
  });
  return [`k:{"name":"${String(name)}"}`, { 'f:resources': Object.fromEntries(changed) }];
}
