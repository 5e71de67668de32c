import type { MySQLRollout } from '../controller/rollout-resource.ts';
import { rolloutKind } from '../controller/rollout-resource.ts';
import { UsageError } from '../failure.ts';
import type { ClusterRecord } from '../moco/records.ts';
import { clusterNamed, clustersIn, find, listIfThere } from './clusters.ts';
import type { ClusterCommand } from './command.ts';
import { type Format, formatOf, outputOption, writeData, writeLines } from './output.ts';
import type { Session } from './session.ts';
import { block } from './status/block.ts';
import { controllerNote } from './status/controller-lease.ts';
import { overview } from './status/overview.ts';
import { type StatusView, viewOf } from './status/view.ts';
import { watchStatus } from './status/watch.ts';

/** What is known of rollouts: one line a cluster, or everything about those that are named. */
export const statusCommand: ClusterCommand = {
  name: 'status',
  arguments: '[NAME...]',
  completes: ['cluster'],
  summary: 'Show how far rollouts are, and what they wait for',
  options: [outputOption, { flags: '-w, --watch', description: 'go on showing until interrupted' }],
  connects: true,
  run: async (session, names) => {
    const format = formatOf(session.given);
    if (names.length > 0 && session.namespace === null) throw new UsageError('expected either names or -A, got both');
    const views = await readViews(session, names);
    if (session.given['watch'] === true) {
      if (format !== 'table') throw new UsageError('expected -w without -o: it shows a picture, not data');
      return watchStatus(session, names);
    }
    show(session, format, names, views);
    return 0;
  },
};

/** Of the clusters that are named, or of all in scope, by namespace and name. */
async function readViews(session: Session, names: readonly string[]): Promise<readonly StatusView[]> {
  const now = session.world.wall();
  if (names.length > 0) {
    const [note, ...views] = await Promise.all([
      controllerNote(session),
      ...[...new Set(names)].map(async (name) => {
        const cluster = await clusterNamed(session, name);
        const rollout = (await find(session, rolloutKind, cluster.namespace, name)) as MySQLRollout | null;
        return viewOf(cluster, rollout, now);
      }),
    ]);
    return note === null ? views : views.map((view) => ({ ...view, notes: [note, ...view.notes] }));
  }
  const [clusters, rollouts] = await Promise.all([
    clustersIn(session, session.namespace),
    listIfThere(session, rolloutKind, session.namespace),
  ]);
  const known = new Map((rollouts ?? []).map((raw) => rolloutOf(raw as unknown as MySQLRollout)));
  return clusters
    .toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
    .map((cluster) => viewOf(cluster, known.get(keyOf(cluster)) ?? null, now));
}

const rolloutOf = (rollout: MySQLRollout): [string, MySQLRollout] => [keyOf(rollout.metadata), rollout];
const keyOf = ({ namespace, name }: Pick<ClusterRecord, 'namespace' | 'name'>): string => `${namespace}/${name}`;

function show(
  { host, namespace }: Session,
  format: Format,
  names: readonly string[],
  views: readonly StatusView[],
): void {
  if (format !== 'table') {
    writeData(host, format, names.length === 1 ? views[0] : views);
    return;
  }
  if (views.length === 0) {
    host.err(namespace === null ? 'No MySQLClusters found\n' : `No MySQLClusters found in ${namespace} namespace.\n`);
    return;
  }
  const lines =
    names.length === 0 ? overview(views, namespace === null) : joined(views.map((view) => block(view, host.program)));
  writeLines(host, lines);
}

/** With an empty line between. */
function joined<T>(blocks: readonly (readonly (readonly T[])[])[]): readonly (readonly T[])[] {
  return blocks.flatMap((lines, index) => (index === 0 ? lines : [[], ...lines]));
}
