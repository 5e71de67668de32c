import * as c from './cells.ts';
import type { Verdict } from './decisions.ts';
import * as facts from './facts.ts';
import type { Counterexample } from './findings.ts';
import { memberName } from './view.ts';

const names = (of: Readonly<Record<string, number>>): readonly string[] => {
  const list: string[] = [];
  for (const [name, value] of Object.entries(of)) list[value] = name.toLowerCase();
  return list;
};
const healthNames = names(c.Health);
const phaseNames = names(c.Phase);
const demoteNames = [
  'no demote',
  'our demote',
  "somebody's demote",
  'our mark alone',
  'our demote for another revision',
];
const statusNames = ['neither Available nor Healthy', 'Available, not Healthy', 'Healthy'];
const leadNames = [
  'writes are open',
  'writes are closed',
  'nobody follows the new primary yet',
  'replicas follow the new primary',
];

const windowWords = [
  'a maintenance window opens',
  'the maintenance window is too short for a switchover',
  'the maintenance window closes',
];

const newPodsWords = [
  'new pods are to come up at the update revision',
  'the label asks for the current revision, and the strategy is OnDelete',
  'new pods are to come up at the current revision',
];

const others: readonly (readonly [at: number, say: (value: number) => string])[] = [
  [c.INDEX, (value) => `MOCO moves the primary index to ${value}`],
  [c.STATUS, (value) => `MOCO writes that the cluster is ${statusNames[value]}`],
  [c.LEAD, (value) => leadNames[value] ?? ''],
  [c.PHASE, (value) => `MOCO is ${phaseNames[value]}`],
  [c.GRACE, (value) => (value === 1 ? 'failoverGraceSeconds pass' : '')],
  [c.TIMEOUT, (value) => (value === 1 ? 'switchoverTimeoutSeconds pass' : '')],
  [c.WAITED, (value) => (value === 1 ? 'the next try may come' : '')],
  [c.STUCK, (value) => (value === 1 ? 'progressDeadlineSeconds pass' : '')],
  [c.OPEN, (value) => (value === 1 ? 'the budget opens' : 'the budget closes')],
  [c.BACKUP, (value) => ['the backup ends', 'a backup begins', 'MOCO closes the budget for it'][value] ?? ''],
  [c.PREVENT, (value) => `members with prevent-delete, as bits: ${value}`],
  ...Array.from({ length: c.mostMembers }, (_, ordinal): readonly [at: number, say: (value: number) => string] => [
    c.RESIZE + ordinal,
    (value) => `resize of member ${ordinal}: ${Object.keys(c.Resize)[value] ?? value}`,
  ]),
  [c.TOP, (value) => (value === 0 ? 'nobody is ahead any more' : `${memberName(value - 1)} has received the most`)],
  [c.HALTED, (value) => (value === 1 ? 'the threads of that replica are stopped' : '')],
  [c.GONE, (value) => `members whose node never comes back, as bits: ${value}`],
  [c.AGENTLESS, (value) => `members without an agent, as bits: ${value}`],
  [c.BROKEN, (value) => `replicas that MOCO fails to configure, as bits: ${value}`],
  [c.CORDONED, (value) => `members whose node takes no pods, as bits: ${value}`],
  [c.CLAIMS, (value) => `members whose claim is being deleted, as bits: ${value}`],
  [c.DELAYED, (value) => (value === 1 ? 'replicas are behind' : 'replicas have caught up')],
  [c.RESTARTING, (value) => `members of which a container has still to restart, as bits: ${value}`],
  [c.UPSTREAM, (value) => `the upstream is ${value === c.Upstream.Away ? 'away' : 'back'}`],
  [c.ERRANT, (value) => `errant replicas, as bits: ${value}`],
  [c.WANTED, (value) => `the user asks for template ${value}`],
  [c.STAGE, (value) => (value === c.Stage.Applied ? 'MOCO applies it' : '')],
  [c.TARGET, (value) => `the update revision is ${value}`],
  [c.WINDOW, (value) => windowWords[value] ?? ''],
  [c.PAUSED, (value) => (value === 1 ? 'the user pauses' : 'the user resumes')],
  [c.HELD, (value) => (value === 1 ? 'the user holds the highest ordinal' : 'the user lets it go')],
  [c.APPROVED, (value) => (value === 1 ? 'the user approves the primary' : '')],
  [c.PARTITION, (value) => `the partition is ${value}`],
  [c.SCALE, (value) => (value === c.Scale.Asked ? 'the user asks for two more members' : 'the StatefulSet gets them')],
  [c.NEW_PODS, (value) => newPodsWords[value] ?? ''],
  [
    c.FOLLOWS,
    (value) => `the StatefulSet controller creates pods at the ${value === 1 ? 'current' : 'update'} revision`,
  ],
  [c.CURRENT, (value) => `the current revision is ${value}`],
  [c.WAITING, (value) => `noted as waiting, as bits: ${value}`],
  [c.CREATED, (value) => `noted as created while held, as bits: ${value}`],
  [c.STARTED, (value) => `noted as started since, as bits: ${value}`],
  [
    c.RESTORE,
    (value) => (value === 1 ? 'the user wants the highest ordinal back' : 'the user no longer wants it back'),
  ],
  [c.VERIFIED, (value) => (value === 1 ? 'the revision is noted as verified' : '')],
  [
    c.INTENT,
    (value) => (value === 0 ? 'no intent is left' : 'an intent is written down, and its author dies or is slow'),
  ],
];

