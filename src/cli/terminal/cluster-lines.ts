import type { HistoryEntry } from '../../api/rollout-progress.ts';
import type { VerdictKind } from '../../core/decision.ts';
import { isAlarming, isRequestedByUser, isRoutine, ruleAttributes } from '../../core/rules/catalogue.ts';
import { counted } from '../../core/sentences.ts';
import { byName, nameOf } from '../../kube/store.ts';
import {
  behind,
  brief,
  forSome,
  holdLine,
  type Line,
  line,
  phasePiece,
  piece,
  type Style,
  someOf,
  table,
  tookSeconds,
  wrapped,
} from './lines.ts';
import type { Told } from './live.ts';
import type { ClusterView, MemberView } from './view.ts';

// How `status` shows clusters: a table, the details of one cluster, and a table of holds.

type ClusterColumn = readonly [title: string, cell: (view: ClusterView) => Line];

const first: readonly ClusterColumn[] = [
  ['NAME', ({ name }) => line(name, 'bold')],
  ['PHASE', (view) => [phasePiece(view)]],
  ['STRATEGY', ({ strategy }) => line(strategy ?? '-')],
  ['UPDATED', ({ updated, replicas }) => line(`${updated}/${replicas}`)],
  ['PRIMARY', ({ primary }) => line(primary ?? '-')],
  ['REVISION', ({ updateRevision }) => line(updateRevision ?? '-')],
];

const wideOnly: readonly ClusterColumn[] = [
  ['CURRENT', ({ currentRevision }) => line(currentRevision ?? '-')],
  ['READY', ({ ready, replicas }) => line(`${ready}/${replicas}`)],
  ['PARTICIPATING', ({ participating, replicas }) => line(`${participating}/${replicas}`)],
  ['ROLLOUT AGE', ({ rollout }) => line(rollout === null ? '-' : brief(rollout.forSeconds ?? 0))],
];

const namespace: ClusterColumn = ['NAMESPACE', (view) => line(view.namespace)];
const overridden: ClusterColumn = ['OVERRIDDEN', (view) => line(rulesOverridden(view), 'yellow')];

const rulesOverridden = ({ overridden }: ClusterView): string => overridden.map(({ rule }) => rule).join(', ');

/** If a sentence is longer than this and several clusters share it, it is shown only once, below the table. */
const longestRepeated = 60;

/** A table with one line for each cluster. Below it come the long reasons that several clusters share. */
export function overview(
  views: readonly ClusterView[],
  show: { readonly namespace: boolean; readonly wide: boolean },
): readonly Line[] {
  const byMessage = Map.groupBy(views, ({ hold }) => hold?.message ?? '');
  const shared = [...byMessage].filter(([message, { length }]) => length > 1 && message.length > longestRepeated);
  const waitsFor = ({ hold, notes }: ClusterView): Line => {
    if (hold === null) return line(notes[0] ?? '', 'yellow');
    const at = shared.findIndex(([message]) => message === hold.message);
    return at < 0 ? holdLine(hold) : [piece(`${hold.rule} (${at + 1})`, 'bold'), forSome(hold.forSeconds)];
  };
  const columns: readonly ClusterColumn[] = [
    ...(show.namespace ? [namespace] : []),
    ...first,
    ...(show.wide ? wideOnly : []),
    ...(views.some((view) => view.overridden.length > 0) ? [overridden] : []),
    ['WAITING FOR', waitsFor],
  ];
  return [
    ...table(
      columns.map(([title]) => title),
      views.map((view) => columns.map(([, cell]) => cell(view))),
    ),
    ...shared.flatMap(([message, [one]], at) => [
      ...(at === 0 ? [[]] : []),
      [piece(`(${at + 1}) `), piece(`${one?.hold?.rule}: `, 'bold'), piece(message)],
    ]),
  ];
}

