import { onDelete } from '../../src/core/candidates/on-delete.ts';
import { mocoDrives, partition } from '../../src/core/candidates/partition.ts';
import type { Procedure } from '../../src/core/decision.ts';
import { type EffectKind, effectKinds } from '../../src/core/effects.ts';
import { gates } from '../../src/core/gates.ts';
import {
  alertOf,
  type HoldRule,
  isOverridable,
  type RuleGroup,
  ruleGroups,
  rules,
  rulesOf,
} from '../../src/core/rules/catalogue.ts';
import { undemoteReasons } from '../../src/core/step.ts';
import type { Sections } from './sections.ts';
import { code, definitionList, table } from './table.ts';

// Writes the parts of documents that describe rules.

/** The generated sections about rules, by document, from the catalogue in `src/core/rules`. */
export const ruleSections: Readonly<Record<string, () => Sections>> = {
  'src/core/SPEC.md': () => ({
    'on-delete': procedureList(onDelete),
    effects: gateList(),
    partition: procedureList(partition, onDelete),
    mocoDrives: procedureList(mocoDrives, onDelete),
    'undemote reasons': undemoteList(),
    holds: holdList(),
  }),
  'docs/runbooks/README.md': () => ({ rules: alertTable() }),
  'docs/rules.md': () => ({ rules: ruleReference() }),
};

const groups = Object.keys(ruleGroups) as readonly RuleGroup[];

/** The list of holds, without the details that docs/rules.md contains. */
function holdList(): string {
  return definitionList(
    groups.map((group) => [
      `*${group}*`,
      `${ruleGroups[group].title}. ${rulesOf(group)
        .map((rule) => `${code(rule)}${isOverridable(rule) ? ' ◇' : ''}`)
        .join(', ')}`,
    ]),
  );
}

/** @param described a procedure that the document has already described. Its lines are not repeated. */
function procedureList(procedure: Procedure, described: Procedure = {}): string {
  return definitionList(
    Object.entries(procedure).map(([name, line]) => [
      code(name),
      line === described[name] ? 'as under OnDelete' : `${line.takes}.${line.yields ? ' *Yields.*' : ''}`,
    ]),
  );
}

function gateList(): string {
  return definitionList(
    Object.entries(effectKinds).map(([kind, meaning]) => {
      const needed = abbreviated(gates[kind as EffectKind]);
      return [code(kind), needed.length === 0 ? meaning : `${meaning}. Not while ${needed.join(', ')}`];
    }),
  );
}

/** Names a whole group instead of its rules if at most a few of them are missing. */
function abbreviated(names: readonly HoldRule[]): readonly string[] {
  const found = groups.flatMap((group) => {
    const all = rulesOf(group);
    const missing = all.filter((rule) => !names.includes(rule));
    if (all.length === 1 || missing.length > all.length / 3) return [];
    const except = missing.length === 0 ? '' : ` (except ${missing.map(code).join(', ')})`;
    return [{ rules: all, text: `*${group}*${except}` }];
  });
  const isCovered = (rule: HoldRule): boolean => found.some(({ rules: all }) => all.includes(rule));
  return [...found.map(({ text }) => text), ...names.filter((rule) => !isCovered(rule)).map(code)];
}

function undemoteList(): string {
  return definitionList(Object.entries(undemoteReasons).map(([reason, { when }]) => [code(reason), when]));
}

function alertTable(): string {
  const rows = groups.flatMap(rulesOf).map((rule) => {
    const alert = alertOf(rule);
    return [
      `[${code(rule)}](../rules.md#${rule.toLowerCase()})`,
      alert === null ? `none: requested by ${rules[rule].requestedBy}` : `[${alert}](${alert}.md)`,
    ];
  });
  return table(['rule', 'alert'], rows);
}

function ruleReference(): string {
  return groups
    .map((group) => [`\n## ${ruleGroups[group].title}`, ...rulesOf(group).map(ruleSection)].join('\n\n'))
    .join('\n');
}

function ruleSection(name: HoldRule): string {
  const { meaning, details, endedBy, ends, overridable, overriding, requestedBy } = rules[name];
  const alert = alertOf(name);
  return [
    `### ${name}`,
    '',
    details === undefined ? meaning : `${meaning} ${details}`,
    '',
    `- Ended by: ${endedBy.join(', ')}.`,
    `- How it ends: ${ends}`,
    `- Can be overridden: ${overridable ? `yes, \`kubectl moco-rollout override NAME ${name} --for 30m --reason …\`` : 'no'}.${overriding === undefined ? '' : ` ${overriding}.`}`,
    alert === null
      ? `- Alert: none, since it is requested by ${requestedBy}.`
      : `- Alert: [${alert}](runbooks/${alert}.md).`,
  ].join('\n');
}
