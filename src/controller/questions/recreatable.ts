import { conditionOf, type Json, milliseconds, object, objects, text } from '../../base/json.ts';
import type { World } from '../../base/world.ts';
import {
  type EndingClaim,
  freshRecreatableSeconds,
  mostClaims,
  notAsked,
  type TiedToNode,
  type UnjudgedPlacement,
} from '../../core/on-demand-facts.ts';
import type { MemberFacts } from '../../core/snapshot.ts';
import { ApiError, isAlreadyExists, isForbidden, refusesCreation } from '../../kube/api-error.ts';
import { persistentVolumeClaims, persistentVolumes, pods as podKind, statefulSets } from '../../kube/resource.ts';
import { conditionTaintPrefix, matches, refusalsOf, tieOfVolume, tiesOf } from '../../moco/nodes.ts';
import { type Barrier, barriersOf, keepsApart, type PlacedPod } from '../../moco/placement.ts';
import { mostConstraints, unjudgedPlacement } from '../../moco/placement-limits.ts';
import type { ClusterObjects, PodRecord } from '../../moco/records.ts';
import { claimsOf, fitsWithout, isTerminating, successorOf } from '../../moco/successor.ts';
import type { ClusterReader } from '../../objects/cluster-reader.ts';
import type { KnownNodes } from '../facts/known-nodes.ts';
import type { Row } from './asking.ts';
import { type NodeContext, type NodeRead, type RecentNodes, readNode } from './recent-nodes.ts';

// The question `recreatable`: whether a member's data outlives its pod, and whether a new pod can replace the pod.

/** What was last read about whether a member can be recreated. Times are on the monotonic clock. */
export interface KnownRecreatable {
  /**
   * The claims that the pod mounts, at most `mostClaims` + 1. If the pod mounts more than `mostClaims`, none of them is
   * read.
   */
  readonly claimNames: readonly string[];
  /** The uids of the claims when they were first read, by name. A pod never changes its claims. */
  readonly claimUids: Readonly<Record<string, string>>;
  /** The latest possible time of the pod's start, derived from the pod's fields, in milliseconds since 1970. */
  readonly startedAt: number | null;
  /** The first 64 tolerations of the pod, including those that admission has added. */
  readonly tolerations: readonly Json[];
  /** How many tolerations the pod has. */
  readonly tolerationCount: number;
  /** The claims that would lose their data when the pod ends, and why. */
  readonly claims: readonly EndingClaim[];
  readonly tied: TiedToNode | null;
  readonly unjudged: UnjudgedPlacement | null;
  readonly refusal: string | null;
  /** The update revision for which this was read. */
  readonly revision: string;
  readonly atMilliseconds: number;
}

/** The readings by the uid of the pod. An entry ends with its pod. */
export interface RecreatableReadings {
  readonly members: ReadonlyMap<string, KnownRecreatable>;
}

interface ReadingContext extends NodeContext {
  readonly world: World;
}

export interface RecreatableContext extends ReadingContext {
  readonly nodes: RecentNodes;
  readonly knownNodes: Pick<KnownNodes, 'watched'>;
  readonly mayLackCreate?: boolean;
  /** Whether to make dry runs of the next pods; default: true. */
  readonly triesPods?: boolean;
}

export const recreatable: Row<'recreatable', RecreatableReadings, object, Pick<MemberFacts, 'recreatable'>> = {
  asks: 'the API server: the pods, claims, volumes and nodes of the members, and whether it would admit their next pods (dry runs); without `NodeMaintenance` also the nodes of other stale members',
  lasts: `${freshRecreatableSeconds} s`,
  silence: 'no step in this pass',
  initial: { members: new Map() },
  ask: async ({ members }, { observed, api, world, sources }, before) => {
    const asked = observed.objects.pods.filter(({ ordinal }) => members.includes(ordinal));
    const { nodes, knownNodes, mayLackNodes, triesPods } = sources;
    const context = { api, world, nodes, knownNodes, mayLackNodes, triesPods };
    return asked.length === 0 ? null : readRecreatable(asked, observed.objects, before, context);
  },
  facts: () => ({}),
  memberFacts: (known, { objects: { statefulSet }, nowMilliseconds }) => {
    const revision = statefulSet?.updateRevision ?? '';
    return ({ uid }) => {
      const member = known.members.get(uid);
      if (member?.revision !== revision) return { recreatable: notAsked };
      const { claims, tied, unjudged, refusal, atMilliseconds } = member;
      const ageSeconds = (nowMilliseconds - atMilliseconds) / 1000;
      return { recreatable: { kind: 'asked', ageSeconds, claims, tied, unjudged, refusal } };
    };
  },
  confirm: {
    order: 'withObjects',
    // Reads what may have changed: claims with their volumes, and the node. Calls no webhook again.
    plan: ({ members }, { observed: { objects: cluster }, world, sources }, before) => {
      const { mayLackNodes } = sources;
      const pods = cluster.pods.filter(({ ordinal, uid }) => members.includes(ordinal) && before.members.has(uid));
      return {
        requests: pods.reduce((sum, { uid }) => sum + 2 * (before.members.get(uid)?.claimNames.length ?? 0) + 1, 0),
        ask: async (api) => {
          const context = { api, world, mayLackNodes };
          const readings = await readAll(pods, cluster, before, context, {
            nodeOf: (pod) => readNode(context, pod),
            refusalOf: async (_, known) => known?.refusal ?? null,
          });
          return withReadings(before, cluster, readings);
        },
      };
    },
  },
  status: { whileOutstanding: 'the previous hold' },
};

