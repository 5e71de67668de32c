import { statefulSetName } from '../../../src/moco/projections.ts';
import { endOfAudit, readAudit } from '../../../test/support/control-plane/audit-lines.ts';
import type { AuditEvent } from '../../../test/support/control-plane/audit-log.ts';
import { type Clusters, type FleetCluster, watchedNamespace } from './clusters.ts';
import type { Installation } from './installation.ts';
import { type Reaction, reactions } from './reaction.ts';
import { every, keyOf } from './wait.ts';

/** How soon each step followed the write that opened its last gate, with so many clusters watched. */
export interface ReactionTimes {
  readonly clusters: number;
  readonly rollouts: number;
  /** Evictions and deletions, in milliseconds, ascending. */
  readonly disruptions: readonly number[];
  /** Demotions, in milliseconds, ascending. */
  readonly demotions: readonly number[];
  /** By the gate that was the last to open. */
  readonly byGate: Readonly<Record<string, readonly number[]>>;
}

/** Rolls out one cluster after the other while the controller watches all of them. */
export async function measureReaction(
  { installation, clusters }: { readonly installation: Installation; readonly clusters: Clusters },
  rollouts: number,
  progress: (what: string) => void,
): Promise<ReactionTimes> {
  const { watched } = clusters;
  const from = await endOfAudit(installation.auditFile);
  const rolled: { readonly cluster: FleetCluster; readonly since: number; readonly until: number }[] = [];
  // Each cluster once before it counts: of a rollout's first step the gates are known from what was written before it.
  progress(`${watched.length + rollouts} rollouts one after another`);
  for (let index = 0; index < watched.length + rollouts; index += 1) {
    const cluster = watched[index % watched.length] as FleetCluster;
    const revision = clusters.updateRevision(cluster);
    const since = Date.now();
    await clusters.change([cluster], () => undefined);
    const isOver = (one: FleetCluster): boolean =>
      clusters.updateRevision(one) !== revision && clusters.isComplete(one);
    await every(clusters, [cluster], isOver, { what: `${keyOf(cluster)} to be complete` });
    if (index < watched.length) continue;
    rolled.push({ cluster, since, until: Date.now() });
    if (rolled.length % 10 === 0) progress(`${rolled.length} of ${rollouts} rollouts one after another`);
  }
  const events: AuditEvent[] = [];
  const to = await endOfAudit(installation.auditFile);
  await readAudit(installation.auditFile, { from, to }, (event) => {
    if (event.objectRef?.namespace === watchedNamespace) events.push(event);
  });
  const steps = rolled.flatMap(({ cluster, since, until }) => {
    const own = events.filter(({ objectRef }) => isOf(cluster, objectRef?.name ?? ''));
    return reactions(own, since).filter(({ receivedMilliseconds }) => receivedMilliseconds <= until);
  });
  const timed = steps.filter(({ sinceOpeningMilliseconds }) => sinceOpeningMilliseconds !== null);
  const times = (some: readonly Reaction[]): readonly number[] =>
    some.map(({ sinceOpeningMilliseconds }) => sinceOpeningMilliseconds ?? 0).toSorted((a, b) => a - b);
  const gates = [...new Set(timed.map(({ opening }) => opening?.gate ?? ''))];
  return {
    clusters: clusters.count,
    rollouts,
    disruptions: times(timed.filter(({ verb }) => verb !== 'demote')),
    demotions: times(timed.filter(({ verb }) => verb === 'demote')),
    byGate: Object.fromEntries(
      gates.map((gate) => [gate, times(timed.filter(({ opening }) => opening?.gate === gate))]),
    ),
  };
}

/** The MySQLCluster, an object that MOCO creates for it, or one of its members. */
function isOf({ name }: FleetCluster, objectName: string): boolean {
  const statefulSet = statefulSetName(name);
  return objectName === name || objectName === statefulSet || objectName.startsWith(`${statefulSet}-`);
}
