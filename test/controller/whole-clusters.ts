import { type RolloutSpec, rolloutKind } from '../../src/api/rollout.ts';
import type { RolloutStatus } from '../../src/api/rollout-status.ts';
import { podDisruptionBudgets, pods, statefulSets } from '../../src/kube/resource.ts';
import { clusterKind } from '../../src/moco/names.ts';
import { budget, containersOf, mysqlCluster, pod, revisionAfter, revisionBefore, statefulSet } from './moco-objects.ts';
import type { ObjectServer } from './object-server.ts';

/** A healthy cluster with everything that belongs to it, every member of which may be stale. */
export interface WholeCluster {
  readonly name: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly replicas?: number;
  readonly stale?: boolean;
  /** The last member crashes at the update revision. */
  readonly crashing?: boolean;
  /** It has a MySQLRollout. */
  readonly rollout?: boolean;
  readonly spec?: RolloutSpec;
  readonly status?: RolloutStatus;
}

interface Named {
  readonly metadata: { readonly name: string };
}

/** Creates its objects. */
export function addWholeCluster(
  server: ObjectServer,
  { name, labels = {}, replicas = 3, stale = true, crashing = false, rollout = true, spec, status }: WholeCluster,
): void {
  const revision = stale ? revisionBefore : revisionAfter;
  const cluster = renamed(mysqlCluster({ replicas }), name) as Named;
  const metadata = { ...cluster.metadata, name, namespace: 'default', labels };
  const { uid } = server.create(clusterKind, { ...cluster, metadata }).metadata;
  const ownerReferences = [{ kind: clusterKind.kind, name, uid, controller: true }];
  if (rollout) server.create(rolloutKind, { metadata: { name, namespace: 'default', ownerReferences }, spec, status });
  server.create(statefulSets, renamed(statefulSet({ replicas, current: revision }), name));
  if (replicas > 1) server.create(podDisruptionBudgets, renamed(budget(), name));
  for (let ordinal = 0; ordinal < replicas; ordinal += 1) {
    const member = pod(ordinal, { revision, role: ordinal === 0 ? 'primary' : 'replica' });
    server.create(pods, renamed(member, name));
  }
  if (crashing) crashLast(server, name, replicas);
}

function crashLast(server: ObjectServer, name: string, replicas: number): void {
  const last = pod(replicas - 1, { revision: revisionAfter }) as Named & { readonly status: object };
  const crashes = { ...last, status: { ...last.status, ...containersOf('CrashLoopBackOff', '2026-07-01T11:50:00Z') } };
  const object = renamed(crashes, name) as Named;
  server.remove(pods, object.metadata.name);
  server.create(pods, object);
}

/** The recorded objects are those of a cluster `test`. */
export function renamed(object: object, name: string): object {
  const text = JSON.stringify(object).replaceAll('moco-test', `moco-${name}`).replaceAll('"test"', `"${name}"`);
  return JSON.parse(text) as object;
}

/** What the status has of a rollout that took so long for each of three members. */
export const measured = (seconds: number): RolloutStatus => ({
  history: [
    {
      revision: 'earlier',
      startedAt: '2026-06-01T00:00:00Z',
      finishedAt: '2026-06-01T00:10:00Z',
      outcome: 'Complete',
      disruptions: 3,
      switchovers: 1,
      memberDurations: [0, 1, 2].map((ordinal) => ({ ordinal, seconds })),
    },
  ],
});
