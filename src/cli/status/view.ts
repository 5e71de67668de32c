import { isHandedBack } from '../../controller/handed-back.ts';
import type { HistoryEntry, MySQLRollout } from '../../controller/rollout-resource.ts';
import { statefulSetName } from '../../moco/projections.ts';
import type { ClusterRecord } from '../../moco/records.ts';
import { milliseconds } from '../../moco/timestamp.ts';
import { secondsSince } from '../durations.ts';
import { restsStale, volumeWarning } from '../volume-warning.ts';
import { verdictSentence } from './verdict.ts';

export interface MemberView {
  readonly ordinal: number;
  readonly name: string;
  readonly role: string;
  /** Without the StatefulSet's name in front. */
  readonly revision: string | null;
  readonly updated: boolean;
  readonly state: string;
  readonly verdict: string;
  readonly rule: string | null;
  /** In words. */
  readonly says: string;
  /** How long it was away for this rollout. */
  readonly seconds: number | null;
}

/** One cluster as the controller has written it down; what `-o json` shows. */
export interface StatusView {
  readonly namespace: string;
  readonly name: string;
  readonly phase: string;
  readonly strategy: string | null;
  readonly updateRevision: string | null;
  readonly updated: number;
  readonly replicas: number;
  readonly primary: string | null;
  readonly hold: {
    readonly rule: string;
    readonly message: string;
    readonly since: string;
    readonly forSeconds: number | null;
  } | null;
  readonly members: readonly MemberView[];
  readonly complete: boolean;
  readonly stalled: boolean;
  readonly rollout: {
    readonly startedAt: string;
    readonly forSeconds: number | null;
    readonly disruptions: number;
    readonly switchovers: number;
  } | null;
  readonly last: HistoryEntry | null;
  /** What a person must not do now. */
  readonly warnings: readonly string[];
  /** What the picture lacks, or why it may not be the present one. */
  readonly notes: readonly string[];
}

/** What the status of the MySQLRollout says at a moment of the wall clock, in milliseconds. */
export function viewOf(cluster: ClusterRecord, rollout: MySQLRollout | null, nowMilliseconds: number): StatusView {
  const { namespace, name, replicas } = cluster;
  const status = rollout?.status ?? {};
  const stem = statefulSetName(name);
  const since = (timestamp: string | undefined): number | null =>
    secondsSince(milliseconds(timestamp ?? null), nowMilliseconds);
  const { hold, rollout: progress } = status;
  const members = Object.entries(status.members ?? {})
    .toSorted(([one], [other]) => Number(one) - Number(other))
    .map(([ordinal, member]): MemberView => {
      const seconds = progress?.memberSeconds?.[ordinal] ?? null;
      return {
        ordinal: Number(ordinal),
        name: `${stem}-${ordinal}`,
        role: member.role,
        revision: member.revision === undefined ? null : hashOf(member.revision, stem),
        updated: member.updated,
        state: member.state,
        verdict: member.verdict,
        rule: member.rule ?? null,
        says: verdictSentence(Number(ordinal), member, rollout?.spec, seconds),
        seconds,
      };
    });
  const holds = (type: string): boolean =>
    status.conditions?.some((condition) => condition.type === type && condition.status === 'True') === true;
  return {
    namespace,
    name,
    phase: status.phase ?? 'Unknown',
    strategy: status.strategy ?? null,
    updateRevision: status.updateRevision === undefined ? null : hashOf(status.updateRevision, stem),
    updated: status.updatedReplicas ?? 0,
    replicas: status.replicas ?? replicas,
    primary: status.primary === undefined ? null : `${stem}-${status.primary}`,
    hold: hold ? { ...hold, forSeconds: since(hold.since) } : null,
    members,
    complete: holds('Complete'),
    stalled: holds('Stalled'),
    rollout: progress
      ? {
          startedAt: progress.startedAt,
          forSeconds: since(progress.startedAt),
          disruptions: progress.disruptions,
          switchovers: progress.switchovers,
        }
      : null,
    last: status.history?.at(-1) ?? status.lastCompleted ?? null,
    warnings: restsStale(hold?.rule, status.updatedReplicas ?? 0, status.replicas ?? replicas) ? [volumeWarning] : [],
    notes: notesOf(cluster, rollout),
  };
}

/** `5897fd84f8` of `moco-test-5897fd84f8`. */
export function hashOf(revision: string, stem: string): string {
  return revision.startsWith(`${stem}-`) ? revision.slice(stem.length + 1) : revision;
}

function notesOf({ generation }: ClusterRecord, rollout: MySQLRollout | null): readonly string[] {
  if (rollout?.status?.phase === undefined) {
    return [
      'no controller has looked at this cluster yet: is moco-rollout running, and may it work in this namespace?',
    ];
  }
  const { status, metadata } = rollout;
  const { conditions, observedClusterGeneration, observedGeneration } = status;
  const notes: string[] = [];
  if ((observedClusterGeneration ?? 0) < generation) {
    notes.push(
      `the controller has not looked at generation ${generation} of the MySQLCluster yet (at ${observedClusterGeneration ?? 'none'})`,
    );
  }
  if ((observedGeneration ?? 0) < (metadata.generation ?? 0)) {
    notes.push('the controller has not looked at the newest spec of the MySQLRollout yet');
  }
  const inForce = conditions?.find(({ type }) => type === 'PolicyInForce');
  if (inForce?.status === 'False' && inForce.reason !== status.hold?.rule) notes.push(inForce.message);
  if (isHandedBack(rollout) && status.hold?.rule !== 'HandedBack') notes.push('handed back');
  return notes;
}
