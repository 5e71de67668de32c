import { expect } from 'chai';
import { type Manifest, readOne } from './manifests.ts';

interface Schema {
  readonly type: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
  readonly items?: Schema;
  readonly [key: string]: unknown;
}

interface Version {
  readonly name: string;
  readonly subresources: unknown;
  readonly additionalPrinterColumns: readonly {
    readonly name: string;
    readonly jsonPath: string;
    readonly priority?: number;
  }[];
  readonly schema: { readonly openAPIV3Schema: Schema };
}

describe('the CRD of MySQLRollout', () => {
  let definition: Manifest;
  let version: Version;
  let schema: Schema;

  before(async () => {
    definition = await readOne('CustomResourceDefinition', 'crd');
    [version] = (definition['spec'] as { versions: [Version] }).versions;
    schema = version.schema.openAPIV3Schema;
  });

  it('has the names that people type', () => {
    expect(definition.metadata.name).to.equal('mysqlrollouts.moco-rollout.io');
    expect(definition['spec']).to.deep.include({
      group: 'moco-rollout.io',
      scope: 'Namespaced',
      names: {
        kind: 'MySQLRollout',
        listKind: 'MySQLRolloutList',
        plural: 'mysqlrollouts',
        singular: 'mysqlrollout',
        shortNames: ['mro'],
      },
    });
    expect(version).to.deep.include({ name: 'v1alpha1', subresources: { status: {} } });
  });

  it('describes every field in a sentence', () => {
    // The API server describes metadata itself and refuses a description from us.
    const fields = fieldsOf(schema).filter(({ path }) => path !== '.metadata');
    const undescribed = fields.filter(({ field }) => !field.description?.trim().endsWith('.'));
    expect(undescribed.map(({ path }) => path)).to.deep.equal([]);
  });

  it('has no defaults: what is left out follows the flags', () => {
    const defaulted = fieldsOf(schema).filter(({ field }) => 'default' in field);
    expect(defaulted.map(({ path }) => path)).to.deep.equal([]);
  });

  it('bounds every number in the spec and every list and text in the status', () => {
    const unbounded = fieldsOf(schema).filter(({ path, field }) => {
      if (path === '.apiVersion' || path === '.kind') return false;
      if (field.type === 'array') return !('maxItems' in field);
      if (field.type === 'integer') return !('minimum' in field) || !('format' in field);
      if (field.type === 'string') return !['maxLength', 'enum', 'format'].some((bound) => bound in field);
      return field.additionalProperties !== undefined && !('maxProperties' in field);
    });
    expect(unbounded.map(({ path }) => path)).to.deep.equal([]);
  });

  it('has spec fields for what is built, and nothing else yet', () => {
    expect(Object.keys(schema.properties?.['spec']?.properties ?? {})).to.deep.equal([
      'paused',
      'partition',
      'minReadySeconds',
    ]);
  });

  it('shows columns for people, each of a field that exists', () => {
    const columns = version.additionalPrinterColumns;
    const shown = columns.filter(({ priority }) => priority === undefined).map(({ name }) => name);
    expect(shown).to.deep.equal(['Phase', 'Updated', 'Replicas', 'Hold', 'Age']);
    const paths = new Set([...fieldsOf(schema).map(({ path }) => path), '.metadata.creationTimestamp']);
    for (const { jsonPath } of columns) expect([...paths]).to.include(jsonPath);
  });
});

function fieldsOf(schema: Schema, path = ''): readonly { readonly path: string; readonly field: Schema }[] {
  const children: readonly (readonly [string, Schema])[] = [
    ...Object.entries(schema.properties ?? {}).map(([name, field]) => [`${path}.${name}`, field] as const),
    ...(schema.additionalProperties ? [[`${path}.*`, schema.additionalProperties] as const] : []),
    ...(schema.items ? [[`${path}[]`, schema.items] as const] : []),
  ];
  return [{ path, field: schema }, ...children.flatMap(([childPath, child]) => fieldsOf(child, childPath))];
}
