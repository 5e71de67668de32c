import { expect } from 'chai';
import { frame } from '../../../hack/demo/frame.ts';
import { sceneOf } from '../../../hack/demo/scene.ts';
import type { Sight } from '../../../hack/demo/sight.ts';
import type { Happening } from '../../../hack/demo/story.ts';
import { painted } from '../../../src/cli/painted.ts';
import { healthyRollout, measureOf, member, sight, starting, status, timestampAt, updated } from './sights.ts';

const story: readonly Happening[] = [
  {
    kind: 'event',
    afterMilliseconds: 2300,
    subject: 'moco-test-2',
    sentence: 'is back after 2.10 s: 1 of 3 updated',
    style: 'green',
  },
  { kind: 'event', afterMilliseconds: 2400, subject: 'moco-test-1', sentence: 'is evicted', style: 'plain' },
];

/** As a terminal of that size shows it at that moment, line by line. */
function shown(
  sights: readonly Sight[],
  nowMilliseconds: number,
  { columns = 80, rows = 24, colour = false, happenings = story } = {},
): string {
  const last = sights.at(-1) ?? sight(0);
  const lines = frame(sceneOf(last, measureOf(sights), nowMilliseconds), happenings, { columns, rows });
  return lines.map((line) => painted(line, colour)).join('\n');
}

const waiting = status({
  hold: {
    rule: 'UpdatedMemberNotParticipating',
    message: 'moco-test-1 is updated, but does not participate (running)',
    since: timestampAt(3000),
  },
  members: {
    0: { role: 'primary', updated: false, state: 'participating', verdict: 'Next' },
    1: { role: 'replica', updated: true, state: 'running', verdict: 'Starting' },
    2: { role: 'replica', updated: true, state: 'participating', verdict: 'Updated' },
  },
});
const middle = [
  ...healthyRollout().filter(({ atMilliseconds }) => atMilliseconds < 3100),
  sight(3100, { members: [member(0), starting(1), updated(2)], status: waiting }),
];

