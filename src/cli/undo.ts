import { dump } from 'js-yaml';
import { statefulSets } from '../kube/resource.ts';
import { object } from '../moco/json.ts';
import { clusterKind } from '../moco/names.ts';
import { projectStatefulSet, statefulSetName } from '../moco/projections.ts';
import type { ClusterRecord } from '../moco/records.ts';
import { clusterNamed, find } from './clusters.ts';
import type { ClusterCommand } from './command.ts';
import { CommandError } from './failure.ts';
import { type Format, formatOf, outputOption } from './output.ts';
import { type Session, textOf } from './session.ts';
import { differences } from './template/difference.ts';
import { inOneLine } from './template/lines.ts';
import { mergePatch, restored } from './template/restore.ts';
import { type Revision, revisionBefore, revisionNamed, revisionsOf } from './template/revisions.ts';
import { ownersOf, whereToChange } from './wishes/owners.ts';

/** What to put back in the MySQLCluster: MOCO owns the StatefulSet's template, so that nothing is undone there. */
export const undoCommand: ClusterCommand = {
  name: 'undo',
  arguments: '<NAME>',
  completes: ['cluster'],
  summary: 'Say what to put back in the MySQLCluster, as a patch ready to apply',
  help:
    'Writes a merge patch and nothing else to standard output, so that it can be piped:\n' +
    'undo NAME | kubectl patch mysqlcluster NAME --type=merge --patch-file=/dev/stdin',
  options: [
    {
      flags: '--to-revision <revision>',
      description: 'go back to this one, by number or hash; without it, to the one before',
    },
    { ...outputOption, description: 'yaml (with comments) or json', default: 'yaml', values: ['yaml', 'json'] },
  ],
  connects: true,
  run: async (session, [name = '']) => {
    const format = formatOf(session.given);
    const cluster = await clusterNamed(session, name);
    const [revisions, raw, statefulSet] = await Promise.all([
      revisionsOf(session, cluster),
      find(session, clusterKind, cluster.namespace, name),
      find(session, statefulSets, cluster.namespace, statefulSetName(name)),
    ]);
    const now = revisionNamed(revisions, (statefulSet && projectStatefulSet(statefulSet)?.updateRevision) || 'update');
    const wanted = textOf(session.given['toRevision']);
    const back = wanted === undefined ? revisionBefore(revisions, now) : revisionNamed(revisions, wanted);
    if (back === null) throw new CommandError(`no revision before ${now.number} (${now.hash}) is kept`);
    const own = object(object(raw)['spec'])['podTemplate'] ?? {};
    const patch = mergePatch(own, restored(own, back.template, now.template));
    if (patch === undefined) throw new CommandError(nothingToPutBack(cluster, now, back));
    show(session, format, { spec: { podTemplate: patch } }, comments(session, cluster, raw, own, now, back));
    return 0;
  },
};

function nothingToPutBack({ name }: ClusterRecord, now: Revision, back: Revision): string {
  const changed = differences(back.template, now.template).map(({ path }) => path);
  if (changed.length === 0) return `revision ${back.number} (${back.hash}) of ${name} is the present one`;
  return (
    `nothing of spec.podTemplate of ${name} makes the difference to revision ${back.number} (${back.hash}), which is in ` +
    `${changed.join(', ')}: it comes from another field of the MySQLCluster, from moco-controller's own version, or from \`kubectl rollout restart\``
  );
}

/** What the patch does, and what it can't do. */
function comments(
  { host }: Session,
  { namespace, name }: ClusterRecord,
  raw: unknown,
  own: unknown,
  now: Revision,
  back: Revision,
): readonly string[] {
  const after = restored(own, back.template, now.template);
  const put = differences(own, after);
  const paths = new Set(put.map(({ path }) => path));
  const left = differences(now.template, back.template).filter(
    ({ path }) => ![...paths].some((one) => path.startsWith(one)),
  );
  const appliers = ownersOf(raw, 'podTemplate').map((owner) => ({
    owner,
    where: whereToChange(owner, clusterKind.kind, name, namespace, host.program),
  }));
  return [
    `Puts revision ${back.number} (${back.hash}) back into MySQLCluster ${namespace}/${name}:`,
    ...put.map(
      ({ path, before, after: value }) => `  ${path}: ${inOneLine(before ?? 'none')} -> ${inOneLine(value ?? 'none')}`,
    ),
    ...(left.length === 0
      ? []
      : [`Not from its podTemplate, and so not in here: ${left.map(({ path }) => path).join(', ')}`]),
    ...appliers
      .filter(({ where }) => /Flux|Argo CD|Helm/.test(where))
      .map(({ owner, where }) => `The podTemplate belongs to ${owner}, ${where}, or this will be undone.`),
    `Apply it: ${host.program} undo ${name} -n ${namespace} | kubectl patch mysqlcluster ${name} -n ${namespace} --type=merge --patch-file=/dev/stdin`,
  ];
}

function show({ host }: Session, format: Format, patch: object, said: readonly string[]): void {
  if (format === 'json') {
    host.err(said.map((sentence) => `${sentence}\n`).join(''));
    host.out(`${JSON.stringify(patch, null, 2)}\n`);
    return;
  }
  host.out(
    `${said.map((sentence) => `# ${sentence.replaceAll(/[\r\n]+/g, ' ')}\n`).join('')}${dump(patch, { lineWidth: -1, noRefs: true })}`,
  );
}
