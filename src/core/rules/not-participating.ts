import { moved, recovered, replaced } from '../expected.ts';
import { mysqldOf } from '../member.ts';
import { unreachedPrimary } from '../moco-state.ts';
import type { ReplicaSaid } from '../on-demand-facts.ts';
import { asksForLasting, lastingSeconds } from '../replicas-behind.ts';
import { recoverySeconds, somebodyLeads } from '../running-members.ts';
import { everyOtherParticipates, type Member, type Situation } from '../situation.ts';
import { doesNotWork } from '../statefulset-controller.ts';
import { after, rule } from './rule.ts';
import { isTerminationAwaited, terminatingMembers } from './unavailable.ts';

// Rules about members that do not participate, and about failovers that may need these members.

export const notParticipating = {
  MemberDownOutOfOrder: rule<{
    readonly member: number;
    readonly pod: string;
    /** The member that the partition reaches before this one. */
    readonly next: number;
    readonly revision: string;
    /** The revision at which the member would be recreated now. */
    readonly current: string;
  }>({
    holds: ({ situation, step, members: [next] }) => {
      if (step.kind !== 'setPartition' || next === undefined) return null;
      const isStale = (member: Member): boolean => !member.updated && member !== next;
      const down = situation.members.find((member) => isStale(member) && doesNotWork(situation, member));
      if (down === undefined) return null;
      const { name: pod, revision } = down.facts;
      return { member: down.ordinal, pod, next: next.ordinal, revision, current: situation.currentRevision };
    },
    sentence: ({ member, pod, next, revision, current }, name) =>
      `${name(member)} is not working, but the partition reaches ${name(next)} first; \`kubectl delete pod ${pod}\` restarts it at revision ${current}${current === revision ? '' : ` instead of ${revision}`}`,
    meaning:
      'A stale member is down, or has not participated for longer than a failover takes, but the partition reaches other members first.',
    details: 'The StatefulSet controller replaces pods from the highest ordinal down.',
    endedBy: ['a person', 'the members'],
    ends: 'Run the command that the message names, or wait until the member recovers.',
    alarms: true,
    phase: 'Failing',
    assumed: after('member', recovered),
  }),
  AwaitingFailover: rule<{
    readonly primary: number;
    /** The replica that may have lost its primary. `null` if the primary is known not to participate. */
    readonly replica: number | null;
    readonly graceSeconds: number;
  }>({
    holds: ({ situation, members }) => {
      const { primary, replicas, snapshot, policy, deadlines } = situation;
      if (replicas === 1) return null;
      const { primaryIndex, primaryUnavailableForSeconds } = snapshot.cluster;
      if (primary?.participates) {
        const replica = members.find((member) => mayHaveLostPrimary(situation, member));
        return replica ? { primary: primaryIndex, replica: replica.ordinal, graceSeconds: lostPrimarySeconds } : null;
      }
      const graceSeconds = policy.failoverGraceSeconds;
      const isOver = deadlines.reached(primaryUnavailableForSeconds ?? 0, graceSeconds);
      if (isOver && members.every((member) => mayGoWithoutPrimary(situation, member))) return null;
      return { primary: primaryIndex, replica: null, graceSeconds };
    },
    sentence: ({ primary, replica, graceSeconds }, name) =>
      replica === null
        ? `the primary ${name(primary)} does not participate; MOCO has ${graceSeconds} s for a failover`
        : `${name(replica)} runs and is not ready, which may mean that the primary ${name(primary)} is gone; Kubernetes has ${graceSeconds} s to notice`,
    meaning: 'The primary does not participate, or may be gone, so MOCO gets time for a failover.',
    details:
      'MOCO needs the replicas for the failover. If the node of the primary is lost, the replicas become unready before Kubernetes notices, so a replica that was ready is left alone for 60 s. An ordinary switchover also passes through this state for a moment, since MOCO removes the role labels of both members.',
    endedBy: ['MOCO', 'time'],
    ends: 'When the failover is complete. After failoverGraceSeconds the controller restarts members that may block it.',
    brief: true,
    assumed: after('switchover', (snapshot, { primary, replica }) =>
      replica === null ? moved(snapshot, [primary]) : recovered(snapshot),
    ),
  }),
  AwaitingRecovery: rule<{ readonly member: number; readonly graceSeconds: number }>({
    holds: ({ situation, members }) => {
      const [member] = members;
      if (member === undefined) return null;
      const { policy, replicas, snapshot, deadlines } = situation;
      const recovery = recoverySeconds(situation, member);
      if (recovery !== null) return { member: member.ordinal, graceSeconds: recovery };
      const graceSeconds = policy.failoverGraceSeconds;
      const unavailableForSeconds = snapshot.cluster.primaryUnavailableForSeconds ?? 0;
      return replicas > 1 || member.state !== 'running' || deadlines.reached(unavailableForSeconds, graceSeconds)
        ? null
        : { member: member.ordinal, graceSeconds };
    },
    sentence: ({ member, graceSeconds }, name) =>
      `${name(member)} is running but does not participate; it has ${graceSeconds} s to recover`,
    meaning: 'A member is running but does not participate, and no other member may be replaced.',
    details:
      'If the startup probe has not passed since mysqld started, mysqld is probably recovering from a crash, and a restart would make the recovery start over. Once the probe has passed, MOCO makes the member follow the primary.',
    endedBy: ['the members', 'time'],
    ends: 'When the member recovers. If it does not, the controller restarts it. During crash recovery it waits as long as the startup probe allows (startupWaitSeconds of the MySQLCluster). Once the startup probe has passed, it waits 90 s. In all other cases it waits failoverGraceSeconds.',
    assumed: after('member', recovered),
  }),
  FailoverUnfinished: rule<UnfinishedFailover>({
    holds: ({ situation, members }) => {
      const { snapshot, policy } = situation;
      const [member] = members;
      if (member === undefined || somebodyLeads(situation, members)) return null;
      const { primaryIndex: primary } = snapshot.cluster;
      return {
        primary,
        member: member.ordinal,
        graceSeconds: policy.failoverGraceSeconds,
        state: situation.primary?.participates ? unreachedPrimary(snapshot.cluster) : null,
        said: saidOf(situation, member),
      };
    },
    asks: (_, situation) => asksForLasting(situation),
    sentence: ({ primary, member, graceSeconds, state, said }, name) =>
      (state === null
        ? `the primary ${name(primary)} has not participated for more than ${graceSeconds} s, and MOCO has not moved it`
        : `MOCO reports the cluster as ${state}: it cannot reach the primary ${name(primary)}, although the pod is ready`) +
      `; ${name(member)} is running and ${explainApplier(said)}, so it is not restarted`,
    meaning:
      'The primary does not participate, or MOCO cannot reach it. No failover has completed, and a running replica would be restarted.',
    details:
      "MOCO's failover stops the I/O threads of the replicas, which makes them not ready, and waits until the most advanced one has applied everything, however long a transaction or an ALTER TABLE takes. A replica that is restarted during the failover does not start its threads again, since MOCO sets skip_replica_start. It then never applies what it has received, and the failover never ends.",
    endedBy: ['MOCO', 'a person'],
    ends: 'By itself, when MOCO has moved the primary, or when the primary participates again. Look at `SHOW REPLICA STATUS` and `SHOW PROCESSLIST` of the replicas, and at the log of moco-controller. If no failover is under way, bring the primary back: run `kubectl delete pod POD` for the primary only. `kubectl moco-rollout override NAME FailoverUnfinished` restarts the replicas anyway: transactions that they have received and not applied may be lost, and the failover may never end.',
    overridable: true,
    assumed: after('switchover', (snapshot, { primary }) => moved(snapshot, [primary])),
  }),
  MemberUnreachable: rule<{ readonly member: number }>({
    holds: ({ situation, members }) => {
      const lost = members.find(
        (member) => member.state === 'unreachable' && (member.primary || !everyOtherParticipates(situation, member)),
      );
      return lost ? { member: lost.ordinal } : null;
    },
    sentence: ({ member }, name) => `the node of ${name(member)} does not answer`,
    meaning: 'The node of a due member does not answer.',
    details:
      'Its mysqld may still be running. The update waits if the member is the primary, or if another member does not participate.',
    endedBy: ['Kubernetes', 'a person'],
    ends: 'By itself, when the node comes back. Otherwise, run `kubectl delete node NODE` only if you are sure that the node is off.',
    assumed: null,
  }),
  MemberTerminating: rule<{ readonly member: number }>({
    holds: (asked) => {
      const [first] = terminatingMembers(asked.situation);
      return first && isTerminationAwaited(asked) ? { member: first.ordinal } : null;
    },
    sentence: ({ member }, name) => `${name(member)} is terminating`,
    meaning: 'A member is terminating.',
    details: 'The pod may take as long as its grace period, which MOCO sets to 300 seconds.',
    endedBy: ['Kubernetes'],
    ends: 'By itself, when the pod is gone and the new one exists.',
    routine: true,
    brief: true,
    assumed: after('member', (snapshot) =>
      replaced(
        snapshot,
        snapshot.members.filter(({ terminatingForSeconds }) => terminatingForSeconds !== null),
      ),
    ),
  }),
};

