import type { HistoryEntry } from '../../api/rollout-progress.ts';
import { object } from '../../base/json.ts';
import { mysqldIn } from '../../moco/mysqld-version.ts';
import { revisionHash } from '../../moco/names.ts';
import type { ClusterRecord } from '../../moco/records.ts';
import { type TemplateDifference, templateDifferences } from '../../moco/template-changes.ts';
import { toReadRevisions } from '../check/rights.ts';
import { clusterNamed, rolloutOf } from '../cluster/clusters.ts';
import type { Session } from '../cluster/session.ts';
import { type Revision, revisionBefore, revisionNamed, revisionsOf } from '../cluster/template-revisions.ts';
import { anyText } from '../option.ts';
import { mysqlChange } from '../terminal/cluster-lines.ts';
import {
  brief,
  changeInWords,
  differenceInWords,
  inOneLine,
  type Line,
  line,
  piece,
  someOf,
  table,
  tookSeconds,
} from '../terminal/lines.ts';
import { outputOption, writeResult } from '../terminal/output.ts';
import { clusterCommand } from './command.ts';

// The command `history`.

/** Shows the pod templates that Kubernetes keeps, with what the controller reported about their rollouts. */
export const historyCommand = clusterCommand({
  name: 'history',
  arguments: '<NAME>',
  rights: toReadRevisions,
  summary: 'Show past rollouts, or what a revision changed',
  help: 'Reads the differences from ControllerRevisions with your own rights. They may contain environment variables and arguments.',
  examples: [
    ['List the revisions of a cluster', 'history test'],
    ['Show what revision 3 changed', 'history test --revision=3'],
  ],
  options: {
    revision: anyText('--revision <revision>', 'show what this revision changed, by number or hash'),
    output: outputOption,
  },
  run: async (session, [name = ''], { revision: wanted, output }) => {
    const cluster = await clusterNamed(session, name);
    const [revisions, rollout] = await Promise.all([revisionsOf(session, cluster), rolloutOf(session, cluster)]);
    if (wanted !== undefined) {
      const revision = revisionNamed(revisions, wanted);
      const before = revisionBefore(revisions, revision);
      const changed = templateDifferences(before?.template ?? {}, revision.template);
      const data = { revision: shown(revision), before: before && shown(before), differences: changed };
      writeResult(session.host, output, data, () => changeLines(revision, before, changed));
      return 0;
    }
    const rows = rowsOf(revisions, rollout?.status?.history ?? [], name);
    if (output === undefined && rows.length === 0) session.host.err(`Kubernetes keeps no revision of ${name}\n`);
    else writeResult(session.host, output, rows, () => historyTable(rows, session, cluster));
    return 0;
  },
});

const shown = ({ number, hash, createdAt }: Revision) => ({ number, hash, createdAt });

type Row = ReturnType<typeof rowsOf>[number];

/** A revision may have been rolled out more than once. Each rollout gets its own row. */
function rowsOf(revisions: readonly Revision[], history: readonly HistoryEntry[], name: string) {
  const recorded = (rollout: HistoryEntry) => rollout.changes?.map((change) => changeInWords(change));
  const kept = revisions.flatMap((revision) => {
    const before = revisionBefore(revisions, revision);
    const changes = before ? templateDifferences(before.template, revision.template).map(inWords) : [];
    const own = history.filter((entry) => entry.revision === revision.name);
    const mysql = mysqldIn(object(object(revision.template)['spec'])).version?.version ?? null;
    const row = { ...shown(revision), rollout: null as HistoryEntry | null, mysql, changes };
    return own.length === 0
      ? [row]
      : own.map((rollout) => ({
          ...row,
          rollout,
          mysql: mysqlChange(rollout) ?? mysql,
          changes: recorded(rollout) ?? changes,
        }));
  });
  const gone = history
    .filter((entry) => revisions.every((revision) => revision.name !== entry.revision))
    .map((rollout) => {
      const hash = revisionHash(rollout.revision, name);
      // Kubernetes no longer keeps the template.
      const [mysql, changes] = [mysqlChange(rollout), recorded(rollout) ?? []];
      return { number: null, hash, createdAt: null, rollout, mysql, changes };
    });
  return [...gone, ...kept];
}

/** Shows values only for images, because more people can see the table than the template. */
const inWords = (one: TemplateDifference): string => (one.path.endsWith('.image') ? differenceInWords(one) : one.path);

const mostChanges = 2;

function historyTable(rows: readonly Row[], { host }: Session, { namespace, name }: ClusterRecord): readonly Line[] {
  const cells = rows.map(({ number, hash, rollout, mysql, changes, createdAt }): readonly Line[] => [
    line(String(number ?? '-'), 'bold'),
    line(hash),
    line(rollout?.startedAt ?? createdAt ?? '-'),
    line(rollout === null ? '-' : brief(tookSeconds(rollout))),
    line(rollout?.outcome ?? '-', rollout?.outcome === 'Complete' ? 'green' : 'yellow'),
    line(String(rollout?.switchovers ?? '-')),
    line(mysql ?? '-'),
    line(someOf(changes, mostChanges)),
  ]);
  const hint = `  show what a revision changed: ${host.program} history ${name} -n ${namespace} --revision=N`;
  return [
    ...table(['REVISION', 'HASH', 'STARTED', 'TOOK', 'OUTCOME', 'SWITCHOVERS', 'MYSQL', 'CHANGES'], cells),
    ...(host.terminal() === null ? [] : [[], line(hint, 'dim')]),
  ];
}

function changeLines(
  revision: Revision,
  before: Revision | null,
  changed: readonly TemplateDifference[],
): readonly Line[] {
  const against = before === null ? 'the oldest one kept' : `compared with revision ${before.number} (${before.hash})`;
  return [
    line(`revision ${revision.number} (${revision.hash}), ${against}`, 'bold'),
    ...(changed.length === 0 ? [line('  no difference')] : []),
    // The path of each field, and below it the old and the new value.
    ...changed.flatMap(({ path, before: old, after }): readonly Line[] => [
      line(`  ${path}`, 'bold'),
      ...(old === undefined ? [] : [[piece('    - '), piece(inOneLine(old), 'red')]]),
      ...(after === undefined ? [] : [[piece('    + '), piece(inOneLine(after), 'green')]]),
    ]),
  ];
}
