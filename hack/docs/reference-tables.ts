import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { rolloutKind } from '../../src/api/rollout.ts';
import { commonFields } from '../../src/api/settings.ts';
import type { Flag } from '../../src/options/flag.ts';
import { featureGates, flags } from '../../src/options/flags.ts';
import { definitions, type Schema } from '../crd.ts';
import { typeOf } from './field-table.ts';
import { code, table } from './table.ts';

export const referenceDocument = fileURLToPath(new URL('../../docs/reference.md', import.meta.url));

const tables: Readonly<Record<string, () => string>> = {
  flags: () => `${flagTable()}\n\n${gateTable()}`,
  settings: () => settingTable((name) => name in commonFields),
  'settings of one cluster': () => settingTable((name) => !(name in commonFields)),
};

/** The document with its tables as the program has them now. Throws where the place of one is missing. */
export function withTables(document: string): string {
  return Object.entries(tables).reduce((text, [name, content]) => {
    const begin = `<!-- ${name}: written by hack/docs/reference-tables.ts -->`;
    const end = `<!-- end of ${name} -->`;
    const [start, stop] = [text.indexOf(begin), text.indexOf(end)];
    if (start === -1 || stop < start) throw new Error(`Expected the document to have "${begin}" and then "${end}".`);
    return `${text.slice(0, start)}${begin}\n${content()}\n${text.slice(stop)}`;
  }, document);
}

function flagTable(): string {
  const rows = Object.values<Flag<unknown>>(flags).map(({ name, defaultText, description }) => {
    const [firstLine = ''] = description.split('\n');
    return [code(`--${name}`), defaultText === '' ? '' : code(defaultText), firstLine.replace(/:$/, '')];
  });
  return table(['flag', 'default', 'meaning'], rows);
}

function gateTable(): string {
  const rows = Object.entries(featureGates).map(([name, { stage, enabledByDefault, description }]) => [
    code(name),
    stage,
    code(String(enabledByDefault)),
    description,
  ]);
  return table(['feature gate', 'stage', 'default', 'meaning'], rows);
}

/** The first sentence of each description; docs/fields.md has the rest. */
function settingTable(isShown: (name: string) => boolean): string {
  const rows = Object.entries(specOf(rolloutKind.kind))
    .filter(([name]) => isShown(name))
    .map(([name, schema]) => {
      const { description = '' } = schema;
      const [, flag, builtIn] =
        /Defaults to (?:the controller's flag (\S+) .*?|(.*?))\.(?: |$)/.exec(description) ?? [];
      const [sentence = ''] = /^.*?\.(?= |$)/.exec(description) ?? [];
      return [code(name), typeOf(schema), flag === undefined ? (builtIn ?? '') : code(flag), sentence];
    });
  return table(['field', 'values', 'default', 'meaning'], rows);
}

function specOf(kind: string): Readonly<Record<string, Schema>> {
  const definition = Object.values(definitions()).find(({ spec }) => spec.names.kind === kind);
  return definition?.spec.versions[0]?.schema.openAPIV3Schema.properties?.['spec']?.properties ?? {};
}

if (import.meta.main) {
  await writeFile(referenceDocument, withTables(await readFile(referenceDocument, 'utf8')));
}
