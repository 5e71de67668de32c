import { expect } from 'chai';
import { type ClusterMachine, clusterLacksOn } from './requirements.ts';

const gigabyte = 1024 ** 3;
const enough: ClusterMachine = {
  platform: 'linux',
  isRoot: true,
  missingPrograms: [],
  missingFeatures: [],
  availableBytes: 4 * gigabyte,
};

describe('what a cluster needs of a machine', () => {
  it('is there on Linux, for root, with programs, a kernel and memory', () => {
    expect(clusterLacksOn(enough)).to.equal(null);
  });

  for (const [what, machine, expected] of [
    ['Linux', { platform: 'darwin' }, 'Expected Linux'],
    ['root', { isRoot: false }, 'Expected to run as root'],
    [
      'a program',
      { missingPrograms: ['nft', 'unshare', 'nsenter'] },
      '(on Debian: apt-get install nftables util-linux)',
    ],
    ['a part of the kernel', { missingFeatures: ['the file system overlay'] }, 'with the file system overlay'],
    ['memory', { availableBytes: 3.5 * gigabyte }, 'Expected 4 GB of free memory for a cluster, found 3.5 GB'],
  ] as const) {
    it(`is said in one sentence where ${what} is missing`, () => {
      const sentence = clusterLacksOn({ ...enough, ...machine });
      expect(sentence).to.include(expected);
      expect(sentence).to.not.include('\n');
    });
  }
});
