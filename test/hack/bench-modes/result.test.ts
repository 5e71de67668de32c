import { expect } from 'chai';
import { Outage } from '../../../hack/bench-modes/outage.ts';
import { resultOf } from '../../../hack/bench-modes/result.ts';

const absence = (ordinal: number, fromMilliseconds: number, toMilliseconds: number) => ({
  ordinal,
  name: `moco-test-${ordinal}`,
  fromMilliseconds,
  toMilliseconds,
});
const switchover = (from: number, fromMilliseconds: number, toMilliseconds: number) => ({
  from,
  to: 0,
  fromMilliseconds,
  toMilliseconds,
});

describe('hack/bench-modes: the result of a rollout', () => {
  it('lasts from the template change to the last member being back, whatever comes after', () => {
    const absences = [absence(2, 110, 200), absence(1, 250, 400)];
    const measure = { beganMilliseconds: 100, absences, switchovers: [switchover(1, 300, 500)] };
    expect(resultOf(measure, 7)).to.deep.equal({
      rollout: 300,
      parts: 90 + 150 + 200,
      withoutWrites: 7,
      switchovers: 1,
      mostAway: 1,
    });
  });

  it('has one switchover among its parts, the longest, however many there were', () => {
    const switchovers = [switchover(1, 0, 30), switchover(2, 100, 150)];
    expect(resultOf({ beganMilliseconds: 0, absences: [absence(0, 0, 10)], switchovers }, 0)).to.include({
      parts: 10 + 50,
      switchovers: 2,
    });
  });

  it('counts who was away at once, but not one that comes back as the next one goes', () => {
    const measure = (...absences: ReturnType<typeof absence>[]) =>
      resultOf({ beganMilliseconds: 0, absences, switchovers: [] }, 0).mostAway;
    expect(measure(absence(2, 0, 10), absence(1, 10, 20))).to.equal(1);
    expect(measure(absence(2, 0, 10), absence(1, 9, 20), absence(0, 15, 30))).to.equal(2);
    expect(measure(absence(2, 0, 30), absence(1, 9, 20), absence(0, 15, 30))).to.equal(3);
  });
});

describe('hack/bench-modes: the time without writes', () => {
  class Databases {
    takesWritesNow = true;
    listener: ((namespace: string, name: string) => void) | null = null;

    takesWrites(): boolean {
      return this.takesWritesNow;
    }

    onDatabasesChange(callback: (namespace: string, name: string) => void): () => void {
      this.listener = callback;
      return () => {
        this.listener = null;
      };
    }
  }

  it('adds up, however often it is asked, and ends with the measurement', () => {
    const databases = new Databases();
    let now = 0;
    const at = (milliseconds: number, takesWrites: boolean, name = 'test'): void => {
      now = milliseconds;
      databases.takesWritesNow = takesWrites;
      databases.listener?.('here', name);
    };
    const outage = new Outage(databases, 'here', 'test', () => now);
    at(10, false);
    at(15, false);
    at(20, true);
    at(25, false, 'another');
    at(30, false);
    now = 37;
    expect(outage.end()).to.equal(10 + 7);
    expect(databases.listener).to.equal(null);
  });
});
