import { isDeepStrictEqual } from 'node:util';
import { appNameLabel, appNameOfMoco, clusterNameLabel, revisionHashLabel } from '../../../src/moco/names.ts';
import type {
  WitnessedBudget,
  WitnessedCluster,
  WitnessedJob,
  WitnessedKind,
  WitnessedNode,
  WitnessedObject,
  WitnessedPod,
  WitnessedPolicy,
  WitnessedResources,
  WitnessedSettings,
  WitnessedStatefulSet,
} from './objects.ts';

/** One version of one object, in the order of the store. */
export interface Change {
  /** The resulting revision of the API server's store. */
  readonly revision: number;
  readonly atMilliseconds: number;
  readonly kind: WitnessedKind;
  /** `null`: it was deleted. */
  readonly object: WitnessedObject | null;
  /** The object, or the last version of a deleted one. */
  readonly identity: WitnessedObject;
}

/** A pod with facts that its current version alone doesn't show. */
export interface Member {
  readonly pod: WitnessedPod;
  readonly ordinal: number;
  /** By name of the container: since when it has not been ready. */
  readonly notReadySince: ReadonlyMap<string, number>;
  /** By name of the container: the restart count at which it was last seen ready; absent where it never was. */
  readonly readyAtRestart: ReadonlyMap<string, number>;
  /** Since when its containers run with other resources than its spec has; `null` if they don't. */
  readonly resizingSince: number | null;
  /** When the kubelet last gave containers other resources; `null` if never. */
  readonly resizedAt: number | null;
}

/** One cluster as the store had it from this revision on. */
export interface Moment {
  readonly revision: number;
  readonly atMilliseconds: number;
  readonly cluster: WitnessedCluster | null;
  readonly statefulSet: WitnessedStatefulSet | null;
  readonly members: readonly Member[];
  readonly settings: WitnessedSettings | null;
  readonly budget: WitnessedBudget | null;
  /** The names of the claims that are being deleted. */
  readonly endingClaims: ReadonlySet<string>;
  /** Of backups, including those that other programs created. */
  readonly jobs: readonly WitnessedJob[];
  /** The names of the policies that pause every cluster. Those of the witness's worlds select all. */
  readonly freezes: ReadonlySet<string>;
  /** The names of the nodes that are being taken out of service: those that are cordoned. */
  readonly leavingNodes: ReadonlySet<string>;
  /** Since when the member at the primary's index has not participated, or the index has named another. */
  readonly primaryUnavailableSince: number | null;
  /** By uid of the pod: since when it has participated. */
  readonly participatingSince: ReadonlyMap<string, number>;
}

export const nothing: Moment = {
  revision: 0,
  atMilliseconds: 0,
  cluster: null,
  statefulSet: null,
  members: [],
  settings: null,
  budget: null,
  endingClaims: new Set(),
  jobs: [],
  freezes: new Set(),
  leavingNodes: new Set(),
  primaryUnavailableSince: null,
  participatingSince: new Map(),
};

/** The cluster that an object belongs to, `null` for one that belongs to none, as the pod of a backup. */
export function clusterOf(kind: WitnessedKind, { metadata }: WitnessedObject): string | null {
  if (kind === 'Pod' && metadata.labels?.[appNameLabel] !== appNameOfMoco) return null;
  // Whoever has made it has copied labels of a member, and not what the StatefulSet controller sets.
  if (kind === 'Pod' && metadata.labels?.[revisionHashLabel] === undefined) return null;
  const name = kind === 'MySQLCluster' || kind === 'MySQLRollout' ? metadata.name : metadata.labels?.[clusterNameLabel];
  return name === undefined ? null : `${metadata.namespace ?? ''}/${name}`;
}

export function ordinalOf(podName: string): number {
  return Number(podName.slice(podName.lastIndexOf('-') + 1));
}

