import { object } from '../../base/json.ts';
import { escaped, printable } from '../../base/text.ts';
import { UsageError } from '../../failure.ts';
import { pods, statefulSets } from '../../kube/resource.ts';
import { ownersOf } from '../../moco/managed-fields.ts';
import { mysqldIn } from '../../moco/mysqld-version.ts';
import { clusterKind, clusterNameLabel, memberSelector, mysqldContainer, statefulSetName } from '../../moco/names.ts';
import { projectSlimPod } from '../../moco/pod-projection.ts';
import { projectStatefulSet } from '../../moco/projections.ts';
import type { ClusterRecord, PodRecord } from '../../moco/records.ts';
import { templateDifferences } from '../../moco/template-changes.ts';
import { toReadRevisions } from '../check/rights.ts';
import { whereToChange } from '../cluster/apply.ts';
import { clusterNamed, find, ifAllowed, listAll } from '../cluster/clusters.ts';
import { gitOpsOwner } from '../cluster/gitops-owner.ts';
import { forEachOf, listedClusters, requireSelection } from '../cluster/selection.ts';
import type { Session } from '../cluster/session.ts';
import {
  mergePatchOf,
  type Revision,
  restored,
  revisionBefore,
  revisionNamed,
  revisionsOf,
} from '../cluster/template-revisions.ts';
import { dataAgainst } from '../cluster/way-back.ts';
import { CommandError } from '../command-error.ts';
import { anyText, oneOf } from '../option.ts';
import { differenceInWords } from '../terminal/lines.ts';
import { outputFlags, writeData } from '../terminal/output.ts';
import { clusterCommand, selectionOptions } from './command.ts';

// The command `undo`.

/** How many clusters are read in parallel. */
const clustersAtOnce = 8;
const imageOfMysqld = `spec.containers[${mysqldContainer}].image`;
/** MOCO also runs mysqld's image in an init container. */
const alsoOfMysqld = 'spec.initContainers[moco-init].image';

const options = {
  toRevision: anyText('--to-revision <revision>', 'revision to restore, by number or hash (default: the previous one)'),
  output: oneOf('json', 'yaml')(outputFlags, 'output format: yaml (with comments) or json', 'yaml'),
  ...selectionOptions,
};

export const undoCommand = clusterCommand({
  name: 'undo',
  arguments: '[NAME...]',
  rights: [...toReadRevisions, ['apps', 'statefulsets', ['get']]],
  summary: 'Print a patch that restores an earlier pod template',
  help:
    'Prints a merge patch for the MySQLCluster and changes nothing: MOCO owns the template of the StatefulSet, so only the ' +
    'MySQLCluster can be restored. The patch may contain environment variables and arguments.\n\n' +
    'For several clusters it prints a command for each. --selector and --all select those whose rollout is not complete.',
  examples: [
    ['Print what restores the previous revision', 'undo test'],
    ['Restore it', 'undo test | kubectl patch mysqlcluster test --type=merge --patch-file=/dev/stdin'],
    ['Print what restores revision 3', 'undo test --to-revision=3'],
    ['Restore all clusters whose rollout is not complete', 'undo --all -A | sh'],
  ],
  options,
  run: async (session, names, { output: format, toRevision }) => {
    const { host } = session;
    requireSelection(session, names);
    if (names.length !== 1) {
      if (format === 'json') throw new UsageError('expected one NAME with --output=json, got several clusters');
      const listed = await listedClusters(session, names);
      // Without names, only clusters with an incomplete rollout are selected.
      const wanted = listed.filter(({ rollout }) => names.length > 0 || rollout?.status?.rollout !== undefined);
      const clusters = wanted.map(({ cluster }) => cluster);
      return forEachOf(session, clusters, clustersAtOnce, (cluster) => patchCommand(session, cluster, toRevision));
    }
    const cluster = await clusterNamed(session, names[0] ?? '');
    const { patch, notes } = await undone(session, cluster, toRevision);
    if (format === 'json') host.err(notes.map((sentence) => `${sentence}\n`).join(''));
    else host.out(commented(notes));
    writeData(host, format, patch);
    return 0;
  },
});

const commented = (notes: readonly string[]): string =>
  notes.map((sentence) => `# ${printable(sentence).replaceAll('\n', ' ')}\n`).join('');

/** Quotes a word for a shell. The word may contain any characters. */
const shellWord = (text: string): string =>
  /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;

