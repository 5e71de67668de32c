import { expect } from 'chai';
import { statusLimits } from '../../src/controller/status-limits.ts';
import { ranges } from '../../src/controller/wishes/checks.ts';
import type { HoldRule } from '../../src/core/decision.ts';
import { overridable } from '../../src/core/overrides.ts';
import { type Manifest, readManifests } from './manifests.ts';

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
  readonly subresources?: unknown;
  readonly additionalPrinterColumns: readonly {
    readonly name: string;
    readonly jsonPath: string;
    readonly priority?: number;
  }[];
  readonly schema: { readonly openAPIV3Schema: Schema };
}

const common = [
  'strategy',
  'paused',
  'repairWhilePaused',
  'maxUnavailable',
  'partition',
  'minReadySeconds',
  'progressDeadlineSeconds',
  'switchoverTimeoutSeconds',
  'failoverGraceSeconds',
  'primaryUpdatePolicy',
];

const definitions = {
  MySQLRollout: {
    scope: 'Namespaced',
    names: { plural: 'mysqlrollouts', singular: 'mysqlrollout', shortNames: ['mro'] },
    subresources: { status: {} },
    fields: [...common, 'approvedRevision', 'heldMembers', 'overrides'],
    columns: ['Phase', 'Strategy', 'Updated', 'Replicas', 'Participating', 'Primary', 'Hold', 'Since', 'Age'],
  },
  MySQLRolloutPolicy: {
    scope: 'Cluster',
    names: { plural: 'mysqlrolloutpolicies', singular: 'mysqlrolloutpolicy', shortNames: ['mrop'] },
    subresources: undefined,
    fields: ['namespaceSelector', 'selector', 'weight', ...common],
    columns: ['Weight', 'Strategy', 'Paused', 'Age'],
  },
} as const;

for (const [kind, { scope, names, subresources, fields, columns }] of Object.entries(definitions)) {
  describe(`the CRD of ${kind}`, () => {
    let definition: Manifest;
    let version: Version;
    let schema: Schema;

    before(async () => {
      definition = await definitionOf(names.plural);
      version = versionOf(definition);
      schema = version.schema.openAPIV3Schema;
    });

    it('has the names that people type', () => {
      expect(definition['spec']).to.deep.include({
        group: 'moco-rollout.io',
        scope,
        names: { kind, listKind: `${kind}List`, ...names },
      });
      expect(version.name).to.equal('v1alpha1');
      expect(version.subresources).to.deep.equal(subresources);
    });

    it('describes every field in a sentence', () => {
      // The API server describes metadata itself and refuses a description from us.
      const described = fieldsOf(schema).filter(({ path }) => path !== '.metadata');
      const undescribed = described.filter(({ field }) => !field.description?.trim().endsWith('.'));
      expect(undescribed.map(({ path }) => path)).to.deep.equal([]);
    });

    it('has no defaults: what is left out follows from elsewhere', () => {
      const defaulted = fieldsOf(schema).filter(({ field }) => 'default' in field);
      expect(defaulted.map(({ path }) => path)).to.deep.equal([]);
    });

    it('bounds every number, list, map and text', () => {
      const unbounded = fieldsOf(schema).filter(({ path, field }) => {
        if (path === '.apiVersion' || path === '.kind') return false;
        if (field.type === 'array') return !('maxItems' in field);
        if (field.type === 'integer') return !('minimum' in field) || !('format' in field);
        if (field.type === 'number') return !('minimum' in field);
        if (field.type === 'string') return !['maxLength', 'enum', 'format'].some((bound) => bound in field);
        return field.additionalProperties !== undefined && !('maxProperties' in field);
      });
      expect(unbounded.map(({ path }) => path)).to.deep.equal([]);
    });

    it('has every field of its spec', () => {
      expect(Object.keys(specOf(schema))).to.deep.equal(fields);
    });

    it('shows columns for people, each of a field that exists', () => {
      const shown = version.additionalPrinterColumns.filter(({ priority }) => priority === undefined);
      expect(shown.map(({ name }) => name)).to.deep.equal(columns);
      const paths = new Set([...fieldsOf(schema).map(({ path }) => path), '.metadata.creationTimestamp']);
      for (const { jsonPath } of version.additionalPrinterColumns) expect([...paths]).to.include(jsonPath);
    });
  });
}

