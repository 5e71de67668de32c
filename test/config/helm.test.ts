import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import packageManifest from '../../package.json' with { type: 'json' };
import { rolloutKind } from '../../src/api/rollout.ts';
import { policyKind } from '../../src/api/rollout-policy.ts';
import { sequenceKind } from '../../src/api/rollout-sequence.ts';
import { chartDirectory } from './manifests.ts';

// What the chart renders is compared with the other manifests in test/cluster/helm.test.ts.

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
}

describe('the chart', () => {
  it('binds every role to the ServiceAccount that the values name', async () => {
    const directory = join(chartDirectory, 'templates');
    const names = (await readdir(directory)).filter((name) => name.endsWith('.yaml'));
    const texts = await Promise.all(names.map((name) => readFile(join(directory, name), 'utf8')));
    const subjects = texts.flatMap((text) => [...text.matchAll(/- kind: ServiceAccount\n +name: (.+)/g)]);
    expect(subjects.length).to.be.greaterThan(5);
    for (const [, name] of subjects) expect(name).to.contain('include "moco-rollout.serviceAccountName"');
  });

  let properties: Readonly<Record<string, Schema>>;

  before(async () => {
    const schema = JSON.parse(await readFile(join(chartDirectory, 'values.schema.json'), 'utf8')) as Schema;
    properties = schema.properties ?? {};
  });

  it('has the version and the description of the program', async () => {
    const chart = parse(await readFile(join(chartDirectory, 'Chart.yaml'), 'utf8')) as Record<string, string>;
    const { version, description } = packageManifest;
    expect(chart).to.include({ version, appVersion: version, description });
  });

  it('tells Artifact Hub every kind of config/crd', async () => {
    const { annotations } = parse(await readFile(join(chartDirectory, 'Chart.yaml'), 'utf8')) as {
      annotations: Readonly<Record<string, string>>;
    };
    const told = parse(annotations['artifacthub.io/crds'] ?? '') as readonly Record<string, string>[];
    const kinds = [rolloutKind, policyKind, sequenceKind].map(({ kind, version, plural, group }) => ({
      kind,
      version,
      name: `${plural}.${group}`,
    }));
    expect(told.map(({ kind, version, name }) => ({ kind, version, name }))).to.deep.equal(kinds);
    expect(kinds.length).to.equal((await readdir(join(chartDirectory, 'files/crd'))).length - 1);
  });

  it('has a schema for every value', async () => {
    const values = parse(await readFile(join(chartDirectory, 'values.yaml'), 'utf8')) as Record<string, object>;
    const { global: _, ...known } = properties;
    expect(Object.keys(known)).to.have.members(Object.keys(values));
    for (const [name, schema] of Object.entries(known)) {
      if (schema.properties === undefined || ['flags', 'settings', 'commonLabels', 'podLabels'].includes(name))
        continue;
      expect(Object.keys(schema.properties), name).to.have.members(Object.keys(values[name] ?? {}));
    }
  });
});
