import { readFileSync } from 'node:fs';
import { podDisruptionBudgets, pods, type ResourceKind, statefulSets } from '../../src/kube/resource.ts';
import { clusterKind } from '../../src/moco/names.ts';
import type { Condition } from '../support/moco/objects.ts';
import { isRecord, same } from '../support/moco/same.ts';
import type { History } from './rollout-history.ts';

/**
 * How histories are compared: cut at the actions; between two actions every object has its sequence of *tracks* (the
 * fields that somebody decided on, without repeats) and its *end*, the state in which the next action finds it.
 */
export interface Segment {
  readonly action: string;
  /** By `<kind>/<name>`; an object that didn't change in this segment isn't there. */
  readonly tracks: ReadonlyMap<string, readonly Track[]>;
  /** Of every object seen so far; `null` for one that is gone. */
  readonly ends: ReadonlyMap<string, object | null>;
}

/** `null` is a deletion. */
export type Track = Readonly<Record<string, unknown>> | null;

/** An object as one event of a watch showed it, in the words of the recordings. */
export interface Shown {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly kind: string;
  readonly meta: {
    readonly name: string;
    readonly generation?: number;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly labels?: Readonly<Record<string, string>>;
    readonly deletionTimestamp?: string;
    readonly owner?: readonly string[];
    readonly managers?: readonly string[];
  };
  readonly [field: string]: unknown;
}

interface Action {
  readonly action: string;
}

/** What recordings show. */
export const recordedKinds: readonly ResourceKind[] = [clusterKind, statefulSets, podDisruptionBudgets, pods];
const lastApplied = 'kubectl.kubernetes.io/last-applied-configuration';

/** Recordings of one cluster, one after the other, as one history. The first is that of its creation. */
export function recordedHistory(names: readonly string[]): readonly Segment[] {
  return segmentsOf(withoutRace(names.flatMap(recordedEvents)));
}

/** What came after each of these actions, which were begun when the store had that revision. */
export function playedHistory(
  versions: ReturnType<History['record']>,
  actions: readonly (Action & { readonly after: number })[],
): readonly Segment[] {
  const events = versions.map(({ revision, kind, object, identity }) => ({
    after: revision,
    event: shownOf(
      object === null ? 'DELETED' : 'MODIFIED',
      kind.kind,
      identity as unknown as Readonly<Record<string, unknown>>,
    ),
  }));
  const begun = actions.map(({ action, after }) => ({ after, event: { action } }));
  // An action comes after the version that there was when it was begun.
  const all = [...events, ...begun].toSorted((one, other) => one.after - other.after);
  return segmentsOf(all.map(({ event }) => event));
}

function recordedEvents(name: string): readonly (Shown | Action)[] {
  const file = new URL(`../fixtures/moco-recorded/${name}.json`, import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { events: readonly (Shown | Action)[] }).events;
}

/**
 * When the cluster was created, the real one happened to apply the StatefulSet once more from a cache that didn't have
 * it yet, and the partition, on its way down already, began anew. What came before that second apply is left out, and
 * the generations that it cost are taken off for as long as that StatefulSet lives.
 */
function withoutRace(events: readonly (Shown | Action)[]): readonly (Shown | Action)[] {
  const isSet = (event: Shown | Action): event is Shown => !isAction(event) && event.kind === 'StatefulSet';
  const generation = (event: Shown): number => event.meta.generation ?? 0;
  const secondAction = events.findIndex((event, index) => index > 0 && isAction(event));
  const created = events.slice(0, secondAction).filter(isSet);
  const reset = created.findLast((event) => same(event['updateStrategy'], fullPartition));
  const lost = created.filter((event) => reset !== undefined && generation(event) < generation(reset));
  const cost = reset === undefined ? 0 : generation(reset) - 1;
  const end = events.findIndex((event) => isSet(event) && event.type === 'DELETED');
  return events
    .map((event, index) => (isSet(event) && index <= end && !lost.includes(event) ? younger(event, cost) : event))
    .filter((event) => !isSet(event) || !lost.includes(event));
}

