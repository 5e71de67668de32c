import { type Definition, definitions, type Schema } from '../crd.ts';
import { code, table } from './table.ts';

// Writes docs/fields.md: every field of MySQLRollout and MySQLRolloutPolicy, as their CRDs describe it.

const head = `# Fields

Written by \`make docs\` from the schemas in \`src/api\`. \`kubectl explain mysqlrollout --recursive\` shows the same.
[Concepts](concepts.md#settings-and-where-they-come-from) explains which source of a setting has precedence. The CRDs set no
defaults: \`status.settings\` shows each value in force and its source. Fields that an object has in common with one above it are
described there alone.
`;

/** The complete document. */
export function fieldReference(): string {
  const described: Described = new Map();
  const sections = Object.values(definitions())
    .toReversed()
    .map((one) => sectionOf(one, described));
  return [head, ...sections].join('\n');
}

/** The objects that were already described, by path. */
type Described = Map<string, Readonly<Record<string, Schema>>>;

function sectionOf({ spec: { group, names, versions } }: Definition, described: Described): string {
  return versions
    .map(({ name, schema: { openAPIV3Schema: schema } }) => {
      const parts = Object.entries(schema.properties ?? {})
        .filter(([part]) => part === 'spec' || part === 'status')
        .map(([part, of]) => {
          const rows = fieldsOf(of, described, `${code(part)} of ${names.kind}`).map(
            ({ path, schema: field, isRequired, note }) => [
              code(path),
              typeOf(field) + (isRequired ? ', required' : ''),
              [meaningOf(field), note].filter(Boolean).join(' '),
            ],
          );
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
  /** Says where the document describes the fields of this object. */
  readonly note?: string;
}

/** Fields in depth-first order: a field, then its own fields. `root` is the object that contains all of them. */
function fieldsOf(schema: Schema, described: Described, root: string, prefix = ''): readonly Field[] {
  const { properties = {}, required = [] } = schema;
  if (Object.keys(properties).length > 1) {
    described.set(prefix === '' ? root : `${code(prefix.replace(/\.$/, ''))} in ${root}`, properties);
  }
  return Object.entries(properties).flatMap(([name, field]): readonly Field[] => {
    const path = `${prefix}${name}`;
    const own = { path, schema: field, isRequired: required.includes(name) };
    const { value, source } = field.properties ?? {};
    if (value !== undefined && source !== undefined) return inForce(value, name, path, described, root);
    const inner = inside(field, path);
    if (inner === null) return [own];
    const [at, all] = [...described].find(([, known]) => isPartOf(inner.schema.properties ?? {}, known)) ?? [];
    if (at === undefined || all === undefined) return [own, ...fieldsOf(inner.schema, described, root, inner.prefix)];
    const missing = Object.keys(all).filter((one) => !(one in (inner.schema.properties ?? {})));
    const but = missing.length === 0 ? '' : ` but ${missing.map(code).join(', ')}`;
    return [{ ...own, note: `Its fields are those of ${at}${but}.` }];
  });
}

/** The fields of a setting's value in force. There are none if the value has the same schema as the setting itself. */
function inForce(value: Schema, name: string, path: string, described: Described, root: string): readonly Field[] {
  const setting = described.get('`spec` of MySQLRollout')?.[name];
  if (setting !== undefined && withoutDescription(value) === withoutDescription(setting)) return [];
  const inner = inside(value, `${path}.value`);
  const own = {
    path: `${path}.value`,
    schema: { ...value, description: 'The value in force, as far as it is shown.' },
  };
  return [
    { ...own, isRequired: true },
    ...(inner === null ? [] : fieldsOf(inner.schema, described, root, inner.prefix)),
  ];
}

const withoutDescription = ({ description: _, ...schema }: Schema): string => JSON.stringify(schema);

const isPartOf = (some: Readonly<Record<string, Schema>>, all: Readonly<Record<string, Schema>>): boolean =>
  Object.keys(some).length > Math.max(1, Object.keys(all).length / 2) &&
  Object.entries(some).every(([name, schema]) => JSON.stringify(all[name]) === JSON.stringify(schema));

/** The object inside a field, a list or a map, and the prefix of its paths. `null` if there is none. */
function inside(schema: Schema, path: string): { readonly schema: Schema; readonly prefix: string } | null {
  if (schema.items !== undefined) return inside(schema.items, `${path}[]`);
  if (schema.additionalProperties !== undefined) return inside(schema.additionalProperties, `${path}.*`);
  return schema.properties === undefined ? null : { schema, prefix: `${path}.` };
}

export function typeOf(schema: Schema): string {
  if (schema['x-kubernetes-int-or-string']) return 'integer or string';
  if (schema.items !== undefined) return `list of ${typeOf(schema.items)}`;
  if (schema.additionalProperties !== undefined) return `map of ${typeOf(schema.additionalProperties)}`;
  if (schema.enum !== undefined) return schema.enum.map(code).join(', ');
  const { minimum, maximum, format, type = 'anything' } = schema;
  // Shows only limits that the project has chosen; the maximum of the type itself is left out.
  const to = maximum === undefined || maximum >= 2 ** 31 - 1 ? '' : ` to ${maximum}`;
  const range = minimum === undefined ? '' : ` from ${minimum}${to}`;
  return format === 'date-time' ? 'time' : `${type}${range}`;
}

function meaningOf({ description = '', 'x-kubernetes-validations': rules = [] }: Schema): string {
  const refusals = rules.flatMap(({ message }) => (message === undefined ? [] : [`Refused otherwise: ${message}.`]));
  return [description.replaceAll(/\s+/g, ' '), ...refusals].join(' ').trim();
}
