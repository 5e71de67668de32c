import { type MySQLRollout, pluginManager, type RolloutSpec } from '../../api/rollout.ts';
import type { RolloutProgress } from '../../api/rollout-progress.ts';
import {
  type Intent,
  isTrue,
  type MemberStatus,
  type PreflightStatus,
  type RolloutStatus,
} from '../../api/rollout-status.ts';
import { milliseconds } from '../../base/json.ts';
import type { HoldRule, VerdictKind } from '../../core/decision.ts';
import { ownersOf, statusChangedAt } from '../../moco/managed-fields.ts';
import { ordinalOf, revisionHash, statefulSetName } from '../../moco/names.ts';
import type { ClusterRecord } from '../../moco/records.ts';
import { brief, changeInWords, secondsSince } from './lines.ts';

// What commands show of a cluster, in any output format.

/**
 * MOCO expands the volume claims of a cluster only while its StatefulSet is not being updated (`isUpdatingStatefulSet`
 * in MOCO's `controllers/pvc.go`). In any case MOCO re-creates the StatefulSet with the new volume template. Afterwards
 * it sees no difference, so it never expands the claims.
 */
export const volumeWarning =
  'WARNING: do not resize volumes until every member is updated: MOCO would not expand the claims';

/** Rules that hold a rollout for as long as the user wants. */
const restingRules: ReadonlySet<string> = new Set<HoldRule>([
  'Paused',
  'AwaitingApproval',
  'PrimaryWaitsForPinned',
  'PartitionReached',
]);

/** Whether the rollout is held. A pause does not hold a cluster if all its members are updated and working. */
export const isHeld = ({ hold, conditions }: RolloutStatus): boolean =>
  hold !== undefined && !(hold.rule === 'Paused' && isTrue(conditions, 'Ready'));

/** A cluster and its members, as the status of its MySQLRollout describes them. */
export type ClusterView = ReturnType<typeof viewOf>;
export type MemberView = ClusterView['members'][number];

/** Builds the view of a MySQLRollout. Ages are relative to `nowMilliseconds` of the wall clock. */
export function viewOf(
  cluster: Pick<ClusterRecord, 'namespace' | 'name' | 'replicas' | 'generation' | 'released'>,
  rollout: MySQLRollout | null,
  nowMilliseconds: number,
) {
  const { namespace, name } = cluster;
  const { status = {}, spec } = rollout ?? {};
  const { hold, rollout: progress, updatedReplicas: updated = 0, replicas = cluster.replicas } = status;
  const hashOf = (revision: string | undefined) => (revision === undefined ? null : revisionHash(revision, name));
  const ageOf = (timestamp: string): number | null => secondsSince(milliseconds(timestamp), nowMilliseconds);
  return {
    namespace,
    name,
    phase: status.phase ?? 'Unknown',
    strategy: status.strategy ?? null,
    // The hash of the revision, without the name of the StatefulSet in front.
    updateRevision: hashOf(status.updateRevision),
    currentRevision: hashOf(status.currentRevision),
    replicas,
    updated,
    participating: status.participatingReplicas ?? 0,
    ready: status.readyReplicas ?? 0,
    primary: status.primary === undefined ? null : `${statefulSetName(name)}-${status.primary}`,
    hold: hold ? { rule: hold.rule, message: hold.message, forSeconds: ageOf(hold.since) } : null,
    held: isHeld(status),
    members: (status.members ?? [])
      .toSorted((one, other) => one.ordinal - other.ordinal)
      .map((member) => ({
        ...member,
        name: `${statefulSetName(name)}-${member.ordinal}`,
        revision: hashOf(member.revision),
        data: member.data ? { ...member.data, revision: revisionHash(member.data.revision, name) } : null,
        mysqld: member.mysqld ?? null,
        // What MySQL itself reports, if it was queried recently.
        replication: member.replication ?? null,
        // The step that is ending its pod.
        ending: endingOf(member, status.intent),
        says: verdictSentence(member, spec, status),
      })),
    // Seconds since the controller last changed the status; `null` if unknown, for example while watching.
    statusSeconds: secondsSince(statusChangedAt(rollout), nowMilliseconds),
    complete: isTrue(status.conditions, 'Ready'),
    stalled: isTrue(status.conditions, 'Stalled'),
    // The rollout in progress, and its duration.
    rollout: progress ? { forSeconds: ageOf(progress.startedAt) } : null,
    last: status.history?.at(-1) ?? null,
    overridden: overridesInForce(rollout, nowMilliseconds),
    // What a user must not do now.
    warnings: restingRules.has(hold?.rule ?? '') && updated < replicas ? [volumeWarning] : [],
    // What the view lacks, or why it may be out of date.
    notes: [...notesOf(cluster, rollout), ...endedPause(rollout?.spec, nowMilliseconds)],
    // What the rollout changes, images first.
    changes: changesOf(progress?.changes ?? []),
    // Facts about the databases. They do not depend on the rollout.
    standing: standingOf(status, ageOf),
  } as const;
}

