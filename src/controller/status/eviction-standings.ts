import type { MemberReport } from '../../core/decision.ts';
import { explainHold } from '../../core/rules/catalogue.ts';
import type { MemberFacts } from '../../core/snapshot.ts';
import { isRequested } from '../../evictions/eviction.ts';
import type { Standing } from '../../evictions/respond.ts';
import { keyOf } from '../../kube/store.ts';
import type { Cache } from '../../objects/cache.ts';
import { memberName } from '../facts/member-name.ts';
import type { Observation } from '../pass/observe.ts';

// Whether a member may go after its eviction was requested. This program reports the answer in the Eviction. The core
// decides whether a member is moved, so nothing here moves one.

/** The facts from which the answer follows. */
export type Standpoint = Pick<Observation, 'snapshot' | 'policy' | 'decision' | 'objects'>;

/** For each member with a requested eviction, whether it may go, by `namespace/uid` of its pod. */
export function standingsOf(
  observation: Observation,
  { evictions }: Pick<Cache, 'evictions'>,
): ReadonlyMap<string, Standing> {
  if (evictions.size === 0) return new Map();
  const { namespace } = observation.objects.cluster;
  const keys = observation.objects.pods.map(({ uid }) => [uid, keyOf(namespace, uid)] as const);
  return new Map(
    keys
      .filter(([, key]) => evictions.by('pod', key).some(isRequested))
      .map(([uid, key]) => [key, standingOf(uid, observation)]),
  );
}

/** Whether the member with this pod may go. */
export function standingOf(uid: string, standpoint: Standpoint): Standing {
  const { snapshot, policy, decision } = standpoint;
  const member = snapshot.members.find((one) => one.uid === uid);
  if (member === undefined || !member.ofStatefulSet) return mayGo('the pod is no member of the cluster');
  const { name } = member;
  if (member.terminatingForSeconds !== null) return mayGo(`${name} is terminating`);
  const { settingsProblem } = snapshot;
  if (settingsProblem !== null) return waits(`${name} stays while the settings are not known: ${settingsProblem}`);
  if (policy.nodeMaintenance === 'Ignore') {
    return mayGo('moco-rollout moves no member of this cluster: nodeMaintenance is Ignore, or has no effect');
  }
  if (snapshot.cluster.replicas === 1) return mayGo(`${name} is the only member: no other one can take over`);
  if (member.ordinal === snapshot.cluster.primaryIndex) return primaryStanding(member, standpoint);
  const missing = missingMember(member, decision.members);
  if (missing !== null) return waits(`${name} stays while ${missing} does not participate`);
  if (snapshot.cluster.primarySettledForSeconds === null) return waits(`${name} stays until the switchover is over`);
  if (policy.nodeMaintenance === 'Evacuate' && isEvicted(member, standpoint))
    return waits(waitingFor(name, standpoint));
  return mayGo(`${name} is a replica, and every other member participates`);
}

function primaryStanding(member: MemberFacts, standpoint: Standpoint): Standing {
  const { policy, decision } = standpoint;
  const { name, demote, demoteForSeconds } = member;
  if (demote) {
    const expectedSeconds = Math.max(0, policy.switchoverTimeoutSeconds - demoteForSeconds);
    return { kind: 'waits', message: `${name} is the primary: MOCO moves it to another member`, expectedSeconds };
  }
  return waits(
    `${name} is the primary, ${decision.hold === null ? 'which moves before the pod may go' : `which cannot move yet: ${explained(standpoint)}`}`,
  );
}

const waits = (message: string): Standing => ({ kind: 'waits', message, expectedSeconds: null });
const mayGo = (message: string): Standing => ({ kind: 'mayGo', message });

/** The first of the other members that does not participate: its name, or its ordinal if it has no pod. */
function missingMember({ ordinal }: MemberFacts, members: readonly MemberReport[]): string | null {
  const missing = members.find((one) => one.ordinal !== ordinal && !one.participating);
  return missing === undefined ? null : (missing.name ?? `member ${missing.ordinal}`);
}

/** Whether this program itself evicts the member, once its rules allow that. It evicts only working replicas. */
const isEvicted = ({ ordinal }: MemberFacts, { decision }: Standpoint): boolean =>
  decision.members.some((one) => one.ordinal === ordinal && one.participating);

function waitingFor(name: string, standpoint: Standpoint): string {
  return standpoint.decision.hold === null
    ? `${name} is a replica, which moco-rollout evicts`
    : `${name} is a replica, which cannot be evicted yet: ${explained(standpoint)}`;
}

/** The hold of the cluster, which may concern a different step. */
function explained(standpoint: Standpoint): string {
  const { hold } = standpoint.decision;
  return hold === null ? '' : `${hold.rule}, ${explainHold(hold, memberName(standpoint))}`;
}
