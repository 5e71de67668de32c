import { type Line, piece, type Style } from '../../src/cli/painted.ts';
import { exactly } from './durations.ts';
import { type Absence, lasted, type Measure, type Switchover } from './measure.ts';
import { isBack, isUpdated, type Sight, shortRevision } from './sight.ts';

/** One thing that happened, as a line tells it. */
export interface Happening {
  readonly kind: 'event' | 'hold';
  /** Since the template change was sent. */
  readonly afterMilliseconds: number;
  /** Whom it is about: a member, or `waiting`. */
  readonly subject: string;
  readonly sentence: string;
  readonly style: Style;
}

interface Moment {
  readonly sight: Sight;
  readonly measure: Measure;
}

const waiting = 'waiting';
const subjectColumns = 12;
const timeColumns = 8;

export function happeningLine({ afterMilliseconds, subject, sentence, style }: Happening): Line {
  return [
    piece(`${exactly(afterMilliseconds).padStart(timeColumns)}  `, 'dim'),
    piece(`${subject.padEnd(subjectColumns)}  `),
    piece(sentence, style),
  ];
}

/** What has happened between one sight and the next, the order of causes. */
export function happenings(before: Moment, after: Moment): readonly Happening[] {
  const afterMilliseconds = after.sight.atMilliseconds - after.measure.beganMilliseconds;
  return [
    ...revisionChange(before, after),
    ...absenceEnds(before, after),
    ...switchoverChanges(before, after),
    ...absenceBegins(before, after),
    ...newPods(before, after),
    ...holdChange(before, after),
    ...completion(before, after),
  ].map(([subject, sentence, style]) => {
    return { kind: subject === waiting ? 'hold' : 'event', afterMilliseconds, subject, sentence, style };
  });
}

type Told = readonly [subject: string, sentence: string, style: Style];

function nameOf({ members }: Sight, ordinal: number): string {
  return members.find((member) => member.ordinal === ordinal)?.name ?? `member ${ordinal}`;
}

function* revisionChange(before: Moment, { sight }: Moment): Generator<Told> {
  if (sight.updateRevision === before.sight.updateRevision) return;
  const stale = sight.members.filter((member) => !isUpdated(member, sight)).length;
  const revision = shortRevision(sight.updateRevision);
  yield [sight.name, `revision ${revision} is to roll out, ${stale} of ${sight.members.length} members stale`, 'bold'];
}

function* absenceBegins(before: Moment, { sight, measure }: Moment): Generator<Told> {
  for (const { name, ordinal, fromMilliseconds } of measure.absences) {
    if (before.measure.absences.some((known) => sameBeginning(known, { ordinal, fromMilliseconds }))) continue;
    yield [name, verbFor(name, sight), 'plain'];
  }
}

function sameBeginning(known: Absence, { ordinal, fromMilliseconds }: Pick<Absence, 'ordinal' | 'fromMilliseconds'>) {
  return known.ordinal === ordinal && known.fromMilliseconds === fromMilliseconds;
}

/** The intent is written down before the step, so it is known here before its pod leaves. */
function verbFor(name: string, { status }: Sight): string {
  const intended = status?.intent?.pods.some((pod) => pod.name === name) ? status.intent.step : null;
  const done = status?.lastStep?.pods.includes(name) ? status.lastStep.step : null;
  const step = intended ?? done;
  return step === 'evict' ? 'is evicted' : step === 'delete' ? 'is deleted' : 'leaves';
}

function* newPods(before: Moment, { sight }: Moment): Generator<Told> {
  for (const member of sight.members) {
    const known = before.sight.members.find(({ ordinal }) => ordinal === member.ordinal);
    if (member.uid === null || known === undefined || known.uid === member.uid) continue;
    yield [member.name, `starts at revision ${shortRevision(member.revision ?? '')}`, 'plain'];
  }
}

function* absenceEnds(before: Moment, { sight, measure }: Moment): Generator<Told> {
  const done = sight.members.filter((member) => isUpdated(member, sight) && isBack(member)).length;
  for (const absence of measure.absences) {
    const took = lasted(absence);
    const known = before.measure.absences.find((candidate) => sameBeginning(candidate, absence));
    if (took === null || known === undefined || known.toMilliseconds !== null) continue;
    yield [absence.name, `is back after ${exactly(took)}: ${done} of ${sight.members.length} updated`, 'green'];
  }
}

function* switchoverChanges(before: Moment, { sight, measure }: Moment): Generator<Told> {
  for (const [index, move] of measure.switchovers.entries()) {
    const known = before.measure.switchovers[index];
    const from = nameOf(sight, move.from);
    if (known === undefined) yield [from, askedSentence(sight, move), 'magenta'];
    if (move.to !== null && (known?.to ?? null) === null) {
      yield [nameOf(sight, move.to), `is primary now, and MOCO settles the roles`, 'magenta'];
    }
    const took = lasted(move);
    if (took !== null && (known?.toMilliseconds ?? null) === null) {
      yield [sight.name, `switchover to ${nameOf(sight, move.to ?? -1)} done after ${exactly(took)}`, 'green'];
    }
  }
}

function askedSentence({ members }: Sight, { from }: Switchover): string {
  const leaving = members.some(({ ordinal, leaving: leaves }) => ordinal === from && leaves);
  return leaving ? 'is primary and leaves: MOCO has to switch over' : 'is asked to hand over as primary (demote)';
}

function* holdChange({ sight: earlier }: Moment, { sight }: Moment): Generator<Told> {
  const hold = sight.status?.hold;
  const known = earlier.status?.hold;
  if (hold === undefined || (hold.rule === known?.rule && hold.message === known.message)) return;
  yield [waiting, `${hold.rule}: ${hold.message}`, 'dim'];
}

function* completion(before: Moment, { sight }: Moment): Generator<Told> {
  if (before.sight.complete || !sight.complete) return;
  yield [
    sight.name,
    `complete: ${sight.members.length} of ${sight.members.length} members updated and participating`,
    'green',
  ];
}