/** Clusters that need a person come first, then the others by urgency and by how long they have waited. */
export function byUrgency(views: readonly ClusterView[]): readonly ClusterView[] {
  return views.toSorted(
    (one, other) => urgencyOf(one) - urgencyOf(other) || waited(other) - waited(one) || byName(one, other),
  );
}

/**
 * Clusters that need a person come first, then clusters in progress, then clusters that wait, then clusters that are up
 * to date.
 */
export function byActivity(views: readonly ClusterView[]): readonly ClusterView[] {
  const rank = (view: ClusterView): number => {
    if (needsAPerson(view)) return 0;
    if (view.hold !== null && view.held && !isRoutine(view.hold.rule)) return 2;
    return view.complete ? 3 : 1;
  };
  return views.toSorted((one, other) => rank(one) - rank(other) || byName(one, other));
}

/** A table of the rules that hold clusters, with the number of clusters, the longest hold, and who ends the hold. */
export function holdTable(views: readonly ClusterView[]): readonly Line[] {
  const byRule = Map.groupBy(byUrgency(views), ({ hold }) => hold?.rule ?? '');
  return table(
    ['HOLD', 'CLUSTERS', 'LONGEST', 'ENDED BY'],
    [...byRule].map(([rule, held]) => [
      line(rule, held.some(needsAPerson) ? 'red' : 'bold'),
      line(String(held.length)),
      line(brief(Math.max(...held.map(waited)))),
      line(ruleAttributes(rule)?.endedBy.join(', ') ?? '-'),
    ]),
  );
}

const needsAPerson = ({ hold, stalled }: ClusterView): boolean => stalled || isAlarming(hold?.rule ?? '');

/** A hold that ends by itself or by a person has usually ended by itself within this time. */
const endsByItselfSeconds = 600;

/**
 * Whether a person has to act before the rollout continues: the cluster is stalled, its hold requires a person, or its
 * hold may require a person and has lasted. Holds that time ends do not count.
 */
export const waitsForPerson = (view: ClusterView): boolean =>
  needsAPerson(view) || (view.hold !== null && view.held && (urgencyOf(view) === 1 || lasts(view)));

function lasts(view: ClusterView): boolean {
  const endedByTime = ruleAttributes(view.hold?.rule ?? '')?.endedBy.includes('time');
  return mayNeedPerson(view) && !endedByTime && waited(view) >= endsByItselfSeconds;
}

/** Whether a person may have to end the hold. Holds that are part of every rollout, or usually brief, do not count. */
function mayNeedPerson({ hold }: ClusterView): boolean {
  const { endedBy = [], brief: isBrief, routine } = ruleAttributes(hold?.rule ?? '') ?? {};
  return endedBy.includes('a person') && !isBrief && !routine;
}

/** A lower number is more urgent: 0 means that the cluster needs a person now. */
function urgencyOf(view: ClusterView): number {
  const rule = view.hold?.rule ?? '';
  if (needsAPerson(view)) return 0;
  const endedBy = ruleAttributes(rule)?.endedBy ?? [];
  if (endedBy.every((who) => who === 'a person')) return 1;
  return isRequestedByUser(rule) ? 3 : 2;
}

const waited = ({ hold }: ClusterView): number => hold?.forSeconds ?? 0;

/** A cluster on one line, without ages. */
export function toldOfCluster(view: ClusterView): readonly Told[] {
  const { phase, updated, replicas, hold, notes, members } = view;
  const key = nameOf(view);
  const waits = hold === null ? notes[0] : `${hold.rule}: ${hold.message}`;
  const verdicts = members.map(({ ordinal, state, verdict }) => `${ordinal} ${state} ${verdict}`).join(', ');
  const rules = rulesOverridden(view);
  const all = [
    key,
    phase,
    `${updated}/${replicas}`,
    waits,
    rules && `overridden: ${rules}`,
    verdicts && `(${verdicts})`,
  ];
  return [{ key, text: all.filter(Boolean).join('  ') }];
}