/**
 * When replicas are no longer ready because the primary is gone, MOCO needs their running mysqld for the failover. If
 * no failover happens in time, the primary itself is restarted. That is allowed if enough other members participate for
 * a failover, or if none does. The primary loses nothing by a restart, because it has no relay log. Running replicas
 * have a separate rule.
 */
function mayGoWithoutPrimary({ participating, majority }: Situation, member: Member): boolean {
  if (member.participates) return false;
  return !member.primary || participating >= majority || participating === 0;
}

/**
 * Without a primary, replicas stop being ready before Kubernetes notices that the primary's node is gone. They did so
 * 27 s after the node had lost power, while the primary's pod stayed ready for another 17 s (seen with Kubernetes 1.36
 * and MOCO 0.36). The node controller waits for 50 s (kube-controller-manager, --node-monitor-grace-period) and checks
 * every 5 s.
 */
const lostPrimarySeconds = 60;

/**
 * Whether the replica has followed the primary and has just stopped being ready. MOCO may need this replica for a
 * failover, even if the primary's pod still looks ready.
 */
function mayHaveLostPrimary({ deadlines }: Situation, member: Member): boolean {
  const { state, facts, primary, crashLoop } = member;
  const mysqld = mysqldOf(facts);
  if (primary || state !== 'running' || mysqld === undefined || mysqld.ready || crashLoop !== null) return false;
  const hasFollowed = mysqld.started && (facts.role !== null || mysqld.readySinceRestart);
  return hasFollowed && !deadlines.reached(mysqld.notReadyForSeconds, lostPrimarySeconds);
}