describe('the status of a MySQLRollout', () => {
  it('may be as long as the program makes it, where the program cuts it', async () => {
    const schema = versionOf(await definitionOf('mysqlrollouts')).schema.openAPIV3Schema;
    const fields = new Map(fieldsOf(schema).map(({ path, field }) => [path, field]));
    const longest = (path: string) => fields.get(`.status.${path}`)?.['maxLength'];
    const most = (path: string) => fields.get(`.status.${path}`)?.['maxItems'];
    for (const path of ['hold.message', 'lastStep.result', 'conditions[].message']) {
      expect(longest(path), path).to.be.at.least(statusLimits.message);
    }
    expect(longest('members.*.message')).to.be.at.least(statusLimits.memberMessage);
    expect(longest('effectivePolicy.*.value')).to.be.at.least(statusLimits.value);
    expect(longest('effectivePolicy.*.source')).to.be.at.least(statusLimits.value);
    expect(most('history')).to.equal(statusLimits.historyEntries);
    expect(most('history[].changes')).to.be.at.least(statusLimits.changes);
    expect(longest('history[].changes[].path')).to.be.at.least(statusLimits.changedPath);
    expect(longest('history[].changes[].from')).to.be.at.least(statusLimits.changedValue);
    expect(longest('history[].changes[].to')).to.be.at.least(statusLimits.changedValue);
  });
});

describe('what can be wished for', () => {
  let rollout: Readonly<Record<string, Schema>>;

  before(async () => {
    rollout = specOf(versionOf(await definitionOf('mysqlrollouts')).schema.openAPIV3Schema);
  });

  it('is the same for one cluster and for many', async () => {
    const policy = specOf(versionOf(await definitionOf('mysqlrolloutpolicies')).schema.openAPIV3Schema);
    for (const field of common) expect(policy[field], field).to.deep.equal(rollout[field]);
  });

  it('has the ranges that a spec is held against when it is read', async () => {
    const policy = specOf(versionOf(await definitionOf('mysqlrolloutpolicies')).schema.openAPIV3Schema);
    const ordinal = rollout['heldMembers']?.items?.properties?.['ordinal'];
    const { maxUnavailable, ...numbers } = ranges;
    for (const [name, range] of Object.entries(numbers)) {
      const field = { ...rollout, ...policy, ...(ordinal && { ordinal }) }[name];
      expect([field?.['minimum'], field?.['maximum']], name).to.deep.equal(range);
    }
    const rules = rollout['maxUnavailable']?.['x-kubernetes-validations'];
    expect(rules)
      .to.have.nested.property('[0].rule')
      .that.contains(`self >= ${maxUnavailable.join(' && self <= ')} `);
  });

  it('names the rules that may be overridden, all of them and no other', () => {
    const named = rollout['overrides']?.items?.properties?.['rule']?.['enum'];
    expect(named).to.have.members(Object.keys(overridable).filter((rule) => overridable[rule as HoldRule]));
  });
});

async function definitionOf(plural: string): Promise<Manifest> {
  const name = `${plural}.moco-rollout.io`;
  const found = (await readManifests('crd')).find(({ metadata }) => metadata.name === name);
  if (found === undefined) throw new Error(`Expected a CustomResourceDefinition ${name}, got none`);
  return found;
}

function versionOf(definition: Manifest): Version {
  const [version] = (definition['spec'] as { versions: [Version] }).versions;
  return version;
}

function specOf(schema: Schema): Readonly<Record<string, Schema>> {
  return schema.properties?.['spec']?.properties ?? {};
}

function fieldsOf(schema: Schema, path = ''): readonly { readonly path: string; readonly field: Schema }[] {
  const children: readonly (readonly [string, Schema])[] = [
    ...Object.entries(schema.properties ?? {}).map(([name, field]) => [`${path}.${name}`, field] as const),
    ...(schema.additionalProperties ? [[`${path}.*`, schema.additionalProperties] as const] : []),
    ...(schema.items ? [[`${path}[]`, schema.items] as const] : []),
  ];
  return [{ path, field: schema }, ...children.flatMap(([childPath, child]) => fieldsOf(child, childPath))];
}