/** A shell command that restores the template. Before it come comments that the user should read first. */
async function patchCommand(session: Session, cluster: ClusterRecord, toRevision: string | undefined): Promise<string> {
  const { patch, notes } = await undone(session, cluster, toRevision);
  const [name, namespace, merged] = [cluster.name, cluster.namespace, escaped(JSON.stringify(patch))].map(shellWord);
  const patching = `kubectl patch mysqlcluster ${name} -n ${namespace} --type=merge --patch=${merged}`;
  return `${commented(notes.slice(0, -1))}${patching}`;
}

/**
 * The patch for a MySQLCluster, and what a user should know about it. The last sentence says how to apply the patch.
 */
async function undone(session: Session, cluster: ClusterRecord, wanted: string | undefined) {
  const { name } = cluster;
  const [revisions, raw, statefulSet] = await Promise.all([
    revisionsOf(session, cluster),
    find(session, clusterKind, cluster.namespace, name),
    find(session, statefulSets, cluster.namespace, statefulSetName(name)),
  ]);
  const now = revisionNamed(revisions, (statefulSet && projectStatefulSet(statefulSet)?.updateRevision) || 'update');
  const back = wanted === undefined ? revisionBefore(revisions, now) : revisionNamed(revisions, wanted);
  if (back === null) throw new CommandError(`Kubernetes keeps no revision before ${now.number} (${now.hash})`);
  const own = object(object(raw)['spec'])['podTemplate'] ?? {};
  const patch = mergePatchOf(own, restored(own, back.template, now.template));
  if (patch === undefined) throw new CommandError(nothingToPutBack(cluster, now, back));
  const data = dataAgainst(await membersOf(session, cluster), mysqldIn(specOf(back)), now.name, session.host.program);
  return { patch: { spec: { podTemplate: patch } }, notes: comments(session, cluster, raw, own, now, back, data) };
}

/** Empty if the user may not read pods. */
async function membersOf(session: Session, { namespace, name }: ClusterRecord): Promise<readonly PodRecord[]> {
  const query = { labelSelector: `${memberSelector},${clusterNameLabel}=${name}` };
  const found = await ifAllowed(listAll(session, pods, namespace, query));
  return (found ?? []).map(projectSlimPod).filter((pod) => pod !== null);
}

const specOf = ({ template }: Revision) => object(object(template)['spec']);

function nothingToPutBack({ name }: ClusterRecord, now: Revision, back: Revision): string {
  const changed = templateDifferences(back.template, now.template).map(({ path }) => path);
  const revision = `revision ${back.number} (${back.hash})`;
  if (changed.length === 0) return `${revision} of ${name} is the current one`;
  return `spec.podTemplate of ${name} does not differ from ${revision}. The difference, in ${changed.join(', ')}, comes from a different field of the MySQLCluster, from the version of moco-controller, or from \`kubectl rollout restart\``;
}

function comments(
  { host }: Session,
  { namespace, name }: ClusterRecord,
  raw: unknown,
  own: unknown,
  now: Revision,
  back: Revision,
  data: readonly string[],
): readonly string[] {
  const put = templateDifferences(own, restored(own, back.template, now.template));
  const paths = put.map(({ path }) => path);
  const isPut = (path: string): boolean =>
    paths.some((one) => path.startsWith(one)) || (path === alsoOfMysqld && paths.includes(imageOfMysqld));
  const left = templateDifferences(now.template, back.template).flatMap(({ path }) => (isPut(path) ? [] : [path]));
  const appliers = ownersOf(raw, 'podTemplate').map(
    (owner) => [owner, whereToChange(owner, clusterKind.kind, name, namespace, host.program)] as const,
  );
  const owner = gitOpsOwner(object(object(raw)['metadata']));
  return [
    `Restores revision ${back.number} (${back.hash}) in MySQLCluster ${namespace}/${name}:`,
    ...put.map((one) => `  ${differenceInWords(one)}`),
    ...data,
    ...(left.length === 0 ? [] : [`Not restored, because it does not come from the podTemplate: ${left.join(', ')}`]),
    ...appliers
      .filter(([, where]) => /Flux|Argo CD|Helm/.test(where))
      .map(([owner, where]) => `\`${owner}\` owns the podTemplate and would revert the patch: ${where}`),
    owner === null
      ? 'If the MySQLCluster is in a Git repository, revert the change there: the next sync would bring it back.'
      : `The MySQLCluster comes from ${owner.name}: ${owner.advice}`,
    `Apply it: ${host.program} undo ${name} -n ${namespace} | kubectl patch mysqlcluster ${name} -n ${namespace} --type=merge --patch-file=/dev/stdin`,
  ];
}
