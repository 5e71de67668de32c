import type { StatefulSetFacts } from '../core/snapshot.ts';

type Strategy = Pick<StatefulSetFacts, 'labelled' | 'newPods' | 'strategy' | 'partition' | 'replicas'>;

/** The StatefulSet controller creates whoever is missing at the current revision and replaces nobody. Admission keeps it so. */
export function keepsRevisions({ labelled, newPods, strategy, partition, replicas }: Strategy): boolean {
  return labelled && newPods === 'CurrentRevision' && strategy === 'RollingUpdate' && partition === replicas;
}

/** The StatefulSet controller replaces no pod. */
export const replacesNobody = (statefulSet: Strategy): boolean =>
  statefulSet.strategy === 'OnDelete' || keepsRevisions(statefulSet);

/** It has our label and the strategy that its labels ask for. */
export const isAdopted = (statefulSet: Strategy): boolean => statefulSet.labelled && replacesNobody(statefulSet);