/** The moment after a change. The caller, which knows what participating is, adds what depends on roles. */
export function after(before: Moment, change: Change): Moment {
  const { revision, atMilliseconds, object } = change;
  const moment = { ...before, revision, atMilliseconds };
  switch (change.kind) {
    case 'MySQLCluster':
      return { ...moment, cluster: object as WitnessedCluster | null };
    case 'StatefulSet':
      return { ...moment, statefulSet: object as WitnessedStatefulSet | null };
    case 'MySQLRollout':
      return { ...moment, settings: object };
    case 'PodDisruptionBudget':
      return { ...moment, budget: object as WitnessedBudget | null };
    case 'PersistentVolumeClaim':
      return { ...moment, endingClaims: withClaim(before.endingClaims, change) };
    case 'Job':
      return { ...moment, jobs: withJob(before.jobs, change) };
    case 'MySQLRolloutPolicy':
      return { ...moment, freezes: withFreeze(before.freezes, change) };
    case 'Node':
      return { ...moment, leavingNodes: withNode(before.leavingNodes, change) };
    case 'Pod':
      return { ...moment, members: withPod(before.members, change) };
  }
}

function withClaim(ending: ReadonlySet<string>, { identity, object }: Change): ReadonlySet<string> {
  const others = [...ending].filter((name) => name !== identity.metadata.name);
  return new Set(object?.metadata.deletionTimestamp === undefined ? others : [...others, identity.metadata.name]);
}

function withFreeze(freezes: ReadonlySet<string>, { identity, object }: Change): ReadonlySet<string> {
  const others = [...freezes].filter((name) => name !== identity.metadata.name);
  const policy: WitnessedPolicy | null = object;
  const isFrozen = policy?.spec?.enforced?.paused === true;
  return new Set(isFrozen ? [...others, identity.metadata.name] : others);
}

function withNode(leaving: ReadonlySet<string>, { identity, object }: Change): ReadonlySet<string> {
  const others = [...leaving].filter((name) => name !== identity.metadata.name);
  const node: WitnessedNode | null = object;
  return new Set(node?.spec?.unschedulable === true ? [...others, identity.metadata.name] : others);
}

function withJob(jobs: readonly WitnessedJob[], { identity, object }: Change): readonly WitnessedJob[] {
  const others = jobs.filter(({ metadata }) => metadata.uid !== identity.metadata.uid);
  return object === null ? others : [...others, object];
}

function withPod(members: readonly Member[], { identity, object, atMilliseconds }: Change): readonly Member[] {
  const others = members.filter(({ pod }) => pod.metadata.name !== identity.metadata.name);
  if (object === null) return others;
  const pod = object as WitnessedPod;
  const known = members.find((member) => member.pod.metadata.uid === pod.metadata.uid);
  const notReadySince = new Map<string, number>();
  const readyAtRestart = new Map(known?.readyAtRestart);
  for (const { name, ready, restartCount = 0 } of containersOf(pod)) {
    if (ready === true) readyAtRestart.set(name, restartCount);
    else notReadySince.set(name, known?.notReadySince.get(name) ?? atMilliseconds);
  }
  const { resizingSince, resizedAt } = resizes(known, pod, atMilliseconds);
  const ordinal = ordinalOf(pod.metadata.name);
  const member: Member = { pod, ordinal, notReadySince, readyAtRestart, resizingSince, resizedAt };
  return [...others, member].sort((left, right) => left.ordinal - right.ordinal);
}

function resizes(
  known: Member | undefined,
  pod: WitnessedPod,
  now: number,
): Pick<Member, 'resizingSince' | 'resizedAt'> {
  const isResizing = (pod.status?.containerStatuses ?? []).some(({ name, resources }) => {
    const wanted = pod.spec.containers.find((one) => one.name === name)?.resources;
    return resources !== undefined && !isDeepStrictEqual(complete(wanted), complete(resources));
  });
  const before = known?.resizingSince ?? null;
  const isDone = before !== null && !isResizing;
  return { resizingSince: isResizing ? (before ?? now) : null, resizedAt: isDone ? now : (known?.resizedAt ?? null) };
}

const complete = ({ limits = {}, requests = {} }: WitnessedResources = {}): WitnessedResources => ({
  limits,
  requests,
});

function containersOf({ status }: WitnessedPod) {
  return [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])];
}
