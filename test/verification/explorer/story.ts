import * as c from './cells.ts';
import type { Verdict } from './decisions.ts';
import * as facts from './facts.ts';
import type { Counterexample } from './findings.ts';
import { memberName } from './view.ts';

const healthNames = c.namesOf(c.Health);
const demoteNames = [
  'no demote',
  'our demote',
  "another program's demote",
  'our mark alone',
  'our demote for another revision',
  'our demote for its node',
  'our mark for its node alone',
];
/** A counterexample as a short story: one line for what changed at each step, nothing said twice. */
export function tell({ path, window, invariant, verdict }: Counterexample): readonly string[] {
  const [first] = path;
  if (first === undefined) return [];
  const lines = [
    `everything is well${first[c.REVISION] === first[c.TARGET] ? '' : ' and stale'}, ${memberName(first[c.INDEX] as number)} is primary${first[c.BAD] === 0 ? '' : ', and the new revision never starts'}`,
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
  for (const { at, say, isOfEach } of c.cells) {
    for (let ordinal = 0; ordinal < (isOfEach ? c.mostMembers : 1); ordinal++) {
      if (before[at + ordinal] === after[at + ordinal]) continue;
      const words = say?.(after[at + ordinal] as number);
      if (words !== undefined) said.push(isOfEach ? `${memberName(ordinal)} ${words}` : words);
    }
  }
  const sentence = said.join(', ');
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