const barColumns = 21;
const between = piece('   ');
const labelColumns = 'waiting'.length;

/** The maximum number of changed fields to name. */
const mostChanges = 4;

/**
 * Details of one cluster in a few lines. Sentences are wrapped instead of truncated. `isWide` adds the revision
 * of each member's data.
 */
export function block(view: ClusterView, columns = Number.POSITIVE_INFINITY, isWide = false): readonly Line[] {
  const notes = [...view.notes, ...view.overridden.map(({ sentence }) => sentence)];
  const said = (label: string, sentence: string, style: Style): readonly Line[] =>
    wrapped(labelled(label, [], style), sentence, columns);
  return [
    header(view),
    ...(view.hold ? waitingLines(view.hold, columns) : []),
    ...(mayNeedPerson(view) ? said('ends', howToEnd(view), 'yellow') : []),
    ...(view.changes.length === 0 ? [] : said('changes', someOf(view.changes, mostChanges), 'dim')),
    ...view.warnings.flatMap((warning) => wrapped([piece('  ')], warning, columns, 'yellow')),
    ...notes.flatMap((note) => said('note', note, 'yellow')),
    ...view.standing.flatMap(([label, sentence]) => said(label, sentence, 'dim')),
    ...(view.members.length === 0 ? [] : [[], ...membersTable(view.members, isWide, columns)]),
    ...lastLine(view),
  ];
}

/** How the hold ends, from the catalogue of rules, with this cluster in its commands, and its only pinned member. */
function howToEnd({ namespace, name, hold, members }: ClusterView): string {
  const pinned = members.filter(({ verdict }) => verdict === 'Pinned');
  const pod = (pinned.length === 1 && pinned[0]?.name) || 'POD';
  return (ruleAttributes(hold?.rule ?? '')?.ends ?? 'See the message in the line `waiting`.')
    .replaceAll(/\bNAMESPACE\b/g, namespace)
    .replaceAll(/\bNAME\b/g, `${name} -n ${namespace}`)
    .replaceAll(/\bunpin POD\b/g, `unpin ${pod} -n ${namespace}`)
    .replaceAll(/\bpod POD\b/g, `pod POD -n ${namespace}`);
}

function waitingLines(hold: NonNullable<ClusterView['hold']>, columns: number): readonly Line[] {
  const label = [...labelled('waiting', [], 'yellow'), piece(`${hold.rule}: `, 'bold')];
  const [first = [], ...rest] = wrapped(label, hold.message, columns);
  const lines = [first, ...rest];
  return [...lines.slice(0, -1), [...(lines.at(-1) ?? []), forSome(hold.forSeconds)]];
}

function header(view: ClusterView): Line {
  const { name, updated, replicas, updateRevision, rollout } = view;
  const runsFor = rollout?.forSeconds ?? null;
  return [
    piece(name, 'bold'),
    between,
    phasePiece(view),
    between,
    piece(`${updated} of ${replicas} updated`),
    ...(updateRevision === null ? [] : [between, piece('revision ', 'dim'), piece(updateRevision)]),
    ...(runsFor === null ? [] : [between, piece(brief(runsFor))]),
    ...(rollout === null ? [] : [between, ...bar(view)]),
  ];
}

/**
 * A progress bar. A member counts as half once its new pod exists, and as a whole while that pod works. A new primary
 * that waits for its role still works.
 */
function bar({ members, replicas }: ClusterView): Line {
  const shares = members.map(({ updated, verdict, state }) =>
    updated ? (verdict === 'Starting' && state !== 'participating' ? 0.5 : 1) : 0,
  );
  const done = shares.reduce<number>((sum, one) => sum + one, 0);
  const full = replicas === 0 ? 0 : Math.round(Math.min(1, done / replicas) * barColumns);
  return [piece('█'.repeat(full), 'cyan'), piece('░'.repeat(barColumns - full), 'dim')];
}

