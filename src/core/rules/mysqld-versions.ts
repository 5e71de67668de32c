import {
  explainOlderReplicaCluster,
  explainOpenRedoLog,
  explainRefusedData,
  type OlderReplicaCluster,
  type OpenRedoLog,
  openRedoLog,
  type RefusedData,
  refusedData,
  replicaClusterBehind,
} from '../mysqld-data.ts';
import { asksForLasting, lastingSeconds } from '../replicas-behind.ts';
import { dueMembers } from '../situation.ts';
import { type Asked, rule } from './rule.ts';

// Rules about versions of MySQL. They hold if the mysqld of the update revision would refuse the data or a redo log of
// a member, or if another cluster could no longer replicate from this one.

export const mysqldVersions = {
  VersionRefused: rule<RefusedData>({
    holds: (asked) => versionRefused(asked),
    sentence: explainRefusedData,
    meaning:
      'MySQL supports neither an upgrade nor a downgrade from the version of the data to that of the update revision.',
    details:
      "The version of the data is that of the newest mysqld that has started on them. Versions come from image tags, or from MySQL itself; if neither is known, this rule does not hold. Downgrades are possible within 8.4, within 9.7, and within 8.0 down to 8.0.35. Upgrades are possible to the next of the series 8.0, 8.4 and 9.7, and to the innovation releases before it. No working member is replaced, and no member starts at the update revision if its mysqld would refuse the member's data.",
    endedBy: ['a person'],
    ends: 'Set a mysqld image that can open the data. To check an image first, run `kubectl moco-rollout plan -f FILE`. `kubectl moco-rollout undo NAME` prints the patch that restores the previous template.',
    overridable: true,
    overriding:
      'moco-rollout then replaces members although their mysqld is expected to refuse their data: the first one stays down, and the rollout stops there. Its data remain unchanged until a mysqld that can open them starts',
    alarms: true,
    assumed: null,
  }),
  RedoLogOpen: rule<OpenRedoLog>({
    holds: (asked) => firstOpenRedoLog(asked),
    sentence: explainOpenRedoLog,
    meaning:
      'A member is down, and the mysqld of the update revision may be unable to read the redo log that the member left open.',
    details:
      'InnoDB recovers only a redo log of its own format, which has stayed the same since 8.0.30: "Upgrade is not supported after a crash". If the versions are not known, or if a working member may leave its log open because its mysqld was killed before (exit code 137), such members get the update revision one after the other, never two at once. If mysqld has never started in the pod, the redo log counts as closed, unless the mysqld of the last pod was killed: the controller notes that on the claim, until a mysqld is ready again.',
    endedBy: ['the members', 'a person'],
    ends: 'By itself, when the member works again at its own revision. Look at the log of its mysqld. If the member can start only with the new template, change the template first and the MySQL version afterwards.',
    overridable: true,
    overriding:
      'moco-rollout then gives the member the update revision. If its mysqld refuses the redo log, the member stays down. Its data remain unchanged: `kubectl moco-rollout restore POD` gives it its previous revision',
    alarms: true,
    assumed: null,
  }),
  ReplicaClusterOlder: rule<OlderReplicaCluster>({
    holds: (asked) => olderReplicaCluster(asked),
    asks: (_, situation) => asksForLasting(situation),
    sentence: explainOlderReplicaCluster,
    meaning: 'Another cluster replicates from this one, and its MySQL is of an older series than the update revision.',
    details:
      'MySQL does not support a replica of an older series than its source, so the replica cluster is upgraded first. With the feature gate `ReplicationFacts` the members of this cluster report which replicas are connected, and those of MySQLClusters with `spec.replicationSourceSecretName` count. The message does not name clusters of other namespaces. Without the gate, or if the controller does not see that cluster, this rule does not hold: `kubectl moco-rollout check` compares the versions where you may read the Secret. Members that do not work are replaced anyway.',
    endedBy: ['a person'],
    ends: 'By itself, once every member of the replica cluster has a mysqld of the same series as the update revision. Upgrade that cluster first.',
    overridable: true,
    overriding:
      'moco-rollout then upgrades this cluster, and replication to the other cluster may break: if it does, the other cluster has to be upgraded or cloned again',
    assumed: null,
  }),
};

/**
 * A step that lets deleted pods come back updated waits as well, because such pods can also come back at their own
 * revision.
 */
function olderReplicaCluster({ situation, effects, members }: Asked): OlderReplicaCluster | null {
  const isWaiting = effects.some(({ kind, member }) => kind === 'comesUpdated' || member === null);
  if (!isWaiting && !members.some(({ participates }) => participates)) return null;
  const found = replicaClusterBehind(situation);
  const ageSeconds = situation.snapshot.mysql?.ageSeconds ?? null;
  // The members are asked again once this deadline has passed.
  if (found !== null && ageSeconds !== null) situation.deadlines.reached(ageSeconds, lastingSeconds);
  return found;
}

/**
 * A working member is held if the data of any due member would be refused. Any other member is held only by its own
 * data.
 */
function versionRefused({ situation, members, effects }: Asked): RefusedData | null {
  const isOfAll = effects.some(({ member }) => member === null) || members.some(({ participates }) => participates);
  const asked = isOfAll ? [...members, ...dueMembers(situation)] : members;
  return asked.map((member) => refusedData(situation, member)).find((found) => found !== null) ?? null;
}

function firstOpenRedoLog({ situation, step, members }: Asked): OpenRedoLog | null {
  if (step.kind === 'restore') return null;
  const found = members.map((member) => openRedoLog(situation, member)).filter((one) => one !== null);
  const isTrying = situation.members.some(({ updated, participates }) => updated && !participates);
  const first = found.find(({ isKnown }) => isKnown) ?? (found.length > 1 || isTrying ? found[0] : undefined);
  if (first === undefined) return null;
  const { isKnown: _, ...log } = first;
  return log;
}