/**
 * Reads everything about these pods. Unless nodes are watched, it also reads the nodes of all other stale pods, because
 * members on a node that is being drained may have to go first.
 */
export async function readRecreatable(
  pods: readonly PodRecord[],
  cluster: ClusterObjects,
  known: RecreatableReadings,
  context: RecreatableContext,
): Promise<RecreatableReadings> {
  const revision = cluster.statefulSet?.updateRevision;
  const others = context.knownNodes.watched
    ? []
    : cluster.pods.filter((pod) => !pods.includes(pod) && pod.revision !== revision);
  const { statefulSet } = cluster;
  // The StatefulSet's template is read once, because all new pods are made from it. While MOCO re-creates the
  // StatefulSet, there is no template to read.
  const whole =
    statefulSet === null || pods.length === 0
      ? null
      : await context.api.read(statefulSets, { namespace: statefulSet.namespace, name: statefulSet.name });
  const [readings] = await Promise.all([
    readAll(pods, cluster, known, context, {
      nodeOf: (pod) => context.nodes.read(context, pod),
      refusalOf: async (pod) => (whole === null ? null : readRefusal(pod, whole, revision ?? '', context)),
      template: whole && object(object(whole['spec'])['template']),
    }),
    Promise.all(others.map((pod) => context.nodes.read(context, pod))),
  ]);
  return withReadings(known, cluster, readings);
}

/** The reads that differ between a pass and a confirmation. A confirmation uses no cache and calls no webhook. */
interface Asks {
  readonly nodeOf: (pod: PodRecord) => Promise<NodeRead>;
  readonly refusalOf: (pod: PodRecord, known: KnownRecreatable | undefined) => Promise<string | null>;
  /** The template of the StatefulSet, if it was read. */
  readonly template?: Json | null;
}

type Reading = readonly [uid: string, member: KnownRecreatable];

/** Reads the pods. The fields of a pod that never change are read only once. */
async function readAll(
  pods: readonly PodRecord[],
  { statefulSet, pods: all }: ClusterObjects,
  { members: before }: RecreatableReadings,
  context: ReadingContext,
  { nodeOf, refusalOf, template = null }: Asks,
): Promise<readonly Reading[]> {
  const { api, world } = context;
  const revision = statefulSet?.updateRevision ?? '';
  const read = async (pod: PodRecord): Promise<readonly Reading[]> => {
    const { namespace, uid } = pod;
    const atMilliseconds = world.monotonic();
    const known = before.get(uid);
    const fixed = known ?? (await fixedOf(pod, api));
    if (fixed === null) return [];
    const { claimNames, startedAt } = fixed;
    const [first = ''] = claimNames;
    if (claimNames.length > mostClaims) {
      const unread: readonly EndingClaim[] = [{ name: first, state: 'unread' }];
      return [[uid, { ...fixed, revision, claims: unread, tied: null, unjudged: null, refusal: null, atMilliseconds }]];
    }
    const [claims, node, refusal] = await Promise.all([
      Promise.all(claimNames.map((name) => readClaim(name, namespace, context))),
      nodeOf(pod),
      refusalOf(pod, known),
    ]);
    const volumes = claims.flatMap(({ volume }) => (volume === null || volume === 'unreadable' ? [] : [volume]));
    const others = all.filter((other) => other.uid !== uid).map(placed);
    const placement = await readPlacement(pod, { template, revision, others }, fixed, volumes, node, api);
    const ending = claims.flatMap((claim) => endingClaim(claim, fixed.claimUids, startedAt));
    const claimUids = { ...uidsOf(claims), ...fixed.claimUids };
    const reading = { ...fixed, claimUids, revision, claims: ending, ...placement, refusal, atMilliseconds };
    return [[uid, reading]];
  };
  return (await Promise.all(pods.map(read))).flat();
}

