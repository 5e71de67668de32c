import { expect } from 'chai';
import { benchLines } from '../../../hack/demo/bench-table.ts';
import { reactions } from '../../../hack/demo/reaction.ts';
import { type Summary, summaryLines, summaryOf } from '../../../hack/demo/summary.ts';
import { jsonOf } from '../../../hack/demo/summary-json.ts';
import { type Line, painted } from '../../../src/cli/painted.ts';
import { demoted, evicted, healthy, podMade, podReady } from './audit-events.ts';
import { healthyRollout, leaving, measureOf, member, sight, timestampAt, updated } from './sights.ts';

const stem = 'moco-test';
const since = Date.parse(timestampAt(0));

/** The API server's record of {@link healthyRollout}. */
const record = [
  podMade(-900, 'moco-test-0'),
  podMade(-900, 'moco-test-1'),
  podMade(-900, 'moco-test-2'),
  evicted(195, 'moco-test-2'),
  healthy(300, false),
  podMade(900, 'moco-test-2'),
  podReady(2295, 'moco-test-2'),
  healthy(2345, true),
  evicted(2390, 'moco-test-1'),
  healthy(2500, false),
  podMade(3100, 'moco-test-1'),
  podReady(4595, 'moco-test-1'),
  healthy(4635, true),
  demoted(4690, 'moco-test-0', 'true'),
  healthy(4950, false),
  healthy(5095, true),
  evicted(5160, 'moco-test-0'),
];

const summary: Summary = summaryOf(measureOf(healthyRollout()), reactions(record, since), stem);
const textOf = (lines: readonly Line[]): string => lines.map((line) => painted(line, false).trimEnd()).join('\n');

describe('hack/demo: the summary', () => {
  it('holds the time from the template change to the last member back against the sum of its parts', () => {
    expect(summary.rolloutMilliseconds).to.equal(7300);
    expect(summary.partsMilliseconds).to.equal(2100 + 2200 + 2100 + 400);
    expect(summary.ratio).to.be.closeTo(7300 / 6800, 1e-9);
  });

  it('shows the order, the verbs and what the numbers are made of', () => {
    expect(textOf(summaryLines(summary))).to.equal(`\
  ORDER  MEMBER       BY      TOOK    LAST GATE            SINCE READY
  1      moco-test-2  evict   2.10 s
  2      moco-test-1  evict   2.20 s  40 ms after Healthy  90 ms
  3      moco-test-0  demote  0.40 s  50 ms after Healthy  90 ms
  4      moco-test-0  evict   2.10 s  60 ms after Healthy

  rollout    7.30 s        from the template change to the last member back
  its parts  6.80 s        2.10 s + 2.20 s + 2.10 s + 0.40 s of switchover
  ratio      1.074         7.30 s / 6.80 s, within 1.15
  caused     1 switchover  from moco-test-0 to moco-test-1
  reaction   60 ms         at most, from the last gate opening to the step
             90 ms         at most, from Ready to the step, MOCO's part in it`);
  });

  it('says that a ratio above the limit is above it', () => {
    expect(textOf(summaryLines({ ...summary, ratio: 1.151 }))).to.contain('1.151         7.30 s / 6.80 s, above 1.15');
    expect(textOf(summaryLines({ ...summary, ratio: 1.15 }))).to.contain('within 1.15');
  });

  it('needs no switchover where there was none', () => {
    const single = [
      sight(0, { members: [member(0)] }),
      sight(100, { members: [leaving(0)] }),
      sight(2100, { members: [updated(0)] }),
    ];
    const lines = summaryLines(summaryOf(measureOf(single), reactions([evicted(90, 'moco-test-0')], since), stem));
    expect(textOf(lines)).to.equal(`\
  ORDER  MEMBER       BY     TOOK    LAST GATE  SINCE READY
  1      moco-test-0  evict  2.00 s

  rollout    2.10 s        from the template change to the last member back
  its parts  2.00 s        2.00 s
  ratio      1.050         2.10 s / 2.00 s, within 1.15
  caused     0 switchovers`);
  });

  it('fails where the API server recorded a step that the watches have not shown', () => {
    const unseen = reactions([evicted(10, 'moco-test-7')], since);
    expect(() => summaryOf(measureOf(healthyRollout()), unseen, stem)).to.throw(
      'Expected the watches to have shown what `evict` did to moco-test-7, they have not',
    );
  });

  it('is one JSON object for programs', () => {
    const json = jsonOf(summary, { members: 3, restartMilliseconds: 2000 });
    expect(json).to.deep.include({
      members: 3,
      restartSeconds: 2,
      rolloutSeconds: 7.3,
      partsSeconds: 6.8,
      ratio: 1.074,
      longestReactionMilliseconds: 60,
      longestReactionSinceReadyMilliseconds: 90,
      switchovers: [{ from: 'moco-test-0', to: 'moco-test-1', seconds: 0.4 }],
    });
    expect(json.steps[2]).to.deep.equal({
      verb: 'demote',
      member: 'moco-test-0',
      seconds: 0.4,
      reactionMilliseconds: 50,
      gate: 'Healthy',
      sinceReadyMilliseconds: 90,
    });
  });
});

describe('hack/demo: the table of several rollouts', () => {
  it('closes with median, lowest and highest of every column', () => {
    const slower = { ...summary, rolloutMilliseconds: 8300, ratio: 8300 / 6800 };
    const slowest = { ...summary, rolloutMilliseconds: 9300, ratio: 9300 / 6800 };
    const table = textOf(benchLines([slowest, summary, slower])).split('\n\n')[0];
    expect(table).to.equal(`\
  RUN      ROLLOUT   PARTS  RATIO  REACTION p50    max  SINCE READY p50    max
  1         9.30 s  6.80 s  1.368         50 ms  60 ms            90 ms  90 ms
  2         7.30 s  6.80 s  1.074         50 ms  60 ms            90 ms  90 ms
  3         8.30 s  6.80 s  1.221         50 ms  60 ms            90 ms  90 ms
  median    8.30 s  6.80 s  1.221         50 ms  60 ms            90 ms  90 ms
  lowest    7.30 s  6.80 s  1.074         50 ms  60 ms            90 ms  90 ms
  highest   9.30 s  6.80 s  1.368         50 ms  60 ms            90 ms  90 ms`);
  });
});