type Change = NonNullable<RolloutProgress['changes']>[number];

/** Images come first. Containers whose images change alike are named together. */
function changesOf(changes: readonly Change[]): readonly string[] {
  const containerOf = ({ path }: Change): string | undefined =>
    /^spec\.(?:initContainers|containers)\[([^[\]]+)\]\.image$/.exec(path)?.[1];
  const images = changes.flatMap((change) => {
    const container = containerOf(change);
    return container === undefined ? [] : [{ ...change, container }];
  });
  const alike = [...Map.groupBy(images, ({ from, to }) => `${from} ${to}`).values()];
  return [
    ...alike.flatMap(([one, ...others]) => {
      if (one === undefined) return [];
      const containers = [one, ...others].map(({ container }) => container);
      return [changeInWords({ ...one, path: `image of ${containers.join(' and ')}` }, '→')];
    }),
    ...changes.filter((one) => containerOf(one) === undefined).map((one) => changeInWords(one, '→')),
  ];
}

function standingOf(
  { openWrites, preflight, phase }: RolloutStatus,
  ageOf: (timestamp: string) => number | null,
): readonly (readonly [label: string, sentence: string])[] {
  return [
    ...(openWrites === undefined ? [] : [['writes', writesSentence(openWrites, ageOf)] as const]),
    // Whether the nodes are ready for the members that have not been updated.
    ...(preflight === undefined || phase === 'UpToDate' ? [] : [['nodes', nodesSentence(preflight)] as const]),
  ];
}

function writesSentence(
  { count, since }: NonNullable<RolloutStatus['openWrites']>,
  ageOf: (timestamp: string) => number | null,
): string {
  if (since === undefined) return 'none was open when the primary was asked, less than a minute ago';
  const age = brief(ageOf(since) ?? 0);
  return count === 1 ? `one has been open for ${age}` : `${count} are open, the oldest for ${age}`;
}

/** For example `images Fetched on node-1, node-2, asked for on node-3; configuration Accepted`. */
function nodesSentence({ nodes, configuration }: PreflightStatus): string {
  const byResult = [...Map.groupBy(nodes, ({ result }) => result ?? 'asked for')];
  const images = byResult.map(([result, some]) => `${result} on ${some.map(({ name }) => name).join(', ')}`);
  return [
    ...(images.length === 0 ? [] : [`images ${images.join(', ')}`]),
    ...(configuration === undefined ? [] : [`configuration ${configuration.result ?? 'asked for'}`]),
  ].join('; ');
}

function notesOf(
  { generation, released }: Pick<ClusterRecord, 'generation' | 'released'>,
  rollout: MySQLRollout | null,
): readonly string[] {
  if (rollout?.status?.phase === undefined) {
    return [
      'no controller has observed this cluster yet: is moco-rollout running, and does it work in this namespace?',
    ];
  }
  const { status, metadata } = rollout;
  const { conditions, observedClusterGeneration, observedGeneration, mysqlProblem } = status;
  const inForce = conditions?.find(({ type }) => type === 'PolicyInForce');
  return [
    (observedClusterGeneration ?? 0) < generation &&
      `the controller has not observed generation ${generation} of the MySQLCluster yet (it observed ${observedClusterGeneration ?? 'none'})`,
    (observedGeneration ?? 0) < (metadata.generation ?? 0) &&
      'the controller has not observed the newest spec of the MySQLRollout yet',
    inForce?.status === 'False' && inForce.reason !== status.hold?.rule && inForce.message,
    mysqlProblem !== undefined && `cannot query MySQL; continuing without replication facts: ${mysqlProblem}`,
    released && status.hold?.rule !== 'Released' && 'released',
  ].filter((note) => note !== false);
}

