import { expect } from 'chai';
import { acceptsCommits, type Database } from '../../../hack/moco/databases.ts';
import { noFaults } from '../../../hack/moco/faults.ts';

const primary: Database = { process: 'p', writable: true, source: null, replicating: false, draining: false };
const replica: Database = { process: 'r', writable: false, source: 0, replicating: true, draining: false };
const gone: Database = { ...replica, process: null, replicating: false };

describe('hack/moco: commits', () => {
  it('are answered while half of the replicas follow a primary that takes writes', () => {
    expect(acceptsCommits([primary], noFaults)).to.equal(true);
    expect(acceptsCommits([primary, replica, gone], noFaults)).to.equal(true);
    expect(acceptsCommits([primary, gone, gone], noFaults)).to.equal(false);
    expect(acceptsCommits([primary, replica, replica, gone, gone], noFaults)).to.equal(true);
    expect(acceptsCommits([primary, replica, gone, gone, gone], noFaults)).to.equal(false);
  });

  it('are not answered by a primary that drains, nor acknowledged by who follows another one', () => {
    expect(acceptsCommits([{ ...primary, writable: false, draining: true }, replica, replica], noFaults)).to.equal(
      false,
    );
    const strays = { ...replica, source: 2 };
    expect(acceptsCommits([primary, strays, gone], noFaults)).to.equal(false);
  });

  it('are not acknowledged by a replica that nobody reaches', () => {
    expect(acceptsCommits([primary, replica, gone], { ...noFaults, unreachable: [1] })).to.equal(false);
  });
});
