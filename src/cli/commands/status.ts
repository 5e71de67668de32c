import { type MySQLRollout, rolloutKind } from '../../api/rollout.ts';
import { UsageError } from '../../failure.ts';
import type { ClusterRecord } from '../../moco/records.ts';
import { toLook } from '../check/rights.ts';
import { backupSentence } from '../cluster/backup-sentence.ts';
import { notesOfObjects } from '../cluster/cluster-snapshot.ts';
import { ageSentence, leaseSilence, type Silence, silenceNote } from '../cluster/controller-lease.ts';
import { type ClusterAndRollout, listedClusters } from '../cluster/selection.ts';
import type { Session } from '../cluster/session.ts';
import { watchClusters } from '../cluster/watch-clusters.ts';
import { CommandError } from '../command-error.ts';
import { toggle, type Values } from '../option.ts';
import {
  block,
  byActivity,
  byUrgency,
  holdTable,
  overview,
  toldOfCluster,
  waitsForPerson,
} from '../terminal/cluster-lines.ts';
import { apart, type Line } from '../terminal/lines.ts';
import { type Room, showLive } from '../terminal/live.ts';
import { objectFormat, objectOutputOption, writeLines, writeObjects } from '../terminal/output.ts';
import { type ClusterView, isHeld, viewOf } from '../terminal/view.ts';
import { allNamespacesOption, clusterCommand, selectorOption } from './command.ts';

// The commands `status` and `get`.

const options = {
  selector: selectorOption,
  allNamespaces: allNamespacesOption,
  held: toggle('--held', 'only clusters that wait for a rule; those that need a person come first'),
  needsPerson: toggle('--needs-person', 'only clusters that wait for a person, with what to look at'),
  stale: toggle('--stale', 'only clusters with members at an older revision'),
  output: objectOutputOption,
  watch: toggle(
    '-w, --watch',
    'keep showing changes until interrupted; clusters that need a person or are rolling come first',
  ),
};

type Given = Values<typeof options>;

/** Shows details of the named clusters, or a table of many clusters. */
export const statusCommand = clusterCommand({
  name: 'status',
  arguments: '[NAME...]',
  rights: toLook,
  summary: 'Show the progress of rollouts and what they wait for',
  help: 'Without a NAME, lists the clusters of the namespace.',
  examples: [
    ['List the clusters of the current namespace', 'status'],
    ['Show one cluster in detail, until interrupted', 'status test --watch'],
    ['Also show which mysqld has started on the data of each member', 'status test -o wide'],
    ['List the clusters of all namespaces that wait for something', 'status -A --held'],
    ['List the clusters of all namespaces that wait for a person', 'status -A --needs-person'],
    ['List production clusters with stale members, with more columns', 'status -l env=production --stale -o wide'],
  ],
  options,
  run: (session, names, given) => show(session, names, given, names.length > 0),
});

/** Shows the table even for named clusters, as users of kubectl expect from `get`. */
export const getCommand = clusterCommand({
  ...statusCommand,
  name: 'get',
  summary: 'List rollouts, as `status` does without a NAME',
  help: 'Like `status`, but shows a table even for named clusters.',
  examples: [
    ['List the clusters of all namespaces', 'get -A'],
    ['Print a MySQLRollout as YAML', 'get test -o yaml'],
  ],
  run: (session, names, given) => show(session, names, given, false),
});

async function show(session: Session, names: readonly string[], given: Given, inDetail: boolean): Promise<number> {
  const { host, world } = session;
  const format = objectFormat(given);
  if (names.length > 0 && (given.held || given.stale || given.needsPerson)) {
    throw new UsageError('--held, --needs-person and --stale filter a list and cannot be combined with names');
  }
  const listed = (await listedClusters(session, names)).filter(isWanted(given, session));
  if (format !== null) {
    writeObjects(host, format, rolloutKind, rolloutsOf(listed, names), names.length === 1);
    return 0;
  }
  const lines = linesFor(session, given, inDetail);
  const viewNow = ({ cluster, rollout }: ClusterAndRollout) => viewOf(cluster, rollout, world.wall());
  if (given.watch) {
    const source = (signal: AbortSignal) => {
      const { clusters, ...watching } = watchClusters(session, names, signal);
      return { ...watching, views: () => clusters().filter(isWanted(given, session)).map(viewNow) };
    };
    return showLive(session, source, lines, toldOfCluster);
  }
  const silence = await leaseSilence(session);
  const views: ClusterView[] = [];
  for (const one of listed)
    views.push(inDetail ? await detailed(session, one.cluster, viewNow(one), silence) : viewNow(one));
  const note = silenceNote(silence);
  if (note !== null && !inDetail) host.err(`warning: ${note}\n`);
  if (views.length > 0) writeLines(host, lines(views));
  else host.err(nothingFound(session, given));
  return 0;
}

/** The view of a cluster, with additional details that are not in its status. */
async function detailed(session: Session, cluster: ClusterRecord, view: ClusterView, silence: Silence | null) {
  const [obstacles, backup] = await Promise.all([
    notesOfObjects(session, cluster, view.hold?.rule),
    backupSentence(session, cluster),
  ]);
  const [note, age] = [silenceNote(silence), ageSentence(view.statusSeconds, silence)];
  const notes = [...(note === null ? [] : [note]), ...obstacles, ...view.notes];
  const asOf = age === null ? [] : [['as of', age] as const];
  return { ...view, notes, standing: [...asOf, ['backup', backup] as const, ...view.standing] };
}

function isWanted({ held, needsPerson, stale }: Given, { world }: Session): (one: ClusterAndRollout) => boolean {
  return ({ cluster, rollout }) => {
    const { replicas = 0, updatedReplicas = replicas } = rollout?.status ?? {};
    return (
      (!held || isHeld(rollout?.status ?? {})) &&
      (!needsPerson || waitsForPerson(viewOf(cluster, rollout, world.wall()))) &&
      (!stale || updatedReplicas < replicas)
    );
  };
}

/** Throws `CommandError` if a named cluster has no MySQLRollout. */
function rolloutsOf(listed: readonly ClusterAndRollout[], names: readonly string[]): readonly MySQLRollout[] {
  const missing = listed.find(({ rollout }) => rollout === null);
  if (names.length > 0 && missing) {
    throw new CommandError(
      `mysqlrollouts.moco-rollout.io "${missing.cluster.name}" not found: no controller has observed this cluster yet`,
    );
  }
  return listed.map(({ rollout }) => rollout).filter((rollout) => rollout !== null);
}

function linesFor({ namespace }: Session, { output, held, needsPerson, watch }: Given, inDetail: boolean) {
  const isWide = output === 'wide';
  const list = (views: readonly ClusterView[]) => overview(views, { namespace: namespace === null, wide: isWide });
  return (views: readonly ClusterView[], room?: Room): readonly Line[] => {
    if (inDetail) return apart(views.map((view) => block(view, room?.columns, isWide)));
    if (held || needsPerson) return [...holdTable(views), [], ...list(byUrgency(views))];
    return list(watch ? byActivity(views) : views);
  };
}

function nothingFound({ namespace, selector }: Session, { held, needsPerson, stale }: Given): string {
  const isFiltered = held || needsPerson || stale || selector !== undefined;
  const what = isFiltered ? 'No matching MySQLClusters found' : 'No MySQLClusters found';
  return namespace === null ? `${what}\n` : `${what} in ${namespace} namespace.\n`;
}
