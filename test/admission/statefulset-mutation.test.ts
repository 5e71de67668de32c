import { expect } from 'chai';
import { anything, assert, property } from 'fast-check';
import { mutateStatefulSet } from '../../src/admission/statefulset-mutation.ts';

const labels = { 'moco-rollout.io/strategy': 'OnDelete', 'app.kubernetes.io/created-by': 'moco' };
const forced = { 'moco.cybozu.com/force-rolling-update': 'true' };
const patch = [{ op: 'add', path: '/spec/updateStrategy', value: { type: 'OnDelete' } }];

describe('the StatefulSet mutation', () => {
  const patched: Readonly<Record<string, unknown>> = {
    'MOCO’s apply, after MOCO’s webhook has set a partition': {
      type: 'RollingUpdate',
      rollingUpdate: { partition: 3 },
    },
    'RollingUpdate alone': { type: 'RollingUpdate' },
    'OnDelete with a partition that MOCO’s webhook put beside it': {
      type: 'OnDelete',
      rollingUpdate: { partition: 3 },
    },
    'OnDelete with a rollingUpdate of null': { type: 'OnDelete', rollingUpdate: null },
    'an empty strategy': {},
    'no strategy': undefined,
    'a strategy that is no object': 'OnDelete',
  };
  for (const [sentence, updateStrategy] of Object.entries(patched)) {
    it(`makes OnDelete of ${sentence}`, () => {
      expect(mutateStatefulSet({ metadata: { labels }, spec: { updateStrategy } })).to.deep.equal({
        kind: 'patched',
        because: 'labelled',
        patch,
      });
    });
  }

  it('sends no patch for what is OnDelete already', () => {
    expect(mutateStatefulSet({ metadata: { labels }, spec: { updateStrategy: { type: 'OnDelete' } } })).to.deep.equal({
      kind: 'unchanged',
      because: 'already-on-delete',
    });
  });

  it('leaves a forced rolling update alone', () => {
    const metadata = { labels, annotations: forced };
    expect(mutateStatefulSet({ metadata, spec: { updateStrategy: { type: 'RollingUpdate' } } })).to.deep.equal({
      kind: 'unchanged',
      because: 'forced',
    });
  });

  for (const value of ['false', 'True', '1', '']) {
    it(`treats force-rolling-update=${value} as not forced, as MOCO does`, () => {
      const metadata = { labels, annotations: { 'moco.cybozu.com/force-rolling-update': value } };
      expect(mutateStatefulSet({ metadata, spec: {} })).to.include({ kind: 'patched' });
    });
  }

  it('leaves alone whatever doesn’t carry the label with its value', () => {
    for (const metadata of [
      {},
      { labels: {} },
      { labels: { 'moco-rollout.io/strategy': 'Partition' } },
      { labels: { 'moco-rollout.io/strategy': 'ondelete' } },
      { annotations: { 'moco-rollout.io/strategy': 'OnDelete' } },
    ]) {
      const spec = { updateStrategy: { type: 'RollingUpdate' } };
      expect(mutateStatefulSet({ metadata, spec })).to.deep.equal({ kind: 'unchanged', because: 'not-labelled' });
    }
  });

  it('changes nothing when it sees again what it made', () => {
    assert(
      property(anything(), (updateStrategy) => {
        const first = mutateStatefulSet({ metadata: { labels }, spec: { updateStrategy } });
        const made = first.kind === 'patched' ? first.patch[0]?.value : updateStrategy;
        expect(made).to.deep.equal({ type: 'OnDelete' });
        expect(mutateStatefulSet({ metadata: { labels }, spec: { updateStrategy: made } }).kind).to.equal('unchanged');
      }),
    );
  });
});
