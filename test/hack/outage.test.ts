import { expect } from 'chai';
import { Outage } from '../../hack/demo/outage.ts';

class Databases {
  answers = true;
  listener: ((namespace: string, name: string) => void) | null = null;

  acceptsCommits(): boolean {
    return this.answers;
  }

  onDatabasesChange(callback: (namespace: string, name: string) => void): () => void {
    this.listener = callback;
    return () => {
      this.listener = null;
    };
  }
}

describe('hack/demo: the time without commits', () => {
  function play(): {
    outage: Outage;
    databases: Databases;
    at: (now: number, answers: boolean, name?: string) => void;
  } {
    const databases = new Databases();
    let now = 0;
    const at = (milliseconds: number, answers: boolean, name = 'test'): void => {
      now = milliseconds;
      databases.answers = answers;
      databases.listener?.('here', name);
    };
    return { outage: new Outage(databases, 'here', 'test', () => now), databases, at };
  }

  it('adds up, however often it is read, and ends with the measurement', () => {
    const { outage, databases, at } = play();
    at(10, false);
    at(15, false);
    at(20, true);
    at(25, false, 'another');
    at(30, false);
    at(37, false);
    expect(outage.end()).to.deep.equal({ milliseconds: 10 + 7, goesOn: true });
    expect(databases.listener).to.equal(null);
  });

  it('ends once a commit succeeds again', () => {
    const { outage, at } = play();
    at(10, false);
    at(20, true);
    at(90, true);
    expect(outage.end()).to.deep.equal({ milliseconds: 10, goesOn: false });
  });
});
