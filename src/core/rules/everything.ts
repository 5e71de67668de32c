import { withoutFullStop } from '../sentences.ts';
import { rule } from './rule.ts';

/** Every step is blocked, except taking back a demotion. */
export const everything = {
  SettingsInvalid: rule<{ readonly problem: string }>({
    sentence: ({ problem }) => `the settings are invalid: ${withoutFullStop(problem)}`,
    meaning: 'A setting of this cluster is invalid.',
    details:
      'Examples are a value out of its range, and two policies with the same priority that disagree. The default does not apply instead, since somebody has asked for something else.',
    endedBy: ['a person'],
    ends: 'Correct the field that the message names, in the MySQLRollout or the MySQLRolloutPolicy.',
    alarms: true,
  }),
  StatefulSetDeleting: rule({
    sentence: () => 'the StatefulSet is being deleted or re-created',
    meaning: 'MOCO is re-creating the StatefulSet.',
    details: 'MOCO does so to change the volume template. The pods stay.',
    endedBy: ['MOCO'],
    ends: 'By itself, once the new StatefulSet exists.',
    brief: true,
    keepsDemotion: true,
  }),
  Released: rule({
    sentence: () => 'the cluster was released to MOCO',
    meaning: 'A person has released the cluster to rolling updates by partition.',
    details: 'The controller leaves the cluster alone.',
    endedBy: ['a person'],
    ends: 'By `adopt NAME`.',
    requestedBy: '`release`',
    phase: 'Off',
  }),
  StatefulSetNotObserved: rule({
    sentence: () => 'Kubernetes has not yet observed the newest generation of the StatefulSet',
    meaning: 'Kubernetes has not yet observed the newest generation of the StatefulSet.',
    details: 'Until then the update revision may belong to the previous template.',
    endedBy: ['Kubernetes'],
    ends: 'By itself within moments. If not, check that kube-controller-manager runs.',
    brief: true,
    keepsDemotion: true,
  }),
  ReconciliationStopped: rule({
    sentence: () => "MOCO's reconciliation of this cluster is stopped by annotation",
    meaning: "A person has stopped MOCO's reconciliation of this cluster by annotation.",
    endedBy: ['a person'],
    ends: 'Run `kubectl moco start reconciliation NAME`, which removes the annotation from the MySQLCluster.',
    requestedBy: "MOCO's annotation `reconciliation-stopped`",
  }),
  ClusteringStopped: rule({
    sentence: () => "MOCO's clustering of this cluster is stopped by annotation",
    meaning: "A person has stopped MOCO's clustering of this cluster by annotation.",
    details: 'MOCO would neither switch over nor fail over.',
    endedBy: ['a person'],
    ends: 'Run `kubectl moco start clustering NAME`, which removes the annotation from the MySQLCluster.',
    requestedBy: "MOCO's annotation `clustering-stopped`",
  }),
  Offline: rule({
    sentence: () => 'the cluster is offline',
    meaning: 'The cluster is offline: it is meant to have no pods.',
    endedBy: ['a person'],
    ends: 'Set `spec.offline: false` in the MySQLCluster.',
    requestedBy: '`spec.offline: true` of the MySQLCluster',
  }),
  ForcedRollingUpdate: rule({
    sentence: () => 'annotation force-rolling-update makes Kubernetes roll out the update itself',
    meaning: 'The MySQLCluster or its StatefulSet has the annotation force-rolling-update.',
    details: 'Kubernetes replaces the pods one after another, whatever the state of the database.',
    endedBy: ['a person'],
    ends: 'Remove the annotation from the MySQLCluster. The controller then updates the members that are still stale.',
    requestedBy: "MOCO's annotation `force-rolling-update`",
    phase: 'Off',
  }),
  AdmissionNotInForce: rule<{
    readonly mode: 'OnDelete' | 'Partition';
    /** What the dry run returned, as a sentence. */
    readonly finding: string;
  }>({
    sentence: ({ mode, finding }) =>
      mode === 'OnDelete'
        ? `admission does not keep the StatefulSet at OnDelete: ${withoutFullStop(finding)}`
        : `admission does not keep the StatefulSet at partition = replicas: ${withoutFullStop(finding)}`,
    meaning: "A dry run has shown that admission would not change MOCO's next write as this strategy needs it.",
    details:
      'The StatefulSet has to come back at OnDelete with the label, or, with the own partition driver, at partition = replicas. The message says what came back. Nothing was written, and MOCO goes on without moco-rollout.',
    endedBy: ['a person', 'moco-rollout'],
    ends: 'Install what the strategy needs: config/admission-policy from Kubernetes 1.36 on, config/webhook before that, config/partition-driver for the own partition driver. The controller tries again after 30 seconds, then more rarely, and at least every 5 minutes.',
  }),
  StrategyNotOnDelete: rule<{ readonly labelled: boolean }>({
    sentence: ({ labelled }) =>
      labelled
        ? 'the StatefulSet has the label, but its update strategy is not OnDelete'
        : 'the update strategy of the StatefulSet is not OnDelete yet',
    meaning: 'The StatefulSet is not at OnDelete, or does not have the label.',
    details:
      "The controller is about to adopt the StatefulSet, or has adopted it recently. A StatefulSet that returns to RollingUpdate is adopted again after 30 seconds, doubling to 5 minutes. Meanwhile MOCO's partition controller goes on.",
    endedBy: ['moco-rollout'],
    ends: 'By itself. If it comes back again and again, admission is sometimes unavailable, or another program writes the strategy: `kubectl get statefulset NAME -o yaml --show-managed-fields`.',
  }),
  Paused: rule({
    sentence: () => 'the rollout is paused',
    meaning: 'The rollout is paused, by the MySQLRollout or by a MySQLRolloutPolicy.',
    details:
      'With `repairWhilePaused: true` members that are down are still replaced. A pause never changes who replaces pods: neither a release nor a first adoption begins.',
    endedBy: ['a person'],
    ends: 'By `resume`.',
    requestedBy: '`paused: true`',
    alert: 'MocoRolloutPausedStale',
    phase: 'Paused',
  }),
  RevisionFlapping: rule<{ readonly revisions: number }>({
    sentence: ({ revisions }) =>
      `${revisions} update revisions within ten minutes: two writers seem to overwrite each other's template`,
    meaning: 'More than three update revisions appeared within ten minutes.',
    details: "Two writers seem to overwrite each other's pod template.",
    endedBy: ['time', 'a person'],
    ends: 'By itself, once ten minutes pass with fewer new revisions. Find the other writer: `kubectl get mysqlcluster NAME -o yaml --show-managed-fields`.',
    overridable: true,
    alarms: true,
    phase: 'Failing',
  }),
};
