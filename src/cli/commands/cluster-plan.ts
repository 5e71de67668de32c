import { measuredMembers } from '../../controller/facts/maintenance-facts.ts';
import { memberName } from '../../controller/facts/member-name.ts';
import type { ObservedFacts } from '../../controller/pass/collect-facts.ts';
import type { Hold } from '../../core/decision.ts';
import { explainInPlace } from '../../core/in-place.ts';
import { versionNotes } from '../../core/mysqld-data.ts';
import type { RolloutPolicy } from '../../core/policy.ts';
import { explainHold, isForOthers, isRequestedByUser } from '../../core/rules/catalogue.ts';
import type { MemberName } from '../../core/rules/rule.ts';
import { counted, explainStep } from '../../core/sentences.ts';
import { survey } from '../../core/situation.ts';
import { revisionHash } from '../../moco/names.ts';
import { plan } from '../../plan/rollout-plan.ts';
import type { PlanEntry } from '../../plan/simulated-cluster.ts';
import { beginningOf } from '../../plan/simulated-fleet.ts';
import { type ClusterObservation, mysqldNotes, obstaclesOf } from '../cluster/cluster-snapshot.ts';
import type { Session } from '../cluster/session.ts';
import { brief, type Line, line, piece } from '../terminal/lines.ts';
import { overridesInForce } from '../terminal/view.ts';

// The plan of one cluster, as commands show it.

export type ShownPlan = ReturnType<typeof shownPlan>;

/** What commands show of the plan of one cluster. `wall` is the current time, in milliseconds since 1970. */
export function shownPlan(
  { observe, rollout, unread }: ClusterObservation,
  assumed: object,
  wall: number,
  applied: readonly string[],
) {
  const observation = observe(assumed);
  const { snapshot, policy } = observation;
  const { entries, stopsAt, switchovers, members, after } = plan(beginningOf(observation, Math.floor(wall / 1000)));
  const nameOf = memberName(observation);
  const { statefulSet, cluster } = observation.objects;
  const { namespace, name } = cluster;
  const revision = statefulSet?.updateRevision ?? '';
  const held = rollout?.status?.hold;
  const heldBefore = held === undefined ? [] : [`before that ${held.rule}: ${held.message}`];
  const measured = measuredMembers(rollout?.status ?? {});
  return {
    namespace,
    name,
    mode: policy.mode,
    updateRevision: revision === '' ? null : revisionHash(revision, name),
    stale: snapshot.members.filter((member) => member.revision !== revision).length,
    assumed,
    // The hold at which the plan stops, because only a person can end it.
    stopsAt: stopsAt && holdShown(stopsAt, nameOf),
    stopsWanted: stopsAt !== null && isRequestedByUser(stopsAt.rule),
    // Settings with which the rollout would continue.
    tryOut: stopsAt && settingToTryOut(stopsAt),
    // What a person can do, with the command to run.
    remedies: stopsAt === null ? [] : remediesFor(stopsAt, policy.mode, name, nameOf),
    entries: entries.map((entry) => shownEntry(entry, nameOf)),
    switchovers,
    // Members that would otherwise restart twice: their update also moves them off a node that is being taken out of
    // service.
    savedRestarts: savedRestarts(observation),
    // Members that the plan leaves on their present node, and members that can be recreated only on their present node.
    stay: [
      ...after.members.flatMap(({ node, name: pod }) => (node === null ? [] : [pod])),
      ...entries.flatMap((entry) =>
        entry.kind === 'wait' && entry.hold.rule === 'NodeTakesNoPods' ? [nameOf(entry.hold.member)] : [],
      ),
    ],
    // The total time for which members are unavailable, and the number of measurements behind this estimate. `null` if
    // no member has been measured yet.
    estimate: measured && {
      seconds: members * measured.seconds,
      from: counted(measured.members, 'measured member'),
    },
    notes: [
      ...applied,
      ...(rollout?.status?.phase === undefined ? ['no controller has observed this cluster yet'] : []),
      ...(policy.mode === 'MOCO'
        ? ["MOCO's own partition controller updates the cluster: this is what it would do, at its own pace"]
        : []),
      ...snapshot.members.flatMap(({ ordinal, inPlace }) =>
        inPlace === null ? [] : [`${nameOf(ordinal)} is updated ${explainInPlace(inPlace)}`],
      ),
      ...versionsIn(observation, stopsAt?.rule),
      ...obstaclesOf(observation),
      ...overridesInForce(rollout, wall).map(({ sentence }) => sentence),
      // A hold that depends on other clusters is taken from the status, because only the controller knows those
      // clusters.
      ...(held !== undefined && isForOthers(held.rule) ? heldBefore : []),
      ...(held?.rule === 'CheckFailing' || held?.rule === 'CheckUnavailable'
        ? heldBefore
        : snapshot.checks.length > 0
          ? [`Prometheus is not queried: it is assumed that ${snapshot.checks.map(({ name }) => name).join(', ')} pass`]
          : []),
      ...(unread.length === 0 ? [] : [`left out, since you may not read them: ${unread.join(', ')}`]),
    ],
  };
}

function savedRestarts({ snapshot, policy }: ObservedFacts): number {
  if (policy.nodeMaintenance === 'Ignore' && policy.rolloutsDuringMaintenance === 'Proceed') return 0;
  return survey(snapshot, policy).members.filter(({ due, facts }) => due && facts.leaving !== null).length;
}