const fullPartition = { type: 'RollingUpdate', rollingUpdate: { partition: 3 } };

function younger(event: Shown, generations: number): Shown {
  const status = isRecord(event['status']) ? event['status'] : {};
  const { observedGeneration } = status;
  return {
    ...event,
    meta: { ...event.meta, generation: (event.meta.generation ?? 0) - generations },
    status:
      typeof observedGeneration === 'number'
        ? { ...status, observedGeneration: observedGeneration - generations }
        : status,
  };
}

function isAction(event: Shown | Action): event is Action {
  return 'action' in event;
}

/** Objects keep the state that they have at an action; what happens from then on belongs to it. */
function segmentsOf(events: readonly (Shown | Action)[]): readonly Segment[] {
  const segments: { action: string; tracks: Map<string, Track[]>; ends: Map<string, object | null> }[] = [];
  const last = new Map<string, Track>();
  for (const event of events) {
    if (isAction(event)) {
      segments.push({ action: event.action, tracks: new Map(), ends: new Map(segments.at(-1)?.ends) });
      continue;
    }
    const segment = segments.at(-1);
    const name = `${event.kind}/${event.meta.name}`;
    const track = event.type === 'DELETED' ? null : trackOf(event);
    const before = last.get(name);
    last.set(name, track);
    segment?.ends.set(name, event.type === 'DELETED' ? null : endOf(event));
    if (!same(before, track)) segment?.tracks.set(name, [...(segment.tracks.get(name) ?? []), track]);
  }
  return segments;
}

function trackOf(shown: Shown): Track {
  const { meta } = shown;
  switch (shown.kind) {
    case 'MySQLCluster':
      return { ...annotationsOf(shown), generation: meta.generation, reconciled: reconciledOf(shown) };
    case 'StatefulSet':
      return {
        ...annotationsOf(shown),
        generation: meta.generation,
        labels: meta.labels,
        owner: meta.owner,
        deleting: meta.deletionTimestamp !== undefined,
        replicas: shown['replicas'],
        updateStrategy: shown['updateStrategy'],
        image: shown['image'],
        claim: shown['claim'],
      };
    case 'PodDisruptionBudget':
      return { generation: meta.generation, labels: meta.labels, owner: meta.owner, spec: shown['spec'] };
    default:
      return podTrack(shown);
  }
}

/** Roles are MySQL's business. */
function podTrack({ meta, ...shown }: Shown): Track {
  const { 'moco.cybozu.com/role': _, ...labels } = meta.labels ?? {};
  return {
    labels,
    owner: meta.owner,
    image: shown['image'],
    ...(meta.deletionTimestamp === undefined ? { ready: isReady(shown) } : { deleting: true }),
  };
}

/** What MOCO's reconciler decided about this generation, whether StatefulSetReady followed at once or a moment later. */
function reconciledOf(shown: Shown): unknown {
  const status = isRecord(shown['status']) ? shown['status'] : {};
  const conditions = conditionsOf(shown).filter((condition) => condition.startsWith('Reconcil'));
  return { reconcileInfo: status['reconcileInfo'], conditions };
}

function endOf(shown: Shown): object {
  const status = isRecord(shown['status']) ? shown['status'] : {};
  const { meta, updateStrategy, spec } = shown;
  switch (shown.kind) {
    case 'MySQLCluster':
      return {
        ...annotationsOf(shown),
        generation: meta.generation,
        conditions: conditionsOf(shown).map(withoutReasonOfState).sort(),
        currentPrimaryIndex: status['currentPrimaryIndex'],
        syncedReplicas: status['syncedReplicas'] ?? 0,
        reconcileInfo: status['reconcileInfo'],
      };
    case 'StatefulSet':
      return { updateStrategy, status, managers: [...(meta.managers ?? [])].sort(), ...annotationsOf(shown) };
    case 'PodDisruptionBudget': {
      const { conditions, ...counts } = status;
      const reasons = Array.isArray(conditions)
        ? conditions.map((condition: { reason: string }) => condition.reason)
        : [];
      return { spec, counts, reasons };
    }
    default:
      return { ...podTrack(shown) };
  }
}

