import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { onDelete } from '../../src/core/candidates/on-delete.ts';
import { mocoDrives, partition } from '../../src/core/candidates/partition.ts';
import type { Procedure } from '../../src/core/decision.ts';
import { type EffectKind, effectKinds } from '../../src/core/effects.ts';
import { gates } from '../../src/core/gates.ts';
import {
  alertOf,
  groupTitles,
  type HoldRule,
  isOverridable,
  type RuleGroup,
  ruleGroups,
  rules,
} from '../../src/core/rules/catalogue.ts';
import { undemoteReasons } from '../../src/core/step.ts';
import { code, table } from './table.ts';

// Writes what documents say about rules from the catalogue in src/core/rules.

const inProject = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

interface Section {
  readonly name: string;
  readonly text: string;
}

/** Documents that people write, with the sections that are written from the catalogue. */
const documents: Readonly<Record<string, () => readonly Section[]>> = {
  'src/core/SPEC.md': () => [
    { name: 'on-delete', text: procedureTable(onDelete) },
    { name: 'effects', text: gateTable() },
    { name: 'partition', text: procedureTable(partition) },
    { name: 'mocoDrives', text: procedureTable(mocoDrives) },
    { name: 'undemote reasons', text: undemoteTable() },
    { name: 'holds', text: holdTable() },
  ],
  'docs/runbooks/README.md': () => [{ name: 'rules', text: alertTable() }],
  'docs/rules.md': () => [{ name: 'rules', text: ruleReference() }],
};

/** Each document by its path, as the catalogue has it now. */
export async function ruleDocuments(): Promise<ReadonlyMap<string, string>> {
  const written = Object.entries(documents).map(async ([path, sections]) => {
    const before = await readFile(inProject(path), 'utf8');
    return [inProject(path), sections().reduce(withSection, before)] as const;
  });
  return new Map(await Promise.all(written));
}

/** Throws where the document has no place for the section. */
export function withSection(document: string, { name, text }: Section): string {
  const begin = `<!-- ${name}: written by hack/docs/rule-tables.ts -->`;
  const end = `<!-- end of ${name} -->`;
  const [start, stop] = [document.indexOf(begin), document.indexOf(end)];
  if (start === -1 || stop < start) throw new Error(`Expected the document to have "${begin}" and then "${end}".`);
  return `${document.slice(0, start)}${begin}\n${text}\n${document.slice(stop)}`;
}

const groups = Object.keys(ruleGroups) as readonly RuleGroup[];
const rulesOf = (group: RuleGroup): readonly HoldRule[] => Object.keys(ruleGroups[group]) as HoldRule[];

function holdTable(): string {
  const rows = groups.flatMap((group) => [
    [`**${groupTitles[group]}**`, '', ''],
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
    .map((group) => [`\n## ${groupTitles[group]}`, ...rulesOf(group).map(ruleSection)].join('\n\n'))
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

if (import.meta.main) {
  for (const [path, text] of await ruleDocuments()) await writeFile(path, text);
}
