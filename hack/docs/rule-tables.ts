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
import { code, table } from './table.ts';

/** What documents say about rules, from the catalogue in src/core/rules: sections by document. */
export const ruleSections: Readonly<Record<string, () => Sections>> = {
  'src/core/SPEC.md': () => ({
    'on-delete': procedureTable(onDelete),
    effects: gateTable(),
    partition: procedureTable(partition),
    mocoDrives: procedureTable(mocoDrives),
    'undemote reasons': undemoteTable(),
    holds: holdTable(),
  }),
  'docs/runbooks/README.md': () => ({ rules: alertTable() }),
  'docs/rules.md': () => ({ rules: ruleReference() }),
};

const groups = Object.keys(ruleGroups) as readonly RuleGroup[];

function holdTable(): string {
  const rows = groups.flatMap((group) => [
    [`**${ruleGroups[group].title}**`, '', ''],
    ...rulesOf(group).map((rule) => [
      code(rule),
      `${isOverridable(rule) ? '◇ ' : ''}${rules[rule].meaning}`,
      rules[rule].endedBy.join(', '),
    ]),
  ]);
  return table(['rule', 'meaning', 'ended by'], rows);
}

function procedureTable(procedure: Procedure): string {
  const rows = Object.entries(procedure).map(([name, { takes, yields }]) => [
    code(name),
    takes,
    yields ? 'yields' : '',
  ]);
  return table(['line', 'candidates', 'if none may go'], rows);
}

function gateTable(): string {
  const rows = Object.entries(effectKinds).map(([kind, meaning]) => [
    code(kind),
    meaning,
    gates[kind as EffectKind].map(code).join(', '),
  ]);
  return table(['effect', 'what happens', 'rules that must not hold'], rows);
}

function undemoteTable(): string {
  return table(
    ['reason', 'when'],
    Object.entries(undemoteReasons).map(([reason, { when }]) => [code(reason), when]),
  );
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
