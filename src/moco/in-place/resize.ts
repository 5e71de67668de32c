import { milliseconds } from '../../base/json.ts';
import type { InPlaceUpdate } from '../../core/in-place-changes.ts';
import type { Ages } from '../ages.ts';
import type { LiveContainer, LivePod, PodRecord } from '../records.ts';
import type { Comparison } from './compare.ts';
import { isSameQuantity } from './quantity.ts';
import { find, hasRestartedResized } from './restart.ts';

/** Adds how far the kubelet has come with the resize of the pod. Call within `ages.observe`. */
export function withResize(comparison: Comparison, pod: PodRecord, ages: Ages): InPlaceUpdate {
  if (comparison.kind === 'impossible') return comparison;
  const { change } = comparison;
  const { live } = pod;
  if (live === null) return { kind: 'possible', change, resize: null };
  const { resize } = live;
  const isRefused = resize?.state === 'Infeasible' || resize?.state === 'Error';
  // If the pod still has to be resized, an earlier resize was for a different revision, and the new resize will replace
  // it. Until then, and for a while after the earlier resize was made, it blocks resizes of other members.
  const isOfAnother = change.resources.length > 0;
  const names = [...new Set([...change.resized, ...resizedOf(live, isOfAnother)])];
  if (names.length === 0 || (isOfAnother && isRefused)) return { kind: 'possible', change, resize: null };
  if (isRefused) {
    const what = resize.state === 'Infeasible' ? 'calls its resize infeasible' : 'reports an error of its resize';
    return { kind: 'impossible', reasons: [`the kubelet ${what}: ${resize.message}`] };
  }
  const isObserved = live.observed && resize === null;
  const awaited = names.filter((name) => !isObserved || !hasItsResources(pod, name));
  const since = milliseconds(resize?.since ?? null);
  const wanted = JSON.stringify(names.map((name) => find(live.containers, name)?.resources));
  const forSeconds = ages.since(pod, `resize ${wanted}`, awaited.length === 0 ? 'done' : 'awaited', since);
  const deferred = resize?.state === 'Deferred' ? resize.message : null;
  return {
    kind: 'possible',
    change,
    resize: { awaited, deferred, forSeconds, mysqldRestarted: hasRestartedResized(pod, change) },
  };
}

/**
 * The containers that this program has resized, for any revision. If `all` is false, only the containers that the
 * kubelet has not resized yet.
 */
const resizedOf = ({ containers, resize }: LivePod, all: boolean): readonly string[] =>
  containers
    .filter((one) => one.resized.length > 0 && (all || (resize !== null && !isActual(one))))
    .map(({ name }) => name);

/**
 * Whether the container runs with its resources. If it does not run, the kubelet only reports the resources that it
 * would get.
 */
function hasItsResources({ live, containers }: PodRecord, name: string): boolean {
  const container = find(containers, name);
  const one = find(live?.containers ?? [], name);
  return container?.state === 'running' && container.ready && one !== undefined && isActual(one);
}

function isActual({ resources, actual }: LiveContainer): boolean {
  return (['limits', 'requests'] as const).every((list) =>
    ['cpu', 'memory'].every((name) => isSameQuantity(resources[list][name], actual[list][name])),
  );
}