/** A counterexample as a short story: one line for what changed at each step, nothing said twice. */
export function tell({ path, window, invariant, verdict }: Counterexample): readonly string[] {
  const [first] = path;
  if (first === undefined) return [];
  const lines = [
    `everything is well and stale, ${memberName(first[c.INDEX] as number)} is primary${first[c.BAD] === 0 ? '' : ', and the new revision never starts'}`,
  ];
  for (let at = 1; at < path.length; at++) lines.push(changes(path[at - 1] as c.Cells, path[at] as c.Cells));
  lines.push('a confirmation begins');
  for (let at = 1; at < window.length; at++)
    lines.push(`meanwhile ${changes(window[at - 1] as c.Cells, window[at] as c.Cells)}`);
  lines.push(`${decided(verdict)}: ${invariant} is broken`);
  return lines;
}

/** What is different in the second state. */
export function changes(before: c.Cells, after: c.Cells): string {
  const said: string[] = [];
  for (let ordinal = 0; ordinal < c.mostMembers; ordinal++) {
    const name = memberName(ordinal);
    const [was, is] = [facts.healthOf(before, ordinal), facts.healthOf(after, ordinal)];
    if (was !== is) {
      const revision = was === c.Health.Missing ? ` at revision ${after[c.REVISION + ordinal]}` : '';
      said.push(`${name} is ${healthNames[is]}${revision}`);
    }
    if (
      before[c.SETTLED + ordinal] !== after[c.SETTLED + ordinal] &&
      is !== c.Health.Missing &&
      !facts.isTerminating(after, ordinal)
    ) {
      said.push(`${name}'s role label is ${after[c.SETTLED + ordinal] === 1 ? 'right' : 'wrong'}`);
    }
    const demote = after[c.DEMOTE + ordinal] as number;
    if (before[c.DEMOTE + ordinal] !== demote && !facts.isTerminating(after, ordinal))
      said.push(`${name} has ${demoteNames[demote]}`);
  }
  for (const [at, say] of others) {
    if (before[at] !== after[at]) said.push(say(after[at] as number));
  }
  const sentence = said.filter((part) => part !== '').join(', ');
  return sentence === '' ? 'the controller writes down what it has seen' : sentence;
}

/** A decision in words. */
export function decided({ kind, targets, rule, hold, newPods, promotes }: Verdict): string {
  if (kind === 'none') return hold === null ? 'nothing is decided, and nothing said' : `the controller waits: ${hold}`;
  if (newPods !== null) return `${kind} ${newPods}`;
  if (promotes !== null) return `${kind} ${promotes}`;
  const members = [...Array(c.mostMembers).keys()].filter((ordinal) => (targets & c.bit(ordinal)) !== 0);
  return `${kind} ${members.map(memberName).join(', ')}${rule === null ? '' : ` (${rule})`}`;
}
