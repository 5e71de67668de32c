import type { StatefulSetFacts } from './snapshot.ts';

type Strategy = Pick<StatefulSetFacts, 'labelled' | 'newPods' | 'strategy' | 'partition' | 'replicas'>;

/**
 * Admission keeps RollingUpdate with partition = replicas: the StatefulSet controller replaces nobody, and creates whoever
 * is missing at the current revision (Kubernetes 1.36.3, stateful_set_utils.go, newVersionedStatefulSetPod).
 */
export function keepsRevisions({ labelled, newPods, strategy, partition, replicas }: Strategy): boolean {
  return labelled && newPods === 'CurrentRevision' && strategy === 'RollingUpdate' && partition === replicas;
}

/** The StatefulSet controller replaces no pod. */
export const replacesNobody = (statefulSet: Strategy): boolean =>
  statefulSet.strategy === 'OnDelete' || keepsRevisions(statefulSet);

/** It has our label and the strategy that its labels ask for. */
export const isAdopted = (statefulSet: Strategy): boolean => statefulSet.labelled && replacesNobody(statefulSet);
