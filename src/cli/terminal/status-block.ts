import type { VerdictKind } from '../../core/decision.ts';
import { milliseconds } from '../../moco/json.ts';
import { behind, brief, counted, type Line, line, piece, type Style, table } from './lines.ts';
import type { ClusterView, MemberView } from './view.ts';

const barColumns = 21;
const between = piece('   ');
const labelColumns = 'waiting'.length;

/** Details of one cluster in a few lines. `program` is how the user calls this program. */
export function block(view: ClusterView, program: string): readonly Line[] {
  const hint = kubectlHint(view, program);
  return [
    header(view),
    ...(view.hold ? [holdLine(view.hold)] : []),
    ...view.warnings.map((warning): Line => line(`  ${warning}`, 'yellow')),
    ...[...view.notes, ...view.overridden.map(({ sentence }) => sentence)].map((note) =>
      labelled('note', note, 'yellow'),
    ),
    ...view.standing.map(([label, sentence]) => labelled(label, sentence, 'dim')),
    ...(view.members.length === 0 ? [] : [[], ...membersTable(view.members)]),
    ...lastLine(view),
    ...(hint === null ? [] : [[], line(`  ${hint}`, 'dim')]),
  ];
}

function header(view: ClusterView): Line {
  const { name, phase, complete, stalled, updated, replicas, updateRevision, rollout, members } = view;
  const runsFor = rollout?.forSeconds ?? null;
  const running: Line = runsFor === null ? [] : [between, piece(brief(runsFor))];
  return [
    piece(name, 'bold'),
    between,
    piece(phase, stalled ? 'red' : complete ? 'green' : 'cyan'),
    between,
    piece(`${updated} of ${replicas} updated`),
    ...(updateRevision === null ? [] : [between, piece('revision ', 'dim'), piece(updateRevision)]),
    ...running,
    ...(rollout === null ? [] : [between, ...bar(progressOf(members, replicas))]),
  ];
}

/** A member counts half once its new pod exists, and fully once that pod is ready. */
function progressOf(members: readonly MemberView[], replicas: number): number {
  const done = members.reduce(
    (sum, { updated, verdict }) => sum + (updated ? (verdict === 'Starting' ? 0.5 : 1) : 0),
    0,
  );
  return replicas === 0 ? 0 : Math.min(1, done / replicas);
}

function bar(progress: number): Line {
  const full = Math.round(progress * barColumns);
  return [piece('█'.repeat(full), 'cyan'), piece('░'.repeat(barColumns - full), 'dim')];
}

function holdLine({ rule, message, forSeconds }: NonNullable<ClusterView['hold']>): Line {
  return [
    piece('  '),
    piece('waiting'.padEnd(labelColumns), 'yellow'),
    piece('  '),
    piece(`${rule}: `, 'bold'),
    piece(message),
    piece(forSeconds === null ? '' : `, for ${brief(forSeconds)}`, 'dim'),
  ];
}

const labelled = (label: string, sentence: string, style: Style): Line => [
  piece('  '),
  piece(label.padEnd(labelColumns), style),
  piece(`  ${sentence}`),
];

function membersTable(members: readonly MemberView[]): readonly Line[] {
  const isKnown = members.some(({ replication }) => replication !== null);
  const rows = members.map(({ name, role, revision, updated, state, verdict, replication, says }): readonly Line[] => [
    line(name, 'bold'),
    line(role, role === 'primary' ? 'magenta' : 'plain'),
    [
      piece(`${revision ?? '-'}  `),
      piece(revision === null ? '' : updated ? 'updated' : 'stale', updated ? 'green' : 'yellow'),
    ],
    line(state, state === 'participating' ? 'green' : state === 'down' || state === 'unreachable' ? 'red' : 'yellow'),
    ...(isKnown ? [lag(replication)] : []),
    line(says, tones[verdict as VerdictKind] ?? 'plain'),
  ]);
  return table(['MEMBER', 'ROLE', 'REVISION', 'STATE', ...(isKnown ? ['BEHIND'] : []), 'VERDICT'], rows, '  ');
}

/** Transactions of the primary that a replica has not received, and those that it has not applied. */
function lag(replication: MemberView['replication']): Line {
  if (replication === null) return line('-', 'dim');
  const { notReceived = null, notApplied } = replication;
  const isBehind = notReceived !== 0 || notApplied > 0;
  return line(behind(replication), isBehind ? 'yellow' : 'green');
}

const tones: Readonly<Record<VerdictKind, Style>> = {
  Updated: 'green',
  Starting: 'cyan',
  Next: 'bold',
  Waiting: 'dim',
  BelowPartition: 'dim',
  Pinned: 'dim',
  UpdatedOutOfBand: 'yellow',
  Terminating: 'cyan',
  Missing: 'cyan',
};

function lastLine({ rollout, last }: ClusterView): readonly Line[] {
  if (rollout !== null || last === null) return [];
  const seconds = ((milliseconds(last.finishedAt) ?? 0) - (milliseconds(last.startedAt) ?? 0)) / 1000;
  return [
    [],
    line(
      `  last rollout: ${last.outcome} at ${last.finishedAt}, ${brief(seconds)}, ` +
        `${counted(last.disruptions, 'disruption')}, ${counted(last.switchovers, 'switchover')}`,
      'dim',
    ),
  ];
}

/**
 * What to use instead of `kubectl rollout status`, which is wrong during a rollout (kubectl 1.35: it refuses under
 * OnDelete; with a partition it reports a complete rollout once the members from the partition up are updated).
 */
function kubectlHint({ name, namespace, strategy, rollout, hold }: ClusterView, program: string): string | null {
  // kubectl is only right about a rolling update by Kubernetes alone.
  if (rollout === null || hold?.rule === 'ForcedRollingUpdate') return null;
  const instead = `use: ${program} wait ${name} -n ${namespace}`;
  switch (hold?.rule === 'Released' ? 'MOCO' : strategy) {
    case 'OnDelete':
      return `\`kubectl rollout status\` does not support OnDelete; ${instead}`;
    case 'Partition':
    case 'MOCO':
      return `\`kubectl rollout status\` reports success at every partition; ${instead}`;
    default:
      return null;
  }
}