interface UnfinishedFailover {
  readonly primary: number;
  readonly member: number;
  readonly graceSeconds: number;
  /** The state that MOCO reports, if it contradicts a primary's pod that seems to participate. Otherwise `null`. */
  readonly state: 'Failed' | 'Lost' | null;
  /** What MySQL itself reports about the replica. `null` if MySQL was not asked recently. */
  readonly said: ReplicaSaid | null;
}

function saidOf({ snapshot: { mysql }, deadlines }: Situation, { facts }: Member): ReplicaSaid | null {
  if (mysql === null || mysql.ageSeconds === null || deadlines.reached(mysql.ageSeconds, lastingSeconds)) return null;
  const said = mysql.members.find(({ uid }) => uid === facts.uid)?.said;
  return said?.kind === 'replica' ? said : null;
}

function explainApplier(said: ReplicaSaid | null): string {
  if (said === null) return 'may have received transactions that no member has applied yet';
  const { unapplied, applier } = said;
  if (unapplied === 0) return 'has applied everything that it has received, which a failover may still need';
  const error = applier.error === 0 ? '' : ` with MySQL error ${applier.error}`;
  return `has not applied ${unapplied} of the transactions that it has received (its applier ${applier.runs ? 'is running' : 'has stopped'}${error})`;
}
