import { expect } from 'chai';
import type { RolloutProgress } from '../../src/api/rollout-progress.ts';
import { explainWayBack, isRisky, wayBack } from '../../src/cli/cluster/way-back.ts';
import { revisionAfter as after, revisionBefore as before } from '../controller/moco-objects.ts';
import { imagePath, progress } from './failing-member.ts';

/** Where mysqld goes on from, and where it goes back to. */
const from = (older: string, newer: string): RolloutProgress['changes'] => [
  { path: imagePath, from: older, to: newer },
];

const safe = (series: string): RegExp => new RegExp(`^safe by MySQL's manual.*: both images are of series ${series}$`);

const cases: Readonly<Record<string, readonly [changes: RolloutProgress['changes'], data: RegExp]>> = {
  'within a series': [from('mysql:8.4.7', 'mysql:8.4.8'), safe('8.4')],
  'within 9.7': [from('ghcr.io/cybozu-go/moco/mysql:9.7.0.1', 'ghcr.io/cybozu-go/moco/mysql:9.7.2.1'), safe('9.7')],
  'within 8.0': [from('mysql:8.0.35', 'mysql:8.0.42'), safe('8.0')],
  'within 8.0, to before its last incompatible release': [
    from('mysql:8.0.34', 'mysql:8.0.42'),
    /^at risk: .* downgrade from 8\.0\.42 to 8\.0\.34\./,
  ],
  'to another image of the same release': [from('mysql:9.1.0.1', 'mysql:9.1.0.2@sha256:ab'), safe('9.1')],
  'within an innovation series': [
    from('mysql:9.1.0', 'mysql:9.1.1'),
    /^at risk: .* downgrade from 9\.1\.1 to 9\.1\.0\./,
  ],
  'from 9.1 to 8.4': [
    from('mysql:8.4.8', 'mysql:9.1.0'),
    /^at risk: .* downgrade from 9\.1\.0 to 8\.4\.8\. If mysqld .* refuses to start/,
  ],
  'from 8.4 to 8.0': [from('mysql:8.0.41', 'mysql:v8.4'), /^at risk: .* downgrade from 8\.4 to 8\.0\.41\./],
  'between images without a version': [from('registry:5000/mysql', 'mysql@sha256:00'), /^unknown, /],
  'without known changes': [undefined, /^unknown, because the versions of mysqld are not known\./],
  'without a change of mysqld': [
    [{ path: 'spec.containers[agent].image', from: 'agent:1', to: 'agent:2' }],
    /^safe: the update revision does not change the image of mysqld$/,
  ],
};

describe('what going back means for the data of a member', () => {
  for (const [what, [changes, data]] of Object.entries(cases)) {
    it(what, () => {
      const { changes: _, ...unchanged } = progress;
      const back = wayBack({ ...unchanged, ...(changes && { changes }) }, { before, after }, false);
      expect(explainWayBack(back)).to.match(data);
      expect(isRisky(back)).to.equal(/at risk|unknown/.test(String(data)));
    });
  }

  it('is nothing if mysqld has never started, and unknown from any other revision', () => {
    expect(wayBack(progress, { before, after }, true).kind).to.equal('neverStarted');
    for (const revisions of [
      { before: 'moco-test-1', after },
      { before, after: 'moco-test-1' },
    ])
      expect(wayBack(progress, revisions, false).kind).to.equal('unknown');
  });
});