/** The reason of what the clustering says is MOCO's name for a state; the recording's MySQL has other states. */
function withoutReasonOfState(condition: string): string {
  const isClustering = /^(Initialized|Available|Healthy|ClusteringActive)=/.test(condition);
  return isClustering ? (condition.split(' ')[0] ?? condition) : condition;
}

function annotationsOf({ meta }: Shown): { annotations: Readonly<Record<string, string>> } {
  const { [lastApplied]: _, ...annotations } = meta.annotations ?? {};
  return { annotations };
}

function conditionsOf(shown: Readonly<Record<string, unknown>>): string[] {
  const status = isRecord(shown['status']) ? shown['status'] : {};
  const conditions = shown['conditions'] ?? status['conditions'];
  return Array.isArray(conditions) ? conditions.filter((condition) => typeof condition === 'string') : [];
}

function isReady(shown: Readonly<Record<string, unknown>>): boolean {
  return conditionsOf(shown).some((condition) => condition.split(' ')[0] === 'Ready=True');
}

/** An object in the words of the recordings. */
function shownOf(type: Shown['type'], kind: string, object: Readonly<Record<string, unknown>>): Shown {
  const metadata = object['metadata'] as Record<string, unknown>;
  const spec = (object['spec'] ?? {}) as Record<string, unknown>;
  const status = (object['status'] ?? {}) as Record<string, unknown>;
  const meta = { ...metadata, owner: ownersOf(metadata), managers: managersOf(metadata) } as unknown as Shown['meta'];
  const conditions = (status['conditions'] ?? []) as readonly Condition[];
  const words = conditions.map(wordOf);
  switch (kind) {
    case 'MySQLCluster':
      return { type, kind, meta, status: { ...status, conditions: words } };
    case 'StatefulSet':
      return {
        type,
        kind,
        meta,
        replicas: spec['replicas'],
        updateStrategy: spec['updateStrategy'],
        image: imageOf((spec['template'] as { spec: unknown }).spec),
        claim: claimOf(spec),
        status,
      };
    case 'PodDisruptionBudget':
      return { type, kind, meta, spec, status };
    default:
      return { type, kind, meta, image: imageOf(spec), conditions: words };
  }
}

function wordOf({ type, status, reason, observedGeneration }: Condition): string {
  const words = [
    `${type}=${status}`,
    reason,
    observedGeneration === undefined ? undefined : `gen ${observedGeneration}`,
  ];
  return words.filter((word) => word !== undefined && word !== '').join(' ');
}

function imageOf(podSpec: unknown): unknown {
  const { containers } = podSpec as { containers: readonly { name: string; image: string }[] };
  return containers.find(({ name }) => name === 'mysqld')?.image;
}

function claimOf(spec: Readonly<Record<string, unknown>>): unknown {
  const [template] = spec['volumeClaimTemplates'] as readonly {
    spec: { resources: { requests: { storage: string } } };
  }[];
  return template?.spec.resources.requests.storage;
}

function ownersOf(metadata: Readonly<Record<string, unknown>>): string[] | undefined {
  const owners = metadata['ownerReferences'] as
    | readonly { kind: string; name: string; controller?: boolean }[]
    | undefined;
  return owners?.map(({ kind, name, controller }) => `${kind}/${name}${controller === true ? ' controller' : ''}`);
}

function managersOf(metadata: Readonly<Record<string, unknown>>): string[] {
  const fields = (metadata['managedFields'] ?? []) as readonly Readonly<Record<string, string>>[];
  return fields.map(({ manager, operation, subresource }) =>
    [manager, operation, subresource].filter((word) => word !== undefined).join(' '),
  );
}
