import { expect } from 'chai';
import { type Claim, sharedStorageClassName, storageClassName, type Volume, volumeSteps } from './volume-steps.ts';

const directoryOf = (node: string): string => `/disks/${node}`;
const metadata = { namespace: 'default', name: 'data', uid: 'u-1', resourceVersion: '1' };

const claim: Claim = {
  metadata: { ...metadata, annotations: { 'volume.kubernetes.io/selected-node': 'node-2' } },
  spec: { storageClassName, accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
};

const volume: Volume = {
  metadata: { name: 'pvc-u-1', uid: 'u-2', resourceVersion: '1' },
  spec: { storageClassName, local: { path: '/disks/node-2/pvc-u-1' } },
  status: { phase: 'Bound' },
};

const bound: Claim = {
  ...claim,
  spec: { ...claim.spec, volumeName: 'pvc-u-1' },
  status: { capacity: { storage: '1Gi' } },
};

describe('the provisioner of local volumes', () => {
  it('makes a volume on the node that the scheduler has chosen, tied to it', () => {
    const [step, ...others] = volumeSteps([claim], [], directoryOf);
    expect(others).to.deep.equal([]);
    if (step?.kind !== 'create') throw new Error(`Expected a volume to be made, got ${step?.kind}`);
    expect(step.volume.spec.local.path).to.equal('/disks/node-2/pvc-u-1');
    expect(step.volume.spec.claimRef).to.include({ namespace: 'default', name: 'data', uid: 'u-1' });
    const [term] = step.volume.spec.nodeAffinity.required.nodeSelectorTerms;
    expect(term?.matchExpressions).to.deep.equal([
      { key: 'kubernetes.io/hostname', operator: 'In', values: ['node-2'] },
    ]);
  });

  it('ties a volume of the shared class to no node', () => {
    const shared = { ...claim, spec: { ...claim.spec, storageClassName: sharedStorageClassName } };
    const [step] = volumeSteps([shared], [], directoryOf);
    if (step?.kind !== 'create') throw new Error(`Expected a volume to be made, got ${step?.kind}`);
    expect(step.volume.spec.storageClassName).to.equal(sharedStorageClassName);
    const [term] = step.volume.spec.nodeAffinity.required.nodeSelectorTerms;
    expect(term?.matchExpressions).to.deep.equal([{ key: 'kubernetes.io/hostname', operator: 'Exists' }]);
  });

  it('waits until a node is chosen', () => {
    expect(volumeSteps([{ ...claim, metadata }], [], directoryOf)).to.deep.equal([]);
  });

  it('makes no second volume before the claim is bound', () => {
    expect(volumeSteps([claim], [volume], directoryOf)).to.deep.equal([]);
  });

  it('leaves claims of other classes and such as are being deleted alone', () => {
    const other = { ...claim, spec: { ...claim.spec, storageClassName: 'other' } };
    const going = { ...claim, metadata: { ...claim.metadata, deletionTimestamp: '2026-01-01T00:00:00Z' } };
    expect(volumeSteps([other, going], [], directoryOf)).to.deep.equal([]);
  });

  it('lets a bound volume grow to what its claim requests', () => {
    expect(volumeSteps([bound], [volume], directoryOf)).to.deep.equal([]);
    const bigger = { ...bound, spec: { ...bound.spec, resources: { requests: { storage: '2Gi' } } } };
    expect(volumeSteps([bigger], [volume], directoryOf)).to.deep.equal([
      { kind: 'grow', volume: 'pvc-u-1', claim: { namespace: 'default', name: 'data' }, storage: '2Gi' },
    ]);
  });

  it('removes a volume once its claim is gone', () => {
    const released = { ...volume, status: { phase: 'Released' } };
    expect(volumeSteps([], [released], directoryOf)).to.deep.equal([
      { kind: 'delete', volume: 'pvc-u-1', directory: '/disks/node-2/pvc-u-1' },
    ]);
  });
});