type Fixed = Pick<KnownRecreatable, 'claimNames' | 'claimUids' | 'tolerations' | 'tolerationCount' | 'startedAt'>;

/**
 * Reads what does not change about a pod: its volumes, and its tolerations, which can only be added to. Resolves to
 * `null` if the pod is gone.
 */
async function fixedOf({ namespace, name, uid }: PodRecord, api: ClusterReader): Promise<Fixed | null> {
  const pod = await api.read(podKind, { namespace, name });
  if (pod === null || object(pod['metadata'])['uid'] !== uid) return null;
  const tolerations = objects(object(pod['spec'])['tolerations']);
  return {
    claimNames: claimsOf(pod).slice(0, mostClaims + 1),
    claimUids: {},
    tolerations: tolerations.slice(0, mostConstraints),
    tolerationCount: tolerations.length,
    startedAt: startOf(pod),
  };
}

/**
 * The latest possible time of the pod's start. A younger claim was created after the pod had started, so the pod uses
 * another volume. The kubelet and the scheduler each report a time by their own clock. The earliest of these counts,
 * but not if it is before the pod's creation: then the creation counts, because a node's clock may be behind, and the
 * StatefulSet controller creates the claims before the pod. No pod is scheduled before its claims are bound. A running
 * pod without any such time counts as started right after its creation.
 */
function startOf(pod: Json): number | null {
  const status = object(pod['status']);
  const scheduled = conditionOf(status, 'PodScheduled');
  // The API server sets this time, as it does for the claims.
  const createdAt = milliseconds(text(object(pod['metadata'])['creationTimestamp']));
  const times = [status['startTime'], scheduled['status'] === 'True' ? scheduled['lastTransitionTime'] : null]
    .map((time) => milliseconds(text(time)))
    .filter((time) => time !== null);
  if (times.length > 0) return Math.max(Math.min(...times), createdAt ?? -Infinity);
  return status['phase'] === 'Running' ? createdAt : null;
}

interface ReadClaim {
  readonly name: string;
  readonly claim: Json | null;
  /**
   * `null` if the volume does not exist. `unreadable` if the controller may not read the volume and does not need to.
   */
  readonly volume: Json | null | 'unreadable';
}

async function readClaim(name: string, namespace: string, { api, mayLackNodes }: NodeContext): Promise<ReadClaim> {
  const claim = await api.read(persistentVolumeClaims, { namespace, name });
  const volumeName = text(object(claim?.['spec'])['volumeName']);
  if (volumeName === null) return { name, claim, volume: null };
  try {
    return { name, claim, volume: await api.read(persistentVolumes, { name: volumeName }) };
  } catch (error) {
    if (mayLackNodes && isForbidden(error)) return { name, claim, volume: 'unreadable' };
    throw error;
  }
}

const uidOf = (raw: Json): string => text(object(raw['metadata'])['uid']) ?? '';

const uidsOf = (claims: readonly ReadClaim[]): Readonly<Record<string, string>> =>
  Object.fromEntries(claims.flatMap(({ name, claim }) => (claim === null ? [] : [[name, uidOf(claim)]])));

/**
 * Why the claim would not keep the data once the pod is deleted. `uids` contains the uids of the claims when they were
 * first read.
 */
function endingClaim(
  { name, claim, volume }: ReadClaim,
  uids: Readonly<Record<string, string>>,
  startedAt: number | null,
): readonly EndingClaim[] {
  const ends = (state: EndingClaim['state']): readonly EndingClaim[] => [{ name, state }];
  if (claim === null) return ends('missing');
  if (isTerminating(claim)) return ends('terminating');
  const phase = object(claim['status'])['phase'];
  if (phase === 'Lost') return ends('lost');
  const createdAt = milliseconds(text(object(claim['metadata'])['creationTimestamp']));
  const isYounger = startedAt !== null && createdAt !== null && createdAt > startedAt;
  if (isYounger || uidOf(claim) !== (uids[name] ?? uidOf(claim))) return ends('replaced');
  if (phase !== 'Bound') return ends('unbound');
  if (volume === 'unreadable') return [];
  const owner = object(object(volume?.['spec'])['claimRef'])['uid'];
  if (volume === null || (owner !== undefined && owner !== uidOf(claim))) return ends('volumeMissing');
  return isTerminating(volume) ? ends('volumeTerminating') : [];
}

/** What a member's successor is created from, and where the other members run. */
interface Successor {
  /** The template of the StatefulSet, if it was read. */
  readonly template: Json | null;
  readonly revision: string;
  readonly others: readonly PlacedPod[];
}

type Placement = Pick<KnownRecreatable, 'tied' | 'unjudged'>;

