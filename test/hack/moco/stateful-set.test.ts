import { expect } from 'chai';
import { containers, initContainers } from '../../../hack/moco/containers.ts';
import { ownedValues } from '../../../hack/moco/owned-values.ts';
import { defaultSettings } from '../../../hack/moco/settings.ts';
import { statefulSetBody } from '../../../hack/moco/stateful-set.ts';
import { recordedObjects } from './recorded-objects.ts';
import { cluster, merge } from './story.ts';

function template(spec: Readonly<Record<string, unknown>>): ReturnType<typeof cluster> {
  return merge(cluster(), { spec }) as ReturnType<typeof cluster>;
}

describe('hack/moco: the StatefulSet', () => {
  it('is applied with exactly the fields that the real one owns, at exactly its values', () => {
    const { metadata, spec } = statefulSetBody(recordedObjects.cluster, defaultSettings) as {
      metadata: Record<string, unknown>;
      spec: unknown;
    };
    const { name, namespace, ...rest } = metadata;
    expect(name).to.equal('moco-test');
    expect(namespace).to.equal('default');
    expect({ metadata: rest, spec }).to.deep.equal(ownedValues(recordedObjects.statefulSet));
  });

  it('never asserts rollingUpdate', () => {
    const { spec } = statefulSetBody(cluster(), defaultSettings) as { spec: { updateStrategy: unknown } };
    expect(spec.updateStrategy).to.deep.equal({ type: 'RollingUpdate' });
  });

  it('has no replicas while the cluster is offline', () => {
    const { spec } = statefulSetBody(template({ offline: true }), defaultSettings) as { spec: { replicas: number } };
    expect(spec.replicas).to.equal(0);
  });

  it('gets a copy of the annotation that forces a rolling update', () => {
    const annotations = { 'moco.cybozu.com/force-rolling-update': 'true' };
    const forced = merge(cluster(), { metadata: { annotations } }) as ReturnType<typeof cluster>;
    const { metadata } = statefulSetBody(forced, defaultSettings) as { metadata: { annotations: unknown } };
    expect(metadata.annotations).to.deep.equal(annotations);
  });

  it('has the exporter where collectors are asked for, no slow-log where it is turned off, and the users own last', () => {
    const podTemplate = {
      spec: {
        containers: [{ name: 'backup-agent' }, { name: 'mysqld', image: 'mysql:8.4.8' }],
        initContainers: [{ name: 'fix-permissions' }],
      },
    };
    const wanted = template({ podTemplate, collectors: ['engine_innodb_status'], disableSlowQueryLogContainer: true });
    expect(containers(wanted, defaultSettings).map(({ name }) => name)).to.deep.equal([
      'mysqld',
      'agent',
      'mysqld-exporter',
      'backup-agent',
    ]);
    expect(initContainers(wanted, defaultSettings).map(({ name }) => name)).to.deep.equal([
      'copy-moco-init',
      'moco-init',
      'fix-permissions',
    ]);
  });

  it('cannot be made of a template without mysqld, and says so', () => {
    const broken = template({ podTemplate: { spec: { containers: [{ name: 'mysql' }] } } });
    expect(() => statefulSetBody(broken, defaultSettings)).to.throw(/expected a container mysqld .* got none/);
  });
});

describe('hack/moco: owned values', () => {
  it('are none where MOCO has applied nothing', () => {
    const metadata = { name: 'a', namespace: 'b', uid: 'c', resourceVersion: '1' };
    expect(ownedValues({ metadata })).to.deep.equal({});
  });

  it('are the live ones: what another has changed shows, what another has taken over is missing', () => {
    const fields = recordedObjects.statefulSet.metadata.managedFields ?? [];
    const changed = merge(recordedObjects.statefulSet, {
      spec: { updateStrategy: { type: 'OnDelete' } },
    }) as typeof recordedObjects.statefulSet;
    const live = ownedValues(changed) as { spec: { updateStrategy: unknown } };
    expect(live.spec.updateStrategy).to.deep.equal({ type: 'OnDelete' });
    const [applied, ...others] = fields;
    const taken = merge(changed, {
      metadata: {
        managedFields: [merge(applied, { fieldsV1: { 'f:spec': { 'f:updateStrategy': null } } }), ...others],
      },
    }) as typeof changed;
    expect(ownedValues(taken)['spec']).not.to.have.property('updateStrategy');
  });
});
