import { expect } from 'chai';
import { acceptsCommits, type Database } from './databases.ts';
import { noFaults } from './faults.ts';

const primary: Database = { process: 'p', writable: true, source: null, replicating: false, draining: false };
const replica: Database = { process: 'r', writable: false, source: 0, replicating: true, draining: false };
const gone: Database = { ...replica, process: null, replicating: false };

describe('test/support/moco: commits', () => {
  it('succeed while half of the replicas follow a primary that accepts writes', () => {
    expect(acceptsCommits([primary], noFaults)).to.equal(true);
    expect(acceptsCommits([primary, replica, gone], noFaults)).to.equal(true);
    expect(acceptsCommits([primary, gone, gone], noFaults)).to.equal(false);
    expect(acceptsCommits([primary, replica, replica, gone, gone], noFaults)).to.equal(true);
    expect(acceptsCommits([primary, replica, gone, gone, gone], noFaults)).to.equal(false);
  });

  it('fail on a draining primary, and are not acknowledged by replicas of another primary', () => {
    expect(acceptsCommits([{ ...primary, writable: false, draining: true }, replica, replica], noFaults)).to.equal(
      false,
    );
    const strays = { ...replica, source: 2 };
    expect(acceptsCommits([primary, strays, gone], noFaults)).to.equal(false);
  });

  it('are not acknowledged by an unreachable replica', () => {
    expect(acceptsCommits([primary, replica, gone], { ...noFaults, unreachable: [1] })).to.equal(false);
  });

  it('wait for a replica that has not received them, if no other is left', () => {
    const faults = { ...noFaults, unreceived: [1] };
    expect(acceptsCommits([primary, replica, gone], faults)).to.equal(false);
    expect(acceptsCommits([primary, replica, replica], faults)).to.equal(true);
  });
});