const labelled = (label: string, text: Line, style: Style): Line => [
  piece('  '),
  piece(label.padEnd(labelColumns), style),
  piece('  '),
  ...text,
];

/** The verdict is in the last column and may be long, so it is wrapped below the title of that column. */
function membersTable(members: readonly MemberView[], isWide: boolean, columns: number): readonly Line[] {
  const isKnown = members.some(({ replication }) => replication !== null);
  const showsMysql = isWide || hasDifferentMysql(members);
  const rows = members.map((member): readonly Line[] => {
    const { name, role, revision, updated, state, replication } = member;
    return [
      line(name, 'bold'),
      line(role, role === 'primary' ? 'magenta' : 'plain'),
      [
        piece(`${revision ?? '-'}  `),
        piece(revision === null ? '' : updated ? 'updated' : 'stale', updated ? 'green' : 'yellow'),
      ],
      line(state, state === 'participating' ? 'green' : state === 'down' || state === 'unreachable' ? 'red' : 'yellow'),
      ...(showsMysql ? [line(mysqldText(member, isWide), member.mysqld === null ? 'dim' : 'plain')] : []),
      ...(isWide ? [dataOf(member)] : []),
      ...(isKnown ? [lag(replication)] : []),
    ];
  });
  const more = [...(showsMysql ? ['MYSQL'] : []), ...(isWide ? ['DATA'] : []), ...(isKnown ? ['BEHIND'] : [])];
  const [titles = [], ...lines] = table(['MEMBER', 'ROLE', 'REVISION', 'STATE', ...more], rows, '  ');
  return [
    [...titles, piece('VERDICT', 'dim')],
    ...members.flatMap(({ says, verdict }, index) =>
      wrapped(lines[index] ?? [], says, columns, tones[verdict as VerdictKind] ?? 'plain'),
    ),
  ];
}

/** Whether members run different versions of mysqld. An unknown version counts as a version of its own. */
export const hasDifferentMysql = (members: readonly Pick<MemberView, 'mysqld'>[]): boolean =>
  new Set(members.map(({ mysqld }) => mysqld?.version)).size > 1;

/** The version of mysqld; with `isWide`, also the source of this information. */
export const mysqldText = ({ mysqld }: Pick<MemberView, 'mysqld'>, isWide: boolean): string =>
  mysqld === null ? 'unknown' : `${mysqld.version}${isWide ? ` (${mysqld.source})` : ''}`;

/**
 * `8.0.40 → 8.4.8`, or a single version if it does not change, or `null` if the versions of the rollout are unknown.
 */
export const mysqlChange = ({ mysql }: Pick<HistoryEntry, 'mysql'>): string | null => {
  const { from, to } = mysql ?? {};
  if (to === undefined) return null;
  return from === undefined || from === to ? to : `${from} → ${to}`;
};

/** The revision and version of the newest mysqld that has used the data of a member. */
function dataOf({ data, revision }: MemberView): Line {
  if (data === null) return line('-', 'dim');
  const version = data.version === undefined ? '' : ` (${data.version})`;
  return line(`${data.revision}${version}`, data.revision === revision ? 'plain' : 'yellow');
}

/** How far a replica is behind the primary: the transactions not yet received, and the transactions not yet applied. */
function lag(replication: MemberView['replication']): Line {
  const isBehind =
    replication !== null &&
    (replication.notReceived !== 0 || replication.notApplied > 0 || replication.problem !== undefined);
  return line(behind(replication), replication === null ? 'dim' : isBehind ? 'yellow' : 'green');
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
  const { outcome, finishedAt, disruptions, switchovers } = last;
  const cost = `${counted(disruptions, 'disruption')}, ${counted(switchovers, 'switchover')}`;
  return [[], line(`  last rollout: ${outcome} at ${finishedAt}, ${brief(tookSeconds(last))}, ${cost}`, 'dim')];
}