const placeable: Placement = { tied: null, unjudged: null };

/**
 * Why no node can run the successor of the member, or why that is unknown. Both are `null` if a node can run it. Nodes
 * other than the member's own are read only if that node accepts no pods, or if the template keeps members on different
 * nodes. Rejects with `ApiError`.
 */
async function readPlacement(
  pod: PodRecord,
  { template: known, revision, others }: Successor,
  { tolerations, tolerationCount }: Fixed,
  volumes: readonly Json[],
  node: NodeRead,
  api: ClusterReader,
): Promise<Placement> {
  if (pod.node === null || node === 'unreadable') return placeable;
  const acceptsPods = refusalsOf(node, tolerations).length === 0;
  if (acceptsPods && (known === null || !keepsApart(known))) return placeable;
  const template = known ?? (await api.readTemplate(pod.namespace, revision)) ?? {};
  const tolerated = [...objects(object(template['spec'])['tolerations']), ...tolerations.filter(isOfKubernetes)];
  const refusals = refusalsOf(node, tolerated);
  if (refusals.length === 0 && !keepsApart(template)) return placeable;
  const unjudged = unjudgedPlacement(template, { tolerations: tolerationCount, volumes: volumes.length });
  if (unjudged !== null) return { tied: null, unjudged };
  const nodes = await api.listNodes();
  const ties = [...volumes.map(tieOfVolume).filter((tie) => tie !== null), ...tiesOf(template)];
  const barriers: readonly Barrier[] = [
    ...ties.map((tie): Barrier => ({ what: tie.what, allows: (other) => matches(tie, other) })),
    ...barriersOf(template, revision, pod.namespace, others, nodes),
  ];
  const ruledOut = node === null ? [] : barriers.filter(({ allows }) => !allows(node));
  if (refusals.length + ruledOut.length === 0) return placeable;
  const candidates = nodes.filter(
    (other) => object(other['metadata'])['name'] !== pod.node && refusalsOf(other, tolerated).length === 0,
  );
  if (candidates.some((other) => barriers.every(({ allows }) => allows(other)))) return placeable;
  const tied = {
    nodeName: pod.node,
    refusals: refusals.length > 0 ? refusals : ruledOut.map(({ what }) => `is ruled out by ${what}`),
    ties: barriers.filter(({ allows }) => candidates.some((other) => !allows(other))).map(({ what }) => what),
  };
  return { tied, unjudged: null };
}

const placed = ({ name, node, labels, deletionTimestamp }: PodRecord): PlacedPod => ({
  name,
  node,
  labels,
  terminating: deletionTimestamp !== null,
});

/** Whether it is a toleration that admission adds to every pod, for example for nodes that are not ready. */
const isOfKubernetes = ({ key }: Json): boolean => (text(key) ?? '').startsWith(conditionTaintPrefix);

/** Adds the readings, and forgets pods that are gone. */
function withReadings(
  known: RecreatableReadings,
  { pods }: ClusterObjects,
  readings: readonly Reading[],
): RecreatableReadings {
  const present = new Set(pods.map(({ uid }) => uid));
  const isPresent = ([uid]: readonly [string, unknown]): boolean => present.has(uid);
  return { members: new Map([...known.members, ...readings].filter(isPresent)) };
}

/**
 * Why the API server would not admit the successor of a member, from a dry run; `null` if it would. A pod with the
 * successor's name already exists, but the API server checks that last (Kubernetes 1.36;
 * test/cluster/pod-dry-run.test.ts). So `AlreadyExists` means that the pod is admitted. Rejects with `ApiError` if the
 * response shows neither.
 */
async function readRefusal(
  pod: PodRecord,
  statefulSet: Json,
  updateRevision: string,
  { api, mayLackCreate = false, triesPods = true }: RecreatableContext,
): Promise<string | null> {
  if (!triesPods) return null;
  const { namespace } = pod;
  try {
    await api.tryToCreatePod(successorOf(statefulSet, updateRevision, pod.ordinal, pod.name), namespace);
    return null;
  } catch (error) {
    if (isAlreadyExists(error)) return null;
    if (!(error instanceof ApiError) || !refusesCreation(error)) throw error;
    if (lacksRight(error)) {
      if (mayLackCreate) return null;
      throw error;
    }
    const { message } = error;
    if (!message.includes('exceeded quota: ')) return message;
    const existing = await api.read(podKind, { namespace, name: pod.name });
    return existing !== null && fitsWithout(message, existing) ? null : message;
  }
}

/** Whether the API server refused because the controller lacks the right to create pods. */
const lacksRight = ({ message }: ApiError): boolean => message.includes('cannot create resource "pods"');
