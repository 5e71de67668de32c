import { measuredMembers } from '../../controller/facts/maintenance-facts.ts';
import { memberName } from '../../controller/facts/member-name.ts';
import type { ObservedFacts } from '../../controller/pass/collect-facts.ts';
import type { Hold } from '../../core/decision.ts';
import { explainInPlace } from '../../core/in-place.ts';
import { explainRefusedOpening } from '../../core/mysql-versions.ts';
import { versionNotes } from '../../core/mysqld-data.ts';
import type { RolloutPolicy } from '../../core/policy.ts';
import { explainHold, isRequestedByUser } from '../../core/rules/catalogue.ts';
import type { MemberName } from '../../core/rules/rule.ts';
import { explainStep } from '../../core/sentences.ts';
import { survey } from '../../core/situation.ts';
import { UsageError } from '../../failure.ts';
import { revisionHash } from '../../moco/projections.ts';
import type { ClusterRecord } from '../../moco/records.ts';
import { plan } from '../../plan/rollout-plan.ts';
import type { PlanEntry } from '../../plan/simulated-cluster.ts';
import { beginningOf } from '../../plan/simulated-fleet.ts';
import { toDecide } from '../check/rights.ts';
import {
  type AssumedChange,
  type ClusterObservation,
  mysqldNotes,
  observeCluster,
  obstaclesOf,
  withNewTemplate,
} from '../cluster/cluster-snapshot.ts';
import { clusterNamed } from '../cluster/clusters.ts';
import { type ManifestChange, manifestChanges } from '../cluster/manifest-changes.ts';
import type { Session } from '../cluster/session.ts';
import { CommandError } from '../command-error.ts';
import { apart, brief, counted, differenceInWords, type Line, line, piece } from '../terminal/lines.ts';
import { writeResult } from '../terminal/output.ts';
import { overridesInForce } from '../terminal/view.ts';
import { clusterCommand, isAboutFleet } from './command.ts';
import { planFleet } from './plan-fleet.ts';
import { fleetOptions, planOptions } from './plan-options.ts';

// The command `plan`.

/** Shows what would happen next, by the same decisions as the controller's. */
export const planCommand = clusterCommand({
  name: 'plan',
  arguments: '[NAME]',
  rights: toDecide,
  summary: 'Show what would happen next, step by step, and what it would cost',
  help:
    'Reads the cluster and simulates the rollout by the rules of the controller, as if pods started and MOCO did its part. ' +
    'Writes nothing. With --filename, dry runs of the API server show what the manifests would change. It knows neither the queue of the fleet nor what only the controller observes.\n\n' +
    'With --fleet, plays the rollouts of all namespaces, or of --namespace and --selector, to their end: when each stage ' +
    'and each cluster would begin and end, from measured times of members, windows, soaks and slots.',
  examples: [
    ['Show the next steps, or what blocks them', 'plan test'],
    ['Show what would happen with other settings', 'plan test --assume=paused=false,maxUnavailable=2'],
    ['Show what would happen if a manifest were applied', 'plan -f orders.yaml'],
    ['Show how long the rollouts of the fleet will take', 'plan --fleet'],
    ['Show how long a change of all manifests would take', 'plan --fleet -f fleet.yaml'],
    ['Show how long a change of every production cluster would take', 'plan --fleet --assume-stale -l env=production'],
  ],
  options: planOptions,
  run: async (session, names, given) => {
    const { host, world } = session;
    const { filename: file, assume: assumed = {}, assumeStale, fleet, output } = given;
    if (file !== undefined && names.length > 0) throw new UsageError('expected either a NAME or --filename, got both');
    if ((file === undefined || fleet) && isAboutFleet(given, names, fleetOptions)) {
      return planFleet(session, file === undefined ? [] : await manifestChanges(session, file), given);
    }
    if (output === 'wide') throw new UsageError('expected --output to be json or yaml without --fleet, got `wide`');
    const plans: ShownPlan[] = [];
    for (const { cluster, change, notes } of await planned(session, file, names, assumeStale)) {
      plans.push(shownPlan(await observeCluster(session, cluster, change), assumed, world.wall(), notes));
    }
    const data = plans.length === 1 ? plans[0] : plans;
    writeResult(host, output, data, () => apart(plans.map((shown) => lines(shown, session))));
    return 0;
  },
});

const noChange = 'applying it would change nothing';
const newTemplate = [
  'MOCO creates another pod template from it: what it restarts is known once MOCO has applied it; a new pod for every member is assumed',
];

