import { timestamp } from '../moment.ts';
import { type Pod } from './objects.ts';
import { type KubeletInput, type KubeletStep, type PodMemory, target } from './pod-memory.ts';
import { condition } from './pod-status.ts';

/** The node that the pod's affinity names, if any, whether there is such a node or not. */
function askedFor({ spec }: Pod): string | undefined {
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const fields = required?.nodeSelectorTerms.flatMap(({ matchFields = [] }) => matchFields) ?? [];
  return fields.find(({ key }) => key === 'metadata.name')?.values?.[0];
}

/** The ordinal spreads the members of a StatefulSet; other pods are spread by the length of their names. */
function nodeFor(pod: Pod, nodes: readonly string[], closed: ReadonlySet<string>): string | null {
  const { name } = pod.metadata;
  const asked = askedFor(pod);
  if (asked !== undefined) return asked;
  if (nodes.length === 0) throw new Error('Expected at least one node to schedule pods to, got none');
  const ordinal = /-(\d+)$/.exec(name)?.[1];
  const first = (ordinal === undefined ? name.length : Number(ordinal)) % nodes.length;
  return [...nodes.slice(first), ...nodes.slice(0, first)].find((node) => !closed.has(node)) ?? null;
}

const noNodes: ReadonlySet<string> = new Set();

/** The scheduler's action for a pod without a node: binds it, or reports why not. */
export function scheduleStep(input: KubeletInput & { readonly memory: PodMemory }): KubeletStep {
  const { pod, memory, faults, settings, now, nodes, closed = noNodes } = input;
  const node = nodeFor(pod, nodes, closed);
  if (faults.neverScheduled === 'forItsNode' || node === null) {
    return unschedulable(input, '1 node(s) were unschedulable, 1 node(s) had volume node affinity conflict');
  }
  if (faults.neverScheduled || !nodes.includes(askedFor(pod) ?? nodes[0] ?? '')) {
    return unschedulable(input, `${nodes.length} Insufficient cpu`);
  }
  const wait = memory.seenAt + settings.scheduleMilliseconds - now.monotonicMilliseconds;
  if (wait > 0 || pod.metadata.deletionTimestamp !== undefined) {
    return { memory, writes: [], requeueAfterMilliseconds: wait > 0 ? wait : null };
  }
  return {
    memory,
    writes: [{ verb: 'bind', ...target(pod), node }],
    requeueAfterMilliseconds: null,
  };
}

function unschedulable(
  { pod, memory, now, nodes }: KubeletInput & { readonly memory: PodMemory },
  why: string,
): KubeletStep {
  const finding = {
    type: 'PodScheduled',
    holds: false,
    reason: 'Unschedulable',
    message: `0/${nodes.length} nodes are available: ${why}.`,
  };
  const said = condition(pod, finding, memory.conditions, timestamp(now.wallMilliseconds));
  const written = JSON.stringify(said);
  if (written === memory.written) {
    return { memory, writes: [], requeueAfterMilliseconds: null };
  }
  return {
    memory: { ...memory, conditions: [said], written },
    writes: [{ verb: 'patchStatus', ...target(pod), status: { conditions: [said] } }],
    requeueAfterMilliseconds: null,
  };
}