describe('hack/demo: a frame', () => {
  it('on 80 columns leaves the hashes out and gives a hold two lines', () => {
    expect(shown(middle, 4000)).to.equal(`\
test   Progressing   1 of 3 updated   revision 7966559688   4.0 s   ███████░░░░░
  waiting    UpdatedMemberNotParticipating  1.0 s
             moco-test-1 is updated, but does not participate (running)

  MEMBER       ROLE     REVISION  STATE          VERDICT
  moco-test-0  primary  stale     participating  next, by a switchover first
  moco-test-1  replica  updated   starting       starting, away for 1.6 s
  moco-test-2  replica  updated   participating  updated in 2.1 s

  2.30 s  moco-test-2   is back after 2.10 s: 1 of 3 updated
  2.40 s  moco-test-1   is evicted`);
  });

  it('on 120 columns has everything', () => {
    expect(shown(middle, 4000, { columns: 120 })).to.equal(`\
test   Progressing   1 of 3 updated   revision 7966559688   4.0 s   █████████████████░░░░░░░░░░░░░
  waiting    UpdatedMemberNotParticipating: moco-test-1 is updated, but does not participate (running)  1.0 s

  MEMBER       ROLE     REVISION             STATE          VERDICT
  moco-test-0  primary  5897fd84f8  stale    participating  next, by a switchover first
  moco-test-1  replica  7966559688  updated  starting       starting, away for 1.6 s
  moco-test-2  replica  7966559688  updated  participating  updated in 2.1 s

  2.30 s  moco-test-2   is back after 2.10 s: 1 of 3 updated
  2.40 s  moco-test-1   is evicted`);
  });

  it('in colour says the same in the same places', () => {
    for (const columns of [80, 120]) {
      const coloured = shown(middle, 4000, { columns, colour: true });
      // oxlint-disable-next-line no-control-regex
      expect(coloured.replaceAll(/\u001B\[\d+m/g, '')).to.equal(shown(middle, 4000, { columns }));
    }
    expect(shown(middle, 4000, { colour: true, happenings: [] }).split('\n').slice(0, 6)).to.deep.equal([
      '\u001B[1mtest\u001B[0m   \u001B[36mProgressing\u001B[0m   1 of 3 updated   \u001B[2mrevision \u001B[0m7966559688   4.0 s   \u001B[36m███████\u001B[0m\u001B[2m░░░░░\u001B[0m',
      '  \u001B[33mwaiting  \u001B[0m  \u001B[1mUpdatedMemberNotParticipating\u001B[0m\u001B[2m  1.0 s\u001B[0m',
      '             moco-test-1 is updated, but does not participate (running)',
      '',
      '  \u001B[2mMEMBER\u001B[0m       \u001B[2mROLE\u001B[0m     \u001B[2mREVISION\u001B[0m  \u001B[2mSTATE\u001B[0m          \u001B[2mVERDICT\u001B[0m',
      '  \u001B[1mmoco-test-0\u001B[0m  \u001B[35mprimary\u001B[0m  \u001B[33mstale  \u001B[0m   \u001B[32mparticipating\u001B[0m  \u001B[1mnext, by a switchover first\u001B[0m',
    ]);
  });

  it('stops its clock when the last member is back', () => {
    const [header, note] = shown(healthyRollout(), 60_000, { happenings: [] }).split('\n');
    expect(header).to.equal('test   Complete   3 of 3 updated   revision 7966559688   7.3 s   ███████████████');
    expect(note).to.equal('  done       every member is at the newest revision and participates');
  });

  it('says of a step that was written down that it is being done', () => {
    const intent = {
      id: 'a',
      holder: 'b',
      step: 'demote' as const,
      rule: 'PrimaryLast',
      revision: 'c',
      at: timestampAt(4600),
      pods: [{ name: 'moco-test-0', uid: 'old-0', resourceVersion: '1' }],
    };
    const lines = shown([sight(4700, { status: status({ intent }) })], 4800, { happenings: [] }).split('\n');
    expect(lines.slice(1, 3)).to.deep.equal([
      '  step       PrimaryLast  0.2 s',
      '             asked MOCO to move the primary away from moco-test-0',
    ]);
  });

  it('says of what has been done what it was and how long ago, once nothing holds', () => {
    const lastStep = {
      step: 'evict' as const,
      rule: 'ReplicaHealthy',
      pods: ['moco-test-2'],
      at: timestampAt(200),
      result: 'done',
    };
    const rollout = {
      revision: 'c',
      startedAt: timestampAt(0),
      lastProgressAt: timestampAt(0),
      proven: true,
      takenDown: [],
      disruptions: 1,
      switchovers: 0,
    };
    const lines = shown([sight(300, { status: status({ lastStep, rollout }) })], 1200, { happenings: [] }).split('\n');
    expect(lines.slice(1, 3)).to.deep.equal(['  last step  ReplicaHealthy  1.0 s', '             evicted moco-test-2']);
  });

  it('does not repeat what a status says about the revision before', () => {
    const old = { ...waiting, updateRevision: 'moco-test-5897fd84f8' };
    const lines = shown([sight(100, { status: old })], 150, { happenings: [] }).split('\n');
    expect(lines[1]).to.match(/^ {2}started /);
    expect(lines[5]).to.match(/last, after a switchover$/);
  });

  it('shows of what happened the newest that fits, and never more lines than there are', () => {
    const many = Array.from(
      { length: 50 },
      (_, index): Happening => ({
        kind: 'event',
        afterMilliseconds: index * 1000,
        subject: 'test',
        sentence: `number ${index}`,
        style: 'plain',
      }),
    );
    for (const rows of [1, 5, 9, 12, 24]) {
      const lines = shown(middle, 4000, { rows, happenings: many }).split('\n');
      expect(lines.length, `${rows} rows`).to.be.lessThan(Math.max(2, rows));
    }
    expect(shown(middle, 4000, { rows: 12, happenings: many })).to.match(/number 48\n.*number 49$/);
  });

  it('never has a line wider than the terminal', () => {
    for (const columns of [10, 40, 60, 80, 99, 100, 109, 110, 200]) {
      for (const line of shown(middle, 4000, { columns }).split('\n')) {
        expect(line.length, `${columns} columns: ${line}`).to.be.at.most(columns);
      }
    }
  });
});
