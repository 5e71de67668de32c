import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';
import { definitions } from './crd.ts';
import { demoPicture } from './docs/demo-picture.ts';
import { fieldReference } from './docs/field-table.ts';
import { mistakeSections } from './docs/mistake-tables.ts';
import { rulesOfPrometheus, withHolds } from './docs/prometheus-rules.ts';
import { questionSections } from './docs/question-tables.ts';
import { referenceSections } from './docs/reference-tables.ts';
import { roleFiles, securitySections } from './docs/roles.ts';
import { ruleSections } from './docs/rule-tables.ts';
import { withSections } from './docs/sections.ts';
import { withFlags } from './helm-schema.ts';

type Write = (before: string) => string;

const crds = Object.entries(definitions()).map(([name, definition]): readonly [string, Write] => [
  `config/crd/${name}`,
  () => stringify(definition, { lineWidth: 120, aliasDuplicateObjects: false }),
]);

const documents = Object.entries({ ...ruleSections, ...questionSections }).map(
  ([path, sections]): readonly [string, Write] => [path, (before) => withSections(before, sections())],
);

/** Every file that is generated from the code or has generated sections, by its path in the project. */
const files: readonly (readonly [path: string, Write])[] = [
  ...crds,
  ['config/helm/moco-rollout/values.schema.json', withFlags],
  ['config/prometheus/prometheus-rule.yaml', withHolds],
  ...Object.entries(roleFiles),
  ['docs/fields.md', fieldReference],
  ['docs/reference.md', (before) => withSections(before, referenceSections())],
  ['test/verification/mistakes/README.md', (before) => withSections(before, mistakeSections())],
  ...documents,
];

const policies = ['', '-evictions', '-deletions', '-pods'].map((name) => `config/rbac/controller-policy${name}.yaml`);

/** The messages with which the controller's policies refuse a write, in order. */
async function messagesOfPolicies(): Promise<readonly string[]> {
  const texts = await Promise.all(policies.map((path) => readFile(inProject(path), 'utf8')));
  return texts.flatMap((text) =>
    (parse(text) as { spec: { validations: { message: string }[] } }).spec.validations.map(({ message }) => message),
  );
}

const inProject = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));

/** The current text of each file (`now`), and the text that it should have (`due`). */
export async function generatedFiles(): Promise<ReadonlyMap<string, { readonly now: string; readonly due: string }>> {
  const texts = new Map<string, { readonly now: string; readonly due: string }>();
  for (const [path, write] of files) {
    const now = await readFile(inProject(path), 'utf8');
    texts.set(path, { now, due: write(now) });
  }
  const security = 'docs/security.md';
  const written = await readFile(inProject(security), 'utf8');
  texts.set(security, { now: written, due: withSections(written, securitySections(await messagesOfPolicies())) });
  const picture = 'docs/drawings/demo.svg';
  texts.set(picture, { now: await readFile(inProject(picture), 'utf8'), due: await demoPicture() });
  const rules = 'config/prometheus/rules.yml';
  const source = texts.get('config/prometheus/prometheus-rule.yaml')?.due ?? '';
  return texts.set(rules, { now: await readFile(inProject(rules), 'utf8'), due: rulesOfPrometheus(source) });
}

if (import.meta.main) {
  for (const [path, { now, due }] of await generatedFiles()) if (due !== now) await writeFile(inProject(path), due);
}
