import { type HistoryEntry, type MySQLRollout, rolloutKind } from '../controller/rollout-resource.ts';
import { statefulSetName } from '../moco/projections.ts';
import { milliseconds } from '../moco/timestamp.ts';
import { clusterNamed, find } from './clusters.ts';
import type { ClusterCommand } from './command.ts';
import { brief } from './durations.ts';
import { formatOf, outputOption, writeData, writeLines } from './output.ts';
import { type Line, line } from './painted.ts';
import { type Session, textOf } from './session.ts';
import { hashOf } from './status/view.ts';
import { table } from './table.ts';
import { type Difference, differences } from './template/difference.ts';
import { differenceLines, inOneLine } from './template/lines.ts';
import { type Revision, revisionBefore, revisionNamed, revisionsOf } from './template/revisions.ts';

/** Templates that Kubernetes keeps, beside what the controller knows of their rollouts. */
export const historyCommand: ClusterCommand = {
  name: 'history',
  arguments: '<NAME>',
  completes: ['cluster'],
  summary: 'Show past rollouts, or what a revision changed',
  help: 'Differences are read from the ControllerRevisions with your own rights: environment and arguments may be in them.',
  options: [
    { flags: '--revision <revision>', description: 'show what this one changed, by its number or its hash' },
    outputOption,
  ],
  connects: true,
  run: async (session, [name = '']) => {
    const format = formatOf(session.given);
    const cluster = await clusterNamed(session, name);
    const [revisions, rollout] = await Promise.all([
      revisionsOf(session, cluster),
      find(session, rolloutKind, cluster.namespace, name),
    ]);
    const wanted = textOf(session.given['revision']);
    if (wanted !== undefined) {
      const revision = revisionNamed(revisions, wanted);
      const before = revisionBefore(revisions, revision);
      const changed = differences(before?.template ?? {}, revision.template);
      if (format === 'table') writeLines(session.host, changeLines(revision, before, changed));
      else
        writeData(session.host, format, {
          revision: shown(revision),
          before: before && shown(before),
          differences: changed,
        });
      return 0;
    }
    const rows = rowsOf(revisions, (rollout as MySQLRollout | null)?.status?.history ?? [], statefulSetName(name));
    if (format !== 'table') writeData(session.host, format, rows);
    else if (rows.length === 0) session.host.err(`no revision of ${name} is kept\n`);
    else writeLines(session.host, historyTable(rows, session));
    return 0;
  },
};

const shown = ({ number, hash, createdAt }: Revision) => ({ number, hash, createdAt });

interface Row {
  /** `null` where Kubernetes no longer keeps its template. */
  readonly number: number | null;
  readonly hash: string;
  readonly createdAt: string | null;
  readonly rollout: HistoryEntry | null;
  readonly changes: readonly string[];
}

/** A revision may have been rolled out more than once: each time is a line. */
function rowsOf(revisions: readonly Revision[], history: readonly HistoryEntry[], stem: string): readonly Row[] {
  const kept = revisions.flatMap((revision): readonly Row[] => {
    const before = revisionBefore(revisions, revision);
    const changes = before ? differences(before.template, revision.template).map(inWords) : [];
    const own = history.filter((entry) => entry.revision === revision.name);
    const row = { number: revision.number, hash: revision.hash, createdAt: revision.createdAt };
    return own.length === 0
      ? [{ ...row, rollout: null, changes }]
      : own.map((rollout) => ({ ...row, rollout, changes: rollout.changes?.map(changeInWords) ?? changes }));
  });
  const gone = history
    .filter((entry) => revisions.every(({ name }) => name !== entry.revision))
    .map(
      (rollout): Row => ({
        number: null,
        hash: hashOf(rollout.revision, stem),
        createdAt: null,
        rollout,
        changes: rollout.changes?.map(changeInWords) ?? [],
      }),
    );
  return [...gone, ...kept];
}

type Change = NonNullable<HistoryEntry['changes']>[number];

const changeInWords = ({ path, from, to }: Change): string =>
  from === undefined && to === undefined ? path : `${path}: ${from ?? 'none'} -> ${to ?? 'none'}`;

/** Values of images alone: a table is shown to more people than the template is. */
const inWords = ({ path, before, after }: Difference): string =>
  path.endsWith('.image') ? `${path}: ${inOneLine(before ?? 'none')} -> ${inOneLine(after ?? 'none')}` : path;

const mostChanges = 2;

function historyTable(rows: readonly Row[], { host }: Session): readonly Line[] {
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
      : [[], line(`  what one changed: ${host.program} history NAME --revision N`, 'dim')]),
  ];
}

function secondsOf({ startedAt, finishedAt }: HistoryEntry): number {
  return ((milliseconds(finishedAt) ?? 0) - (milliseconds(startedAt) ?? 0)) / 1000;
}

function changeLines(revision: Revision, before: Revision | null, changed: readonly Difference[]): readonly Line[] {
  const against = before === null ? 'the oldest that is kept' : `against revision ${before.number} (${before.hash})`;
  return [
    line(`revision ${revision.number} (${revision.hash}), ${against}`, 'bold'),
    ...(changed.length === 0 ? [line('  no difference')] : differenceLines(changed)),
  ];
}