/** A note if the pause has ended although `paused` is still set in the spec. */
function endedPause({ paused, pause }: RolloutSpec = {}, nowMilliseconds: number): readonly string[] {
  const end = milliseconds(pause?.until ?? null);
  if (paused !== true || end === null || end > nowMilliseconds) return [];
  return [`the pause of the MySQLRollout ended at ${pause?.until}; \`resume\` removes what is left of it`];
}

/** Steps that end the pods that they name, and what happens to such a pod. */
const endings: Readonly<Partial<Record<Intent['step'], string>>> = {
  delete: 'being deleted',
  evict: 'being evicted',
  restore: 'being deleted',
};

/** The step that is ending the pod of the member, in words. The status shows the effect up to ten seconds later. */
function endingOf({ ordinal, state }: MemberStatus, intent: Intent | undefined): string | null {
  if (state === 'terminating' || state === 'missing') return null;
  const isNamed = intent?.pods.some(({ name }) => ordinalOf(name) === ordinal) === true;
  return (isNamed && endings[intent.step]) || null;
}

/** A member's verdict in words, for the end of the member's line. */
function verdictSentence(
  member: MemberStatus,
  spec: RolloutSpec | undefined,
  { rollout: progress, intent }: RolloutStatus,
): string {
  const { ordinal, verdict, rule, message, role, state } = member;
  const seconds = progress?.memberDurations?.find((one) => one.ordinal === ordinal)?.seconds;
  const because = message === undefined ? '' : `: ${message}`;
  const ending = endingOf(member, intent);
  if (ending !== null) return ending + because;
  switch (verdict as VerdictKind) {
    case 'Updated':
      return seconds === undefined ? 'updated' : `updated in ${Math.round(seconds)} s`;
    case 'Starting':
      return `updated, ${state === 'participating' ? 'settling' : 'not ready yet'}${because}`;
    case 'Next':
      return nextSentence(rule, role) + because;
    case 'Waiting':
      return `waiting for its turn${because}`;
    case 'BelowPartition':
      return `kept back by the partition${because}`;
    case 'Pinned': {
      const reason = spec?.pinnedMembers?.find((pinned) => pinned.ordinal === ordinal)?.reason;
      return reason === undefined ? 'pinned' : `pinned: ${reason}`;
    }
    case 'UpdatedOutOfBand':
      return message === undefined ? 'updated: another client deleted its pod' : `updated${because}`;
    case 'Terminating':
      return `terminating${because}`;
    case 'Missing':
      return `its pod does not exist${because}`;
    default:
      // The verdict comes from a controller that is newer than this program.
      return `${verdict}${because}`;
  }
}

function nextSentence(rule: string | undefined, role: string): string {
  if (rule === undefined) return 'next';
  if (role === 'primary' && rule === 'AwaitingSwitchover') return 'next, once another member is primary';
  return `next, once ${rule} is over`;
}

/**
 * The overrides in force according to the status. A sentence says until when, by whom, and why each is in force. The
 * author comes from the spec; if the spec names none, the field manager is shown.
 */
export function overridesInForce(
  rollout: MySQLRollout | null,
  nowMilliseconds: number,
): readonly { readonly rule: string; readonly sentence: string }[] {
  const { spec, status } = rollout ?? {};
  return (status?.settings?.overrides?.value ?? []).flatMap(({ rule, until, by }) => {
    const leftSeconds = ((milliseconds(until) ?? 0) - nowMilliseconds) / 1000;
    const entry = spec?.overrides?.find((one) => one.rule === rule);
    if (leftSeconds <= 0 || entry === undefined) return [];
    const manager = ownersOf(rollout, 'overrides', { rule }).find((one) => !one.startsWith(pluginManager('')));
    const who = by ?? manager;
    const sentence = `${rule} is overridden until ${until} (${brief(leftSeconds)} left)${who ? ` by ${who}` : ''}: ${entry.reason}`;
    return [{ rule, sentence }];
  });
}
