import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type Definition, definitions, type Schema } from '../crd.ts';
import { code, table } from './table.ts';

// Every field of MySQLRollout and MySQLRolloutPolicy, in docs/fields.md, as their CRDs describe them.

const inProject = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

export const fieldDocument = inProject('docs/fields.md');

const head = `# Fields

Written by \`hack/docs/field-table.ts\` from the schemas in \`src/api\`. \`kubectl explain mysqlrollout --recursive\` shows the same.
[Concepts](concepts.md#settings-and-where-they-come-from) explains which source of a setting has precedence. The CRDs set no
defaults: \`status.settings\` shows each value in force and its source.
`;

/** The whole document. */
export function fieldReference(): string {
  return [head, ...Object.values(definitions()).toReversed().map(sectionOf)].join('\n');
}

function sectionOf({ spec: { group, names, versions } }: Definition): string {
  return versions
    .map(({ name, schema: { openAPIV3Schema: schema } }) => {
      const parts = Object.entries(schema.properties ?? {})
        .filter(([part]) => part === 'spec' || part === 'status')
        .map(([part, of]) => {
          const rows = fieldsOf(of).map(({ path, schema: field, isRequired }) => [
            code(path),
            typeOf(field) + (isRequired ? ', required' : ''),
            meaningOf(field),
          ]);
          return `### ${code(part)} of ${names.kind}\n\n${meaningOf(of)}\n\n${table(['field', 'type', 'meaning'], rows)}\n`;
        });
      return [`## ${names.kind} (${code(`${group}/${name}`)})\n\n${meaningOf(schema)}\n`, ...parts].join('\n');
    })
    .join('\n');
}

interface Field {
  readonly path: string;
  readonly schema: Schema;
  readonly isRequired: boolean;
}

/** Depth first: a field, then what is in it. */
function fieldsOf({ properties = {}, required = [] }: Schema, prefix = ''): readonly Field[] {
  return Object.entries(properties).flatMap(([name, schema]) => {
    const path = `${prefix}${name}`;
    return [{ path, schema, isRequired: required.includes(name) }, ...inside(schema, path)];
  });
}

function inside(schema: Schema, path: string): readonly Field[] {
  if (schema.items !== undefined) return inside(schema.items, `${path}[]`);
  if (schema.additionalProperties !== undefined) return inside(schema.additionalProperties, `${path}.*`);
  return fieldsOf(schema, `${path}.`);
}

function typeOf(schema: Schema): string {
  if (schema['x-kubernetes-int-or-string']) return 'integer or string';
  if (schema.items !== undefined) return `list of ${typeOf(schema.items)}`;
  if (schema.additionalProperties !== undefined) return `map of ${typeOf(schema.additionalProperties)}`;
  if (schema.enum !== undefined) return schema.enum.map(code).join(', ');
  const { minimum, maximum, format, type = 'anything' } = schema;
  // Only what somebody has chosen: a maximum that is the type's own is none.
  const to = maximum === undefined || maximum >= 2 ** 31 - 1 ? '' : ` to ${maximum}`;
  const range = minimum === undefined ? '' : ` from ${minimum}${to}`;
  return format === 'date-time' ? 'time' : `${type}${range}`;
}

function meaningOf({ description = '', 'x-kubernetes-validations': rules = [] }: Schema): string {
  const refusals = rules.flatMap(({ message }) => (message === undefined ? [] : [`Refused otherwise: ${message}.`]));
  return [description.replaceAll(/\s+/g, ' '), ...refusals].join(' ').trim();
}

if (import.meta.main) await writeFile(fieldDocument, fieldReference());
