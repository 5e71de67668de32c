import type { VerdictKind } from '../../core/decision.ts';
import { milliseconds } from '../../moco/timestamp.ts';
import { brief } from '../durations.ts';
import { type Line, line, piece, type Style } from '../painted.ts';
import { table } from '../table.ts';
import { kubectlHint } from './kubectl-hint.ts';
import type { MemberView, StatusView } from './view.ts';

const barColumns = 21;
const between = piece('   ');
const labelColumns = 'waiting'.length;

/** One cluster with everything that is known of it, a few lines long. */
export function block(view: StatusView, program: string): readonly Line[] {
  const hint = kubectlHint(view, program);
  return [
    header(view),
    ...(view.hold ? [holdLine(view.hold)] : []),
    ...view.warnings.map((warning): Line => line(`  ${warning}`, 'yellow')),
    ...view.notes.map((note): Line => [piece('  '), piece('note'.padEnd(labelColumns), 'yellow'), piece(`  ${note}`)]),
    ...(view.members.length === 0 ? [] : [[], ...membersTable(view.members)]),
    ...lastLine(view),
    ...(hint === null ? [] : [[], line(`  ${hint}`, 'dim')]),
  ];
}

function header({
  name,
  phase,
  complete,
  stalled,
  updated,
  replicas,
  updateRevision,
  rollout,
  members,
}: StatusView): Line {
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

/** Half of a member's part for its new pod, the other half once that has nothing left to prove. */
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

function holdLine({ rule, message, forSeconds }: NonNullable<StatusView['hold']>): Line {
  return [
    piece('  '),
    piece('waiting'.padEnd(labelColumns), 'yellow'),
    piece('  '),
    piece(`${rule}: `, 'bold'),
    piece(message),
    piece(forSeconds === null ? '' : `, for ${brief(forSeconds)}`, 'dim'),
  ];
}

function membersTable(members: readonly MemberView[]): readonly Line[] {
  const rows = members.map(({ name, role, revision, updated, state, verdict, says }): readonly Line[] => [
    line(name, 'bold'),
    line(role, role === 'primary' ? 'magenta' : 'plain'),
    [
      piece(`${revision ?? '-'}  `),
      piece(revision === null ? '' : updated ? 'updated' : 'stale', updated ? 'green' : 'yellow'),
    ],
    line(state, state === 'participating' ? 'green' : state === 'down' || state === 'unreachable' ? 'red' : 'yellow'),
    line(says, tones[verdict as VerdictKind] ?? 'plain'),
  ]);
  return table(['MEMBER', 'ROLE', 'REVISION', 'STATE', 'VERDICT'], rows, '  ');
}

const tones: Readonly<Record<VerdictKind, Style>> = {
  Updated: 'green',
  Starting: 'cyan',
  Next: 'bold',
  Waiting: 'dim',
  KeptBack: 'dim',
  Held: 'dim',
  UpdatedOutOfTurn: 'yellow',
  Leaving: 'cyan',
  Missing: 'cyan',
};

function lastLine({ rollout, last }: StatusView): readonly Line[] {
  if (rollout !== null || last === null) return [];
  const seconds = ((milliseconds(last.finishedAt) ?? 0) - (milliseconds(last.startedAt) ?? 0)) / 1000;
  const count = (number: number, one: string): string => `${number} ${one}${number === 1 ? '' : 's'}`;
  return [
    [],
    line(
      `  last rollout: ${last.outcome} at ${last.finishedAt}, ${brief(seconds)}, ` +
        `${count(last.disruptions, 'disruption')}, ${count(last.switchovers, 'switchover')}`,
      'dim',
    ),
  ];
}
