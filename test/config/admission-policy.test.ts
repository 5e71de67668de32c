import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import {
  createdByLabel,
  createdByMoco,
  forceRollingUpdateAnnotation,
  newPodsAtCurrentRevision,
  newPodsLabel,
  strategyLabel,
  strategyOnDelete,
} from '../../src/moco/names.ts';
import { configDirectory, type Manifest, readOne } from './manifests.ts';

interface PolicySpec {
  readonly matchConstraints: { readonly objectSelector: object; readonly resourceRules: readonly object[] };
  readonly variables: readonly { readonly name: string; readonly expression: string }[];
  readonly mutations: readonly [{ readonly patchType: string; readonly jsonPatch: { readonly expression: string } }];
}

describe('the admission policy', () => {
  let policy: Manifest;
  let spec: PolicySpec;

  before(async () => {
    policy = await readOne('MutatingAdmissionPolicy', 'admission-policy');
    spec = policy['spec'] as PolicySpec;
  });

  it('never fails a write, and runs again after the webhook of MOCO', () => {
    expect(spec).to.deep.include({ failurePolicy: 'Ignore', reinvocationPolicy: 'IfNeeded' });
    // What did not match in the first round is not invoked again.
    expect(spec).not.to.have.property('matchConditions');
  });

  it('selects by our label and MOCO’s, and only updates of StatefulSets', () => {
    expect(spec.matchConstraints.objectSelector).to.deep.equal({
      matchLabels: { [createdByLabel]: createdByMoco, [strategyLabel]: strategyOnDelete },
    });
    expect(spec.matchConstraints.resourceRules).to.deep.equal([
      {
        apiGroups: ['apps'],
        apiVersions: ['v1'],
        operations: ['UPDATE'],
        resources: ['statefulsets'],
        scope: 'Namespaced',
      },
    ]);
  });

  it('changes only the update strategy, unless the label is removed or a rolling update is forced', () => {
    const [{ patchType, jsonPatch }] = spec.mutations;
    expect(patchType).to.equal('JSONPatch');
    expect(jsonPatch.expression.match(/path: "([^"]+)"/g)).to.deep.equal(['path: "/spec/updateStrategy"']);
    expect(jsonPatch.expression).to.contain(`'${strategyLabel}'`).and.to.contain(`'${forceRollingUpdateAnnotation}'`);
  });

  it('never sets RollingUpdate without a partition, which the API server would make 0', () => {
    const [{ jsonPatch }] = spec.mutations;
    const [, ...rolling] = jsonPatch.expression.split('type: "RollingUpdate"');
    expect(rolling).to.have.length(1);
    expect(rolling[0]).to.match(
      /^,\s+rollingUpdate: Object\.spec\.updateStrategy\.rollingUpdate\{partition: variables\.replicas\}\}/,
    );
  });

  it('leaves one that comes from OnDelete there in its first round, since MOCO’s webhook would fail', () => {
    expect(spec.variables.map(({ name }) => name)).to.deep.equal([
      'replicas',
      'keepsRevisions',
      'hadPartition',
      'isSecondRound',
    ]);
    expect(spec.variables[1]?.expression)
      .to.contain(`'${newPodsLabel}'`)
      .and.to.contain(`'${newPodsAtCurrentRevision}'`);
    expect(spec.variables[2]?.expression).to.match(/^oldObject\./);
    expect(spec.variables[3]?.expression).to.contain("== 'OnDelete'").and.to.contain('variables.replicas');
  });

  it('is bound everywhere, and part of the default with no webhook beside it', async () => {
    const binding = await readOne('MutatingAdmissionPolicyBinding', 'admission-policy');
    expect(binding['spec']).to.deep.equal({ policyName: policy.metadata.name });
    const { resources, components } = parse(
      await readFile(join(configDirectory, 'default/kustomization.yaml'), 'utf8'),
    );
    expect(resources).to.include('../admission-policy');
    expect(components).to.equal(undefined);
  });
});
