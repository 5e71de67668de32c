import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { chartDirectory, chartFiles } from '../../hack/helm/chart.ts';
import { template } from '../../hack/helm/template.ts';
import { flagNames } from '../../src/options/flags.ts';
import { parseOptions } from '../../src/options.ts';

interface ValuesSchema {
  readonly properties: Readonly<Record<string, { readonly properties?: Readonly<Record<string, object>> }>>;
}

/** What is written by hand. */
const byHand = [
  '.helmignore',
  'templates/NOTES.txt',
  'templates/_helpers.tpl',
  'templates/dashboard.yaml',
  'templates/hand-back.yaml',
  'values.yaml',
];

describe('the chart', () => {
  let made: Readonly<Record<string, string>>;
  let schema: ValuesSchema;

  before(async () => {
    made = await chartFiles();
    schema = JSON.parse(made['values.schema.json'] ?? '');
  });

  it('is what the manifests and the flags make of it (else run make helm-chart)', async () => {
    for (const [path, text] of Object.entries(made)) {
      expect(await readFile(join(chartDirectory, path), 'utf8'), path).to.equal(text);
    }
  });

  it('holds nothing else but what is written by hand', async () => {
    const found = await readdir(chartDirectory, { recursive: true, withFileTypes: true });
    const files = found
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name).slice(chartDirectory.length + 1));
    expect(files).to.have.members([...Object.keys(made), ...byHand]);
  });

  it('has a schema for every value that there is', async () => {
    const values = parse(await readFile(join(chartDirectory, 'values.yaml'), 'utf8')) as Record<string, object>;
    const { global: _, ...known } = schema.properties;
    expect(Object.keys(known)).to.have.members(Object.keys(values));
    for (const [name, { properties }] of Object.entries(known)) {
      if (properties === undefined || name === 'flags') continue;
      expect(Object.keys(properties), name).to.have.members(Object.keys(values[name] ?? {}));
    }
  });

  it('takes every flag of the program but those that it gives itself', () => {
    const offered = Object.keys(schema.properties['flags']?.properties ?? {});
    expect(flagNames.filter((name) => !offered.includes(name))).to.have.members([
      'kubeconfig',
      'feature-gates',
      'namespaces',
      'webhook-bind-address',
      'cert-dir',
      'partition-driver',
      'metrics-bind-address',
      'health-probe-bind-address',
      'leader-elect',
      'leader-election-namespace',
    ]);
    const some = {
      'kube-api-burst': '100000',
      'disruption-interval': '0',
      'lease-duration': '1m30s',
      'log-level': 'debug',
    };
    expect(offered).to.include.members(Object.keys(some));
    const parsed = parseOptions(Object.entries(some).map(([name, value]) => `--${name}=${value}`));
    expect(parsed.kind, JSON.stringify(parsed)).to.equal('options');
  });

  it('is not made of a manifest that has changed where a value comes in', () => {
    const manifest = 'kind: Service\nmetadata:\n  name: a\nspec:\n  replicas: 3\n';
    expect(() =>
      template(manifest, { edits: [{ from: 'replicas: 2', to: 'replicas: {{ $.Values.replicas }}' }] }),
    ).to.throw('expected "replicas: 2" 1 times in the manifest, got it 0 times');
    expect(() => template('kind: Service\n')).to.throw('expected an object with metadata');
  });
});
