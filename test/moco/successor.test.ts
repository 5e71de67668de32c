import { expect } from 'chai';
import { fitsWithout } from '../../src/moco/successor.ts';

const container = (cpu: string, memory: string, more: object = {}): object => ({
  resources: { requests: { cpu, memory }, limits: { cpu: '2', memory } },
  ...more,
});
const pod = {
  spec: {
    containers: [container('500m', '1Gi'), container('100m', '128Mi')],
    initContainers: [container('900m', '64Mi'), container('100m', '64Mi', { restartPolicy: 'Always' })],
  },
};
const fits = (requested: string, used: string, limited: string): boolean =>
  fitsWithout(
    `pods "moco-x-2" is forbidden: exceeded quota: small, requested: ${requested}, used: ${used}, limited: ${limited}`,
    pod,
  );

describe('a quota that refuses the next pod', () => {
  it('has room for it if the pod that exists leaves enough', () => {
    expect(fits('pods=1', 'pods=3', 'pods=3')).to.equal(true);
    expect(fits('count/pods=1', 'count/pods=3', 'count/pods=3')).to.equal(true);
    // 500m + 100m + 100m of the sidecar are less than the 900m of the first init container.
    expect(fits('requests.cpu=900m', 'requests.cpu=3', 'requests.cpu=3')).to.equal(true);
    expect(fits('cpu=901m', 'cpu=3', 'cpu=3')).to.equal(false);
    expect(fits('requests.memory=1216Mi', 'requests.memory=3Gi', 'requests.memory=3Gi')).to.equal(true);
    expect(fits('limits.cpu=6', 'limits.cpu=18', 'limits.cpu=18')).to.equal(true);
    expect(fits('limits.cpu=7', 'limits.cpu=18', 'limits.cpu=18')).to.equal(false);
  });

  it('needs room for each resource', () => {
    expect(fits('pods=1,requests.cpu=900m', 'pods=3,requests.cpu=3', 'pods=3,requests.cpu=3')).to.equal(true);
    expect(fits('pods=1,requests.cpu=2', 'pods=3,requests.cpu=3', 'pods=3,requests.cpu=3')).to.equal(false);
  });

  it('has none of what the pod does not use, or of a message that is not known', () => {
    expect(fits('requests.nvidia.com/gpu=1', 'requests.nvidia.com/gpu=3', 'requests.nvidia.com/gpu=3')).to.equal(false);
    expect(fits('pods=1', 'pods=4', 'pods=3')).to.equal(false);
    expect(fits('pods=one', 'pods=3', 'pods=3')).to.equal(false);
    expect(fits('pods=1', 'cpu=3', 'pods=3')).to.equal(false);
    expect(fitsWithout('no', pod)).to.equal(false);
  });
});
