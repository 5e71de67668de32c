import { expect } from 'chai';
import { changedSeries } from './run-directory.ts';

describe('the series that changed between two scrapes', () => {
  it('are new ones and those with another value', () => {
    const before = '# HELP moco_rollout_a b\nmoco_rollout_a{x="1"} 1\nmoco_rollout_b 2\n';
    const after = '# HELP moco_rollout_a c\nmoco_rollout_a{x="1"} 2\nmoco_rollout_a{x="2"} 0\nmoco_rollout_b 2\n';
    expect(changedSeries(before, after)).to.deep.equal(['moco_rollout_a{x="1"} 2', 'moco_rollout_a{x="2"} 0']);
    expect(changedSeries(before, before)).to.deep.equal([]);
  });

  it('are none of the process, and no parts of histograms', () => {
    const after =
      'process_open_fds 40\nmoco_rollout_duration_seconds_bucket{le="1"} 1\nmoco_rollout_cache_age_seconds 1\n';
    expect(changedSeries('', after)).to.deep.equal([]);
  });
});
