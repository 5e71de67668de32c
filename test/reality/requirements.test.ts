import { expect } from 'chai';
import { type Machine, missingOn } from './requirements.ts';

const gigabyte = 1024 ** 3;
const enough: Machine = {
  platform: 'linux',
  arch: 'x64',
  isRoot: true,
  missingPrograms: [],
  availableBytes: 3 * gigabyte,
  hasMysqlHome: false,
};

describe('what real members need of a machine', () => {
  it('is there on Linux, for root, with memory and programs', () => {
    expect(missingOn(enough, 3)).to.equal(null);
  });

  for (const [what, machine, expected] of [
    ['Linux', { platform: 'darwin' }, 'Expected Linux'],
    ['the processor that the edits are for', { arch: 'arm64' }, 'set MYSQL_HOME'],
    ['root', { isRoot: false }, 'Expected to run as root'],
    ['a program', { missingPrograms: ['unshare'] }, 'found no unshare'],
    ['memory', { availableBytes: 2.5 * gigabyte }, 'Expected 3 GB of free memory for 3 members, found 2.5 GB'],
  ] as const) {
    it(`is said in one sentence where ${what} is missing`, () => {
      const sentence = missingOn({ ...enough, ...machine }, 3);
      expect(sentence).to.include(expected);
      expect(sentence).to.not.include('\n');
    });
  }

  it('is more memory for five members', () => {
    expect(missingOn(enough, 5)).to.include('Expected 5 GB');
  });

  it('is any processor with a MySQL of its own', () => {
    expect(missingOn({ ...enough, arch: 'arm64', hasMysqlHome: true }, 3)).to.equal(null);
  });
});