/** What a user should know about the mysqld versions, unless the hold already explains it. */
const versionsIn = (observation: ObservedFacts, rule: string | undefined): readonly string[] => [
  ...mysqldNotes(observation, rule),
  ...versionNotes(survey(observation.snapshot, observation.policy)),
];

function settingToTryOut(hold: Hold): string | null {
  switch (hold.rule) {
    case 'Paused':
      return 'paused=false';
    case 'AwaitingApproval':
      return `approvedRevision=${hold.revision}`;
    case 'PrimaryWaitsForPinned':
      return 'pinnedMembers=';
    case 'PartitionReached': {
      const settings = [hold.members.length > 0 && 'partition=0', hold.pinned.length > 0 && 'pinnedMembers='];
      return settings.filter(Boolean).join(',');
    }
    default:
      return null;
  }
}

/** Ways to abandon a failing revision: for all members, or only for the member that fails. */
function remediesFor(hold: Hold, mode: RolloutPolicy['mode'], name: string, nameOf: MemberName) {
  if (hold.rule !== 'UpdateRevisionFailing') return [];
  const [purpose, verb] =
    hold.evidence.kind === 'restored'
      ? ['update the restored member again', 'unrestore']
      : ['give only this member its revision back', 'restore'];
  const ofMember = { purpose, command: `${verb} ${nameOf(hold.member)}` };
  const ofTemplate = { purpose: 'restore the earlier template', command: `undo ${name}` };
  return mode === 'OnDelete' ? [ofTemplate, ofMember] : [ofTemplate];
}

function shownEntry(entry: PlanEntry, nameOf: MemberName) {
  const { kind } = entry;
  switch (kind) {
    case 'step':
      return { kind, rule: 'rule' in entry.step ? entry.step.rule : null, sentence: explainStep(entry.step) };
    case 'wait':
      return { kind, ...holdShown(entry.hold, nameOf) };
    case 'switchover':
      return { kind, rule: null, sentence: `MOCO moves the primary from ${nameOf(entry.from)} to ${nameOf(entry.to)}` };
  }
}

const holdShown = (hold: Hold, nameOf: MemberName) => ({ rule: hold.rule, sentence: explainHold(hold, nameOf) });

export function planLines(shown: ShownPlan, { host }: Session): readonly Line[] {
  const { namespace, name, mode, updateRevision, stale, stopsAt, entries, notes, assumed, remedies, tryOut } = shown;
  const assumptions = Object.keys(assumed).length === 0 ? '' : `   assumed: ${JSON.stringify(assumed)}`;
  const hasSteps = entries.some(({ kind }) => kind !== 'wait');
  const hint = (purpose: string, command: string): Line => line(`  ${purpose}: ${host.program} ${command}`, 'dim');
  return [
    [
      piece(name, 'bold'),
      piece(`   ${mode === 'MOCO' ? 'MOCO drives' : mode}   ${stale} stale`),
      piece(updateRevision === null ? '' : `   revision ${updateRevision}`),
      piece(assumptions, 'yellow'),
    ],
    ...(stopsAt ? [stopLine(shown, stopsAt)] : []),
    ...notes.map((note): Line => [piece('  note     ', 'yellow'), piece(note)]),
    ...(entries.length === 0 ? [] : [[], ...numbered(entries)]),
    [],
    ...(hasSteps ? [line(`  ${costText(shown)}`)] : stopsAt === null ? [line('  nothing to do')] : []),
    ...(stopsAt === null ? [] : [hint('what it means', `explain ${stopsAt.rule}`)]),
    ...remedies.map(({ purpose, command }) => hint(purpose, `${command} -n ${namespace}`)),
    ...(tryOut === null ? [] : [hint('what comes after', `plan ${name} -n ${namespace} --assume ${tryOut}`)]),
  ];
}

function stopLine({ entries, stopsWanted }: ShownPlan, { rule, sentence }: ReturnType<typeof holdShown>): Line {
  const where = entries.length === 0 ? 'blocked' : stopsWanted ? 'rests at' : 'stops at';
  return [piece(`  ${where.padEnd(8)} `, stopsWanted ? 'yellow' : 'red'), piece(`${rule}: `, 'bold'), piece(sentence)];
}

function numbered(entries: ShownPlan['entries']): readonly Line[] {
  let number = 0;
  return entries.map(({ kind, rule, sentence }): Line => {
    if (kind === 'wait') return [piece('      '), piece(`wait: ${rule}: ${sentence}`, 'dim')];
    if (kind === 'switchover') return [piece('      '), piece(sentence, 'magenta')];
    number += 1;
    return [piece(`  ${String(number).padStart(2)}. `), piece(sentence)];
  });
}

function costText({ switchovers, savedRestarts: saved, estimate: time }: ShownPlan): string {
  const moves =
    saved === 0
      ? ''
      : `; ${counted(saved, 'member')} updated and moved by the same restart, so ${counted(saved, 'restart')} fewer`;
  const cost = `${switchovers === 0 ? 'no switchovers' : counted(switchovers, 'switchover')}${moves}`;
  return time === null
    ? `${cost}; the duration is unknown before the first rollout`
    : `${cost}; about ${brief(time.seconds)} of unavailable members, judging by ${time.from}`;
}