/** The named cluster or those in the file, the assumed changes, and sentences about them. */
async function planned(
  session: Session,
  file: string | undefined,
  [name = '']: readonly string[],
  isStale: boolean,
): Promise<
  readonly {
    readonly cluster: ClusterRecord;
    readonly change: AssumedChange | null;
    readonly notes: readonly string[];
  }[]
> {
  if (file === undefined) {
    const cluster = await clusterNamed(session, name);
    return [
      { cluster, change: isStale ? (objects) => withNewTemplate(objects) : null, notes: isStale ? newTemplate : [] },
    ];
  }
  const changes = await manifestChanges(session, file);
  if (changes.length === 0) throw new CommandError(`there is nothing to plan: no MySQLCluster in ${file} exists`);
  return changes.map(({ cluster, differences, changesTemplate, mysqld }) => ({
    cluster,
    change: (objects) => {
      const after = { ...objects, cluster };
      return changesTemplate ? withNewTemplate(after, mysqld.after) : after;
    },
    notes: [
      ...refusedWay(mysqld),
      ...differences.map((one) => `would change spec.${differenceInWords(one)}`),
      ...(changesTemplate
        ? newTemplate
        : [differences.length === 0 ? noChange : 'none of it changes the pod template']),
    ],
  }));
}

/** The mysqld that the MySQLCluster requests now may already have opened the data, no matter what is running. */
function refusedWay({ before, after }: ManifestChange['mysqld']): readonly string[] {
  const [data, mysqld] = [before.version?.version, after.version?.version];
  const why = data === undefined || mysqld === undefined ? null : explainRefusedOpening(data, mysqld);
  return why === null ? [] : [`at risk: ${why}`];
}

type ShownPlan = ReturnType<typeof shownPlan>;

function shownPlan(
  { observe, rollout, unread }: ClusterObservation,
  assumed: object,
  wall: number,
  applied: readonly string[],
) {
  const observation = observe(assumed);
  const { snapshot, policy } = observation;
  const { entries, stopsAt, switchovers, members } = plan(beginningOf(observation, Math.floor(wall / 1000)));
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
    // The hold that only a person can end.
    stopsAt: stopsAt && holdShown(stopsAt, nameOf),
    stopsWanted: stopsAt !== null && isRequestedByUser(stopsAt.rule),
    // Settings with which the rollout would continue.
    tryOut: stopsAt && settingToTryOut(stopsAt),
    // What a person can do, with the command for it.
    remedies: stopsAt === null ? [] : remediesFor(stopsAt, policy.mode, name, nameOf),
    entries: entries.map((entry) => shownEntry(entry, nameOf)),
    switchovers,
    // How long members are unavailable in total, and what that is based on. `null` if no member was measured yet.
    estimate: measured && {
      seconds: members * measured.seconds,
      from: counted(measured.members, 'measured member'),
    },
    notes: [
      ...applied,
      ...(rollout?.status?.phase === undefined ? ['no controller has observed this cluster yet'] : []),
      ...(policy.mode === 'MOCO'
        ? ["MOCO's own partition controller drives: this is what it would do, at its own pace"]
        : []),
      ...snapshot.members.flatMap(({ ordinal, inPlace }) =>
        inPlace === null ? [] : [`${nameOf(ordinal)} is updated ${explainInPlace(inPlace)}`],
      ),
      ...versionsIn(observation, stopsAt?.rule),
      ...obstaclesOf(observation),
      ...overridesInForce(rollout, wall).map(({ sentence }) => sentence),
      // Only the controller knows the other clusters.
      ...(held?.rule.startsWith('AwaitingFleet') ? heldBefore : []),
      ...(held?.rule === 'CheckFailing' || held?.rule === 'CheckUnavailable'
        ? heldBefore
        : snapshot.checks.length > 0
          ? [`Prometheus is not asked: it is assumed that ${snapshot.checks.map(({ name }) => name).join(', ')} pass`]
          : []),
      ...(unread.length === 0 ? [] : [`left out, since you may not read them: ${unread.join(', ')}`]),
    ],
  };
}

/** What a user should know about the mysqld versions, unless the hold explains it. */
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

/** A failing revision can be abandoned by all members, or only by the member that fails. */
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

function lines(shown: ShownPlan, { host }: Session): readonly Line[] {
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

function costText({ switchovers, estimate: time }: ShownPlan): string {
  const cost = `${switchovers === 0 ? 'no' : switchovers} switchover${switchovers === 1 ? '' : 's'}`;
  return time === null
    ? `${cost}; the duration is unknown before the first rollout`
    : `${cost}; about ${brief(time.seconds)} of unavailable members, judging by ${time.from}`;
}
