import type { PodCondition } from './objects.ts';

interface Target {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** POST of a Binding, as the scheduler does it. */
interface Bind extends Target {
  readonly verb: 'bind';
  readonly node: string;
}

/** Strategic merge patch on `/status`, meant for this uid alone: conditions of other types stay. */
interface PatchStatus extends Target {
  readonly verb: 'patchStatus';
  readonly status: Readonly<Record<string, unknown>> & { readonly conditions?: readonly PodCondition[] };
}

/**
 * DELETE with uid precondition. `graceSeconds` 0 is the kubelet's final DELETE of a pod whose containers have ended;
 * `null` keeps the pod's own grace period.
 */
interface DeletePod extends Target {
  readonly verb: 'delete';
  readonly graceSeconds: 0 | null;
}

export type PodWrite = Bind | PatchStatus | DeletePod;
