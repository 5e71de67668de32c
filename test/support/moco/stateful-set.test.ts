import { expect } from 'chai';
import { mergePatch } from '../merge-patch.ts';
import { containers, initContainers } from './containers.ts';
import { ownedValues } from './owned-values.ts';
import { recordedObjects } from './recorded-objects.ts';
import { defaultSettings } from './settings.ts';
import { statefulSetBody } from './stateful-set.ts';
import { cluster } from './story.ts';

function template(spec: Readonly<Record<string, unknown>>): ReturnType<typeof cluster> {
  return mergePatch(cluster(), { spec }) as ReturnType<typeof cluster>;
}

describe('test/support/moco: the StatefulSet', () => {
  it('is applied with exactly the fields and values of the real one', () => {
    const { metadata, spec } = statefulSetBody(recordedObjects.cluster, defaultSettings) as {
      metadata: Record<string, unknown>;
      spec: unknown;
    };
    const { name, namespace, ...rest } = metadata;
    expect(name).to.equal('moco-test');
    expect(namespace).to.equal('default');
    expect({ metadata: rest, spec }).to.deep.equal(ownedValues(recordedObjects.statefulSet));
  });

  it('never sets rollingUpdate', () => {
    const { spec } = statefulSetBody(cluster(), defaultSettings) as { spec: { updateStrategy: unknown } };
    expect(spec.updateStrategy).to.deep.equal({ type: 'RollingUpdate' });
  });

  it('has no replicas while the cluster is offline', () => {
    const { spec } = statefulSetBody(template({ offline: true }), defaultSettings) as { spec: { replicas: number } };
    expect(spec.replicas).to.equal(0);
  });

  it('gets a copy of the annotation that forces a rolling update', () => {
    const annotations = { 'moco.cybozu.com/force-rolling-update': 'true' };
    const forced = mergePatch(cluster(), { metadata: { annotations } }) as ReturnType<typeof cluster>;
    const { metadata } = statefulSetBody(forced, defaultSettings) as { metadata: { annotations: unknown } };
    expect(metadata.annotations).to.deep.equal(annotations);
  });

  it('has the exporter if collectors are set, no slow-log if it is turned off, and the user’s containers last', () => {
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

  it('is not created from a template without mysqld, with an error', () => {
    const broken = template({ podTemplate: { spec: { containers: [{ name: 'mysql' }] } } });
    expect(() => statefulSetBody(broken, defaultSettings)).to.throw(/expected a container mysqld .* got none/);
  });
});

describe('test/support/moco: owned values', () => {
  it('are none if MOCO has applied nothing', () => {
    const metadata = { name: 'a', namespace: 'b', uid: 'c', resourceVersion: '1' };
    expect(ownedValues({ metadata })).to.deep.equal({});
  });

  it('are live: they show changes of other writers, and omit fields that others have taken over', () => {
    const fields = recordedObjects.statefulSet.metadata.managedFields ?? [];
    const changed = mergePatch(recordedObjects.statefulSet, {
      spec: { updateStrategy: { type: 'OnDelete' } },
    }) as typeof recordedObjects.statefulSet;
    const live = ownedValues(changed) as { spec: { updateStrategy: unknown } };
    expect(live.spec.updateStrategy).to.deep.equal({ type: 'OnDelete' });
    const [applied, ...others] = fields;
    const taken = mergePatch(changed, {
      metadata: {
        managedFields: [mergePatch(applied, { fieldsV1: { 'f:spec': { 'f:updateStrategy': null } } }), ...others],
      },
    }) as typeof changed;
    expect(ownedValues(taken)['spec']).not.to.have.property('updateStrategy');
  });
});
