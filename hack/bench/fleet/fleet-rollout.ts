import { nameOf } from '../../../src/kube/store.ts';
import { endOfAudit, readAudit } from '../../../test/support/control-plane/audit-lines.ts';
import type { AuditEvent } from '../../../test/support/control-plane/audit-log.ts';
import { percentile } from '../record/spread.ts';
import type { EventLoopDelay, MeasuredProcess } from '../runtime/measured-process.ts';
import type { Clusters, FleetCluster } from './clusters.ts';
import type { Installation, RivalName } from './installation.ts';
import { type Cores, coresBetween, processorTime } from './processor-time.ts';
import { RequestCount, type RequestsByAsker } from './requests.ts';

// Rolls a fleet out with one program and measures it.

/** One rollout of a fleet by one of the rivals. All clusters are changed at once. */
export interface FleetRollout {
  readonly rival: RivalName;
  readonly clusters: number;
  /** The time from the new template of the first cluster until the last member of the last cluster is back. */
  readonly seconds: number;
  /** For each cluster, the seconds from its new template to the end of its rollout, in ascending order. */
  readonly secondsOfClusters: readonly number[];
  /** Averages over `seconds`. */
  readonly cores: Cores;
  /** The average over `seconds`, for all programs, including requests for Events and leases. */
  readonly requestsPerSecond: number;
  /** All requests from the first change until everything was at rest. */
  readonly requests: RequestsByAsker;
  /** The rival's own requests until everything was at rest, by kind. */
  readonly kinds: Readonly<Record<string, number>>;
  /** How many times MOCO applied a StatefulSet until everything was at rest. */
  readonly applies: number;
  /** Bytes that the rival itself read from its connections until everything was at rest. */
  readonly readBytes: number;
  /** The number of budgets that stayed closed for two minutes because nothing observed the end of an evicted pod. */
  readonly budgetsStuck: number;
  readonly processorSeconds: Readonly<Record<string, number>>;
  readonly eventLoop: EventLoopDelay;
  readonly residentBytes: number;
  readonly peakBytes: number;
}

/** What the measurement needs from the rival's own process. */
export type Measured = Pick<MeasuredProcess, 'pid' | 'eventLoopDelay' | 'untilItEnds' | 'usage' | 'tail'>;

/** Used when the rival is MOCO, because MOCO's process is measured with every rival. */
export const noProcess: Measured = {
  pid: 0,
  tail: '',
  eventLoopDelay: () => Promise.resolve({ p50: 0, p99: 0, max: 0 }),
  untilItEnds: () => new Promise(() => undefined),
  usage: () => ({ cpuSeconds: 0, residentBytes: 0, peakBytes: 0, readBytes: 0 }),
};

/**
 * Rolls the fleet out and measures until everything is at rest, because the controller still writes after the last
 * member is back.
 */
export async function rollOutFleet(
  { installation, clusters }: { readonly installation: Installation; readonly clusters: Clusters },
  rival: RivalName,
  process: Measured,
  progress: (what: string) => void,
): Promise<FleetRollout> {
  const { all } = clusters;
  const pids = process === noProcess ? installation.pids : { ...installation.pids, [rival]: process.pid };
  const before = new Map(all.map((cluster) => [nameOf(cluster), clusters.updateRevision(cluster)]));
  const began = new Map<string, number>();
  const times: number[] = [];
  const isDone = (cluster: FleetCluster): boolean =>
    clusters.isRolledOut(cluster) && clusters.updateRevision(cluster) !== before.get(nameOf(cluster));
  await process.eventLoopDelay();
  const { readBytes } = process.usage();
  const auditStart = await endOfAudit(installation.auditFile);
  const start = processorTime(pids);
  const changed = clusters.change((cluster) => began.set(nameOf(cluster), performance.now()));
  const tenth = Math.ceil(all.length / 10);
  const ended = process.untilItEnds();
  ended.catch(() => undefined);
  const rolledOut = Promise.all([
    changed,
    clusters.untilEach(isDone, `every cluster to be rolled out by the ${rival}`, (cluster, missing) => {
      times.push((performance.now() - (began.get(nameOf(cluster)) ?? Number.NaN)) / 1000);
      if (missing % tenth === 0) progress(`${all.length - missing} of ${all.length} by the ${rival}`);
    }),
  ]);
  await Promise.race([rolledOut, ended]).catch((error: unknown) => {
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n${process.tail}`);
  });
  const end = processorTime(pids);
  const wallEnd = Date.now();
  const eventLoop = await process.eventLoopDelay();
  const rests = (cluster: FleetCluster): boolean =>
    rival === 'controller' ? clusters.isComplete(cluster) : clusters.isHealthy(cluster);
  await clusters.untilEach(rests, 'every cluster to be at rest');
  const rest = processorTime(pids);
  const usage = process.usage();
  const count = new RequestCount();
  let requestsInTime = 0;
  let budgetsStuck = 0;
  const to = await endOfAudit(installation.auditFile);
  await readAudit(installation.auditFile, { from: auditStart, to }, (event) => {
    count.take(event);
    if (isOfStuckBudget(event)) budgetsStuck += 1;
    if (event.verb !== 'watch' && Date.parse(event.requestReceivedTimestamp) <= wallEnd) requestsInTime += 1;
  });
  const seconds = (end.atMilliseconds - start.atMilliseconds) / 1000;
  return {
    rival,
    clusters: all.length,
    seconds,
    secondsOfClusters: times.toSorted((a, b) => a - b),
    cores: coresBetween(start, end),
    requestsPerSecond: requestsInTime / seconds,
    requests: count.byAsker,
    kinds: count.kinds,
    applies: count.applies,
    readBytes: usage.readBytes - readBytes,
    budgetsStuck,
    processorSeconds: Object.fromEntries(
      Object.entries(rest.seconds).map(([name, used]) => [name, used - (start.seconds[name] ?? 0)]),
    ),
    eventLoop,
    residentBytes: usage.residentBytes,
    peakBytes: usage.peakBytes,
  };
}

/**
 * Whether this is the disruption controller's Event about a pod that was not deleted in time (`NotDeleted`). The
 * disruption controller writes no other Events about pods.
 */
function isOfStuckBudget({ user, verb, objectRef }: AuditEvent): boolean {
  const isOfDisruptionController =
    user.username === 'system:kube-controller-manager' && objectRef?.resource === 'events';
  return isOfDisruptionController && verb === 'create' && /^moco-db-\d+-\d+\./.test(objectRef?.name ?? '');
}

export const rolloutsPerMinute = ({ clusters, seconds }: FleetRollout): number => (clusters / seconds) * 60;

/** The slowest cluster's time divided by the median time. */
export const fairness = ({ secondsOfClusters }: FleetRollout): number =>
  (secondsOfClusters.at(-1) ?? Number.NaN) / percentile(secondsOfClusters, 0.5);
