import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { code, table } from './table.ts';

// Every field of MySQLRollout and MySQLRolloutPolicy, in docs/fields.md, as their CRDs describe them.

const inProject = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

export const fieldDocument = inProject('docs/fields.md');
const definitions = ['mysqlrollouts', 'mysqlrolloutpolicies'].map((plural) =>
  inProject(`config/crd/moco-rollout.io_${plural}.yaml`),
);

const head = `# Fields

Written by \`hack/docs/field-table.ts\` from the CRDs in \`config/crd\`, which \`kubectl explain mysqlrollout --recursive\` shows
as well. What they are for, and which goes before which, is in [operating.md](operating.md#what-can-be-wished-for). A field
that is left out has no default in the CRD: \`status.effectivePolicy\` says what is in force, and who said it.
`;

/** What of OpenAPI these CRDs use. */
interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly additionalProperties?: Schema;
  readonly required?: readonly string[];
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-validations'?: readonly { readonly message?: string }[];
}

interface Definition {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string };
    readonly versions: readonly { readonly name: string; readonly schema: { readonly openAPIV3Schema: Schema } }[];
  };
}

/** The whole document. */
export async function fieldReference(): Promise<string> {
  const sections = await Promise.all(
    definitions.map(async (file) => sectionOf(parse(await readFile(file, 'utf8')) as Definition)),
  );
  return [head, ...sections].join('\n');
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
  const said = rules.flatMap(({ message }) => (message === undefined ? [] : [`Refused otherwise: ${message}.`]));
  return [description.replaceAll(/\s+/g, ' '), ...said].join(' ').trim();
}

if (import.meta.main) await writeFile(fieldDocument, await fieldReference());
