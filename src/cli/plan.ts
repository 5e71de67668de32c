import { memberName } from '../controller/status.ts';
import { isAskedFor } from '../core/asked-for.ts';
import type { Hold } from '../core/decision.ts';
import { explainHold, explainStep, type MemberName } from '../core/explain.ts';
import { type PlanEntry, plan } from '../core/plan.ts';
import { statefulSetName } from '../moco/projections.ts';
import { type ClusterLook, lookAt } from './cluster-look.ts';
import { clusterNamed } from './clusters.ts';
import type { ClusterCommand } from './command.ts';
import { brief } from './durations.ts';
import { formatOf, outputOption, writeData, writeLines } from './output.ts';
import { type Line, line, piece } from './painted.ts';
import { parseAssumed } from './plan/assumed.ts';
import { type Estimate, estimate } from './plan/estimate.ts';
import { type Session, textOf } from './session.ts';
import { hashOf } from './status/view.ts';

/** What would happen from here on, by the decisions that the controller would take. */
export const planCommand: ClusterCommand = {
  name: 'plan',
  arguments: '<NAME>',
  completes: ['cluster'],
  summary: 'Show what would happen now, step by step, and what it would cost',
  help:
    'Reads the cluster as it is and plays the rollout forward by the rules of the controller, as if pods started and ' +
    'MOCO followed. Nothing is written.',
  options: [
    {
      flags: '--assume <wishes>',
      description: 'play it with other wishes, such as paused=false,maxUnavailable=2 or heldMembers=1+2',
    },
    outputOption,
  ],
  connects: true,
  run: async (session, [name = '']) => {
    const format = formatOf(session.given);
    const assumed = parseAssumed(textOf(session.given['assume']) ?? '');
    const cluster = await clusterNamed(session, name);
    const shown = shownPlan(await lookAt(session, cluster), name, assumed);
    if (format === 'table') writeLines(session.host, lines(shown, session));
    else writeData(session.host, format, shown);
    return 0;
  },
};

interface ShownHold {
  readonly rule: string;
  readonly sentence: string;
}

interface ShownPlan {
  readonly namespace: string;
  readonly name: string;
  readonly mode: string;
  readonly updateRevision: string | null;
  readonly stale: number;
  readonly assumed: object;
  /** What nothing gets past without a person. */
  readonly stopsAt: ShownHold | null;
  readonly stopsWanted: boolean;
  /** Wishes with which it would go on. */
  readonly tryOut: string | null;
  readonly entries: readonly {
    readonly kind: PlanEntry['kind'];
    readonly rule: string | null;
    readonly sentence: string;
  }[];
  readonly switchovers: number;
  readonly estimate: Estimate | null;
  readonly notes: readonly string[];
}

function shownPlan({ gathered, rollout, unread }: ClusterLook, name: string, assumed: object): ShownPlan {
  const look = gathered(assumed);
  const { snapshot, policy, objects } = look;
  const planned = plan(snapshot, policy);
  const nameOf = memberName(look);
  const shownHold = (hold: Hold): ShownHold => ({ rule: hold.rule, sentence: explainHold(hold, nameOf) });
  const { statefulSet, cluster } = objects;
  const revision = statefulSet?.updateRevision ?? '';
  const held = rollout?.status?.hold;
  return {
    namespace: cluster.namespace,
    name,
    mode: policy.mode,
    updateRevision: revision === '' ? null : hashOf(revision, statefulSetName(name)),
    stale: snapshot.members.filter((member) => member.revision !== revision).length,
    assumed,
    stopsAt: planned.stopsAt && shownHold(planned.stopsAt),
    stopsWanted: planned.stopsAt !== null && isAskedFor(planned.stopsAt.rule),
    tryOut: planned.stopsAt && wishThatGoesOn(planned.stopsAt),
    entries: planned.entries.map((entry) => shownEntry(entry, nameOf, shownHold)),
    switchovers: planned.switchovers,
    estimate: estimate(planned, rollout?.status ?? {}),
    notes: [
      ...(rollout?.status?.phase === undefined ? ['no controller has looked at this cluster yet'] : []),
      ...(policy.mode === 'Observe'
        ? ["MOCO's own partition controller drives: this is what it would do, in its own time"]
        : []),
      // Only the controller knows the other clusters.
      ...(held?.rule.startsWith('AwaitingFleet') ? [`before that ${held.rule}: ${held.message}`] : []),
      ...(unread.length === 0 ? [] : [`left out, since you may not read them: ${unread.join(', ')}`]),
    ],
  };
}

function wishThatGoesOn(hold: Hold): string | null {
  switch (hold.rule) {
    case 'Paused':
      return 'paused=false';
    case 'AwaitingApproval':
      return `approvedRevision=${hold.revision}`;
    case 'PrimaryWaitsForHeld':
      return 'heldMembers=';
    case 'PartitionReached':
      return [hold.members.length > 0 ? 'partition=0' : '', hold.held.length > 0 ? 'heldMembers=' : '']
        .filter((wish) => wish !== '')
        .join(',');
    default:
      return null;
  }
}

function shownEntry(
  entry: PlanEntry,
  nameOf: MemberName,
  shownHold: (hold: Hold) => ShownHold,
): ShownPlan['entries'][number] {
  switch (entry.kind) {
    case 'step':
      return {
        kind: 'step',
        rule: 'rule' in entry.step ? entry.step.rule : null,
        sentence: explainStep(entry.step),
      };
    case 'wait':
      return { kind: 'wait', ...shownHold(entry.hold) };
    case 'switchover':
      return {
        kind: 'switchover',
        rule: null,
        sentence: `MOCO moves the primary from ${nameOf(entry.from)} to ${nameOf(entry.to)}`,
      };
  }
}

function lines(shown: ShownPlan, { host }: Session): readonly Line[] {
  const { name, mode, updateRevision, stale, stopsAt, entries, notes, assumed } = shown;
  const assumptions = Object.keys(assumed).length === 0 ? '' : `   assumed: ${JSON.stringify(assumed)}`;
  const steps = entries.filter(({ kind }) => kind !== 'wait').length;
  return [
    [
      piece(name, 'bold'),
      piece(`   ${mode === 'Observe' ? 'MOCO drives' : mode}   ${stale} stale`),
      piece(updateRevision === null ? '' : `   revision ${updateRevision}`),
      piece(assumptions, 'yellow'),
    ],
    ...(stopsAt ? [stopLine(shown, stopsAt)] : []),
    ...notes.map((note): Line => [piece('  note     ', 'yellow'), piece(note)]),
    ...(entries.length === 0 ? [] : [[], ...numbered(entries)]),
    [],
    ...(steps > 0 ? [line(`  ${sum(shown)}`)] : stopsAt === null ? [line('  nothing to do')] : []),
    ...(stopsAt === null ? [] : [line(`  what it means: ${host.program} explain ${stopsAt.rule}`, 'dim')]),
    ...(shown.tryOut === null
      ? []
      : [
          line(
            `  what comes after: ${host.program} plan ${name} -n ${shown.namespace} --assume ${shown.tryOut}`,
            'dim',
          ),
        ]),
  ];
}

function stopLine({ entries, stopsWanted }: ShownPlan, { rule, sentence }: ShownHold): Line {
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

function sum({ switchovers, estimate: time }: ShownPlan): string {
  const cost = `${switchovers === 0 ? 'no' : switchovers} switchover${switchovers === 1 ? '' : 's'}`;
  return time === null
    ? `${cost}; how long it takes is not known before the first rollout`
    : `${cost}; about ${brief(time.seconds)} of members being away, judging by ${time.from}`;
}
