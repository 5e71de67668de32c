import type { HistoryEntry } from '../../api/rollout-status.ts';
import { milliseconds } from '../../moco/json.ts';
import { revisionHash } from '../../moco/projections.ts';
import type { ClusterRecord } from '../../moco/records.ts';
import { type TemplateDifference, templateDifferences } from '../../moco/template-changes.ts';
import { clusterNamed, rolloutOf } from '../cluster/clusters.ts';
import { type Session, textOf } from '../cluster/session.ts';
import { type Revision, revisionBefore, revisionNamed, revisionsOf } from '../cluster/template-revisions.ts';
import { brief, changeInWords, type Line, line, piece, table } from '../terminal/lines.ts';
import { formatOf, inOneLine, outputOption, writeData, writeLines } from '../terminal/output.ts';
import type { ClusterCommand } from './command.ts';

/** Shows the pod templates that Kubernetes keeps, with what the controller reported about their rollouts. */
export const historyCommand: ClusterCommand = {
  name: 'history',
  arguments: '<NAME>',
  summary: 'Show past rollouts, or what a revision changed',
  help: 'Reads the differences from ControllerRevisions with your own rights. They may contain environment variables and arguments.',
  examples: [
    ['List the revisions of a cluster', 'history test'],
    ['Show what revision 3 changed', 'history test --revision=3'],
  ],
  options: [
    { flags: '--revision <revision>', description: 'show what this revision changed, by number or hash' },
    outputOption,
  ],
  run: async (session, [name = '']) => {
    const format = formatOf(session.given, outputOption);
    const cluster = await clusterNamed(session, name);
    const [revisions, rollout] = await Promise.all([revisionsOf(session, cluster), rolloutOf(session, cluster)]);
    const wanted = textOf(session.given['revision']);
    if (wanted !== undefined) {
      const revision = revisionNamed(revisions, wanted);
      const before = revisionBefore(revisions, revision);
      const changed = templateDifferences(before?.template ?? {}, revision.template);
      if (format === 'table') writeLines(session.host, changeLines(revision, before, changed));
      else
        writeData(session.host, format, {
          revision: shown(revision),
          before: before && shown(before),
          differences: changed,
        });
      return 0;
    }
    const rows = rowsOf(revisions, rollout?.status?.history ?? [], name);
    if (format !== 'table') writeData(session.host, format, rows);
    else if (rows.length === 0) session.host.err(`Kubernetes keeps no revision of ${name}\n`);
    else writeLines(session.host, historyTable(rows, session, cluster));
    return 0;
  },
};

const shown = ({ number, hash, createdAt }: Revision) => ({ number, hash, createdAt });

interface Row {
  /** `null` if Kubernetes no longer keeps its template. */
  readonly number: number | null;
  readonly hash: string;
  readonly createdAt: string | null;
  readonly rollout: HistoryEntry | null;
  readonly changes: readonly string[];
}

/** A revision may have been rolled out more than once: each rollout has its own line. */
function rowsOf(revisions: readonly Revision[], history: readonly HistoryEntry[], name: string): readonly Row[] {
  const kept = revisions.flatMap((revision): readonly Row[] => {
    const before = revisionBefore(revisions, revision);
    const changes = before ? templateDifferences(before.template, revision.template).map(inWords) : [];
    const own = history.filter((entry) => entry.revision === revision.name);
    const row = { number: revision.number, hash: revision.hash, createdAt: revision.createdAt };
    return own.length === 0
      ? [{ ...row, rollout: null, changes }]
      : own.map((rollout) => ({
          ...row,
          rollout,
          changes: rollout.changes?.map((change) => changeInWords(change)) ?? changes,
        }));
  });
  const gone = history
    .filter((entry) => revisions.every((revision) => revision.name !== entry.revision))
    .map(
      (rollout): Row => ({
        number: null,
        hash: revisionHash(rollout.revision, name),
        createdAt: null,
        rollout,
        changes: rollout.changes?.map((change) => changeInWords(change)) ?? [],
      }),
    );
  return [...gone, ...kept];
}

/** Only values of images: more people see the table than the template. */
const inWords = ({ path, before, after }: TemplateDifference): string =>
  path.endsWith('.image') ? `${path}: ${inOneLine(before ?? 'none')} -> ${inOneLine(after ?? 'none')}` : path;

const mostChanges = 2;

function historyTable(rows: readonly Row[], { host }: Session, { namespace, name }: ClusterRecord): readonly Line[] {
  const cells = rows.map(({ number, hash, rollout, changes, createdAt }): readonly Line[] => [
    line(number === null ? '-' : String(number), 'bold'),
    line(hash),
    line(rollout?.startedAt ?? createdAt ?? '-'),
    line(rollout === null ? '-' : brief(secondsOf(rollout))),
    line(rollout?.outcome ?? '-', rollout?.outcome === 'Complete' ? 'green' : 'yellow'),
    line(rollout === null ? '-' : String(rollout.switchovers)),
    line(
      changes.slice(0, mostChanges).join(', ') +
        (changes.length > mostChanges ? ` and ${changes.length - mostChanges} more` : ''),
    ),
  ]);
  return [
    ...table(['REVISION', 'HASH', 'STARTED', 'TOOK', 'OUTCOME', 'SWITCHOVERS', 'CHANGES'], cells),
    ...(host.terminal() === null
      ? []
      : [
          [],
          line(`  show what a revision changed: ${host.program} history ${name} -n ${namespace} --revision=N`, 'dim'),
        ]),
  ];
}

function secondsOf({ startedAt, finishedAt }: HistoryEntry): number {
  return ((milliseconds(finishedAt) ?? 0) - (milliseconds(startedAt) ?? 0)) / 1000;
}

function changeLines(
  revision: Revision,
  before: Revision | null,
  changed: readonly TemplateDifference[],
): readonly Line[] {
  const against = before === null ? 'the oldest one kept' : `compared with revision ${before.number} (${before.hash})`;
  return [
    line(`revision ${revision.number} (${revision.hash}), ${against}`, 'bold'),
    ...(changed.length === 0 ? [line('  no difference')] : differenceLines(changed)),
  ];
}

/** The old and the new value below the path of each field. */
function differenceLines(all: readonly TemplateDifference[]): readonly Line[] {
  return all.flatMap(({ path, before, after }): readonly Line[] => [
    line(`  ${path}`, 'bold'),
    ...(before === undefined ? [] : [[piece('    - '), piece(inOneLine(before), 'red')]]),
    ...(after === undefined ? [] : [[piece('    + '), piece(inOneLine(after), 'green')]]),
  ]);
}
