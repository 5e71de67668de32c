import { type Json, named, object, objects, text } from '../../base/json.ts';
import type { ContainerResources } from '../../core/in-place-changes.ts';
import { agentContainer, mysqldContainer } from '../names.ts';
import type { LiveContainer, LivePod } from '../records.ts';
import type { TemplateDifference } from '../template-changes.ts';
import { isSameQuantity, numberOf } from './quantity.ts';

// The part of an update in place that changes CPU and memory, and the reasons why a pod cannot be resized.

export interface Leaf {
  readonly container: string;
  readonly list: 'limits' | 'requests';
  readonly resource: string;
  readonly before: unknown;
  readonly after: unknown;
}

export type LeafChange =
  /** The pod already has the quantity. `resized` is false if both revisions request the same resources. */
  | { readonly kind: 'has'; readonly container: string; readonly resized: boolean }
  | { readonly kind: 'gets'; readonly leaf: Leaf; readonly quantity: string; readonly restarts: boolean }
  | { readonly kind: 'impossible'; readonly reason: string };

const leafPath = /^spec\.containers\[([^\]]+)\]\.resources\.(limits|requests)\.(cpu|memory)$/;

/** The quantity that differs, or `null` if something else differs. */
export function leafOf({ path, before, after }: TemplateDifference): Leaf | null {
  const [, container, list, resource] = leafPath.exec(path) ?? [];
  if (container === undefined || resource === undefined) return null;
  return { container, list: list as Leaf['list'], resource, before, after };
}

/**
 * Quantities that an earlier resize of this program has set for a third revision, because the template changed between
 * that resize and its patch. Neither `before` nor `after` contains them. `template` is the template of the update
 * revision.
 */
export function leftovers({ containers }: LivePod, template: Json, known: readonly Leaf[]): readonly Leaf[] {
  return containers.flatMap(({ name, resized }) =>
    resized.flatMap(({ list, resource }) => {
      const isKnown = known.some((leaf) => isOf(leaf, name) && leaf.list === list && leaf.resource === resource);
      const wanted = quantityIn(template, name, list, resource);
      return isKnown ? [] : [{ container: name, list, resource, before: wanted, after: wanted }];
    }),
  );
}

const isOf = ({ container }: Leaf, name: string): boolean => container === name;

export function leafChange(
  leaf: Leaf,
  live: LivePod,
  template: Json,
  { resources, containers }: { readonly resources: boolean; readonly containers: readonly string[] },
): LeafChange {
  const { container, list, resource, before, after } = leaf;
  const path = `spec.containers[${container}].resources.${list}.${resource}`;
  const found = live.containers.find(({ name }) => name === container);
  const value = found?.resources[list][resource];
  if (isSameQuantity(value, after)) return { kind: 'has', container, resized: !isSameQuantity(before, after) };
  const impossible = (reason: string): LeafChange => ({ kind: 'impossible', reason: `${path} ${reason}` });
  if (!resources) return impossible('differs, and inPlace.resources is false');
  const quantity = text(after);
  if (quantity === null) return impossible("can't be removed from a running pod");
  if (!isSameQuantity(value, before) && !isOurs(found, leaf)) {
    return { kind: 'impossible', reason: `another program has changed ${path} of the pod` };
  }
  if (container === mysqldContainer && list === 'limits' && resource === 'memory' && isLower(quantity, value)) {
    return impossible('would be lower in a running pod, and mysqld may use more');
  }
  const restarts = restartsFor(template, container, resource);
  if (restarts && container === agentContainer)
    return impossible('restarts the agent, which the probes of mysqld need');
  if (restarts && !containers.includes(container)) {
    return impossible(`restarts ${container}, and inPlace.containers does not contain it`);
  }
  return { kind: 'gets', leaf, quantity, restarts };
}

/**
 * Whether this program was the last to set the field. A field that another program has changed since the resize belongs
 * to that program.
 */
const isOurs = (found: LiveContainer | undefined, { list, resource }: Leaf): boolean =>
  found?.resized.some((one) => one.list === list && one.resource === resource) === true;

/** Whether the new limit is lower. Any limit is lower than no limit. */
function isLower(after: string, before: string | undefined): boolean {
  const [one, other] = [numberOf(after), before === undefined ? null : numberOf(before)];
  return one === null || other === null || one < other;
}

function restartsFor(template: Json, container: string, resource: string): boolean {
  const policies = objects(containerIn(template, container)['resizePolicy']);
  return policies.some((one) => one['resourceName'] === resource && one['restartPolicy'] === 'RestartContainer');
}

function quantityIn(template: Json, container: string, list: Leaf['list'], resource: string): unknown {
  return object(object(containerIn(template, container)['resources'])[list])[resource];
}

const containerIn = ({ spec }: Json, container: string): Json => named(object(spec)['containers'], container);

/** The changed quantities by container, in the form in which a resize sends them. */
export function resourcesOf(changes: readonly LeafChange[]): readonly ContainerResources[] {
  const gets = changes.filter((change) => change.kind === 'gets');
  const names = [...new Set(gets.map(({ leaf }) => leaf.container))];
  return names.map((name) => {
    const own = gets.filter(({ leaf }) => isOf(leaf, name));
    const quantities = (list: Leaf['list']) =>
      Object.fromEntries(
        own.flatMap(({ leaf, quantity }) => (leaf.list === list ? [[leaf.resource, quantity] as const] : [])),
      );
    return {
      name,
      limits: quantities('limits'),
      requests: quantities('requests'),
      restarts: own.some(({ restarts }) => restarts),
    };
  });
}
