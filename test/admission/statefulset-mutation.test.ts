import { expect } from 'chai';
import { anything, assert, property } from 'fast-check';
import { mutateStatefulSet } from '../../src/admission/mutations.ts';

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
        because: 'labelled',
        patch,
      });
    });
  }

  it('sends no patch for what is OnDelete already', () => {
    expect(mutateStatefulSet({ metadata: { labels }, spec: { updateStrategy: { type: 'OnDelete' } } })).to.deep.equal({
      because: 'already-on-delete',
      patch: [],
    });
  });

  it('leaves a forced rolling update alone', () => {
    const metadata = { labels, annotations: forced };
    expect(mutateStatefulSet({ metadata, spec: { updateStrategy: { type: 'RollingUpdate' } } })).to.deep.equal({
      because: 'forced',
      patch: [],
    });
  });

  for (const value of ['false', 'True', '1', '']) {
    it(`treats force-rolling-update=${value} as not forced, as MOCO does`, () => {
      const metadata = { labels, annotations: { 'moco.cybozu.com/force-rolling-update': value } };
      expect(mutateStatefulSet({ metadata, spec: {} })).to.include({ because: 'labelled' });
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
      expect(mutateStatefulSet({ metadata, spec })).to.deep.equal({ because: 'not-labelled', patch: [] });
    }
  });

  describe('with the label for new pods', () => {
    const keptLabels = { ...labels, 'moco-rollout.io/new-pods': 'CurrentRevision' };
    const pinned = (partition: number): object => ({ type: 'RollingUpdate', rollingUpdate: { partition } });
    const made = (spec: Record<string, unknown>, metadata: object = {}) =>
      mutateStatefulSet({ metadata: { labels: keptLabels, ...metadata }, spec });

    for (const [sentence, updateStrategy] of Object.entries({
      ...patched,
      'a partition that another client has lowered': pinned(2),
      'OnDelete alone': { type: 'OnDelete' },
    })) {
      it(`makes partition = replicas of ${sentence}`, () => {
        const expected = pinned(5);
        expect(made({ replicas: 5, updateStrategy })).to.deep.equal({
          because: 'revisions-kept',
          patch: [{ op: 'add', path: '/spec/updateStrategy', value: expected }],
        });
      });
    }

    it('sends no patch for what is so already', () => {
      expect(made({ replicas: 3, updateStrategy: pinned(3) })).to.deep.equal({ because: 'already-kept', patch: [] });
    });

    it('treats missing replicas as 1', () => {
      expect(made({ updateStrategy: pinned(1) })).to.include({ because: 'already-kept' });
    });

    it('makes OnDelete where replicas are no number, rather than a partition of 0', () => {
      for (const replicas of ['3', -1, 1.5]) {
        expect(made({ replicas })).to.deep.equal({ because: 'labelled', patch });
      }
    });

    it('leaves a forced rolling update alone', () => {
      expect(made({ replicas: 3 }, { annotations: forced })).to.deep.equal({ because: 'forced', patch: [] });
    });

    it('makes OnDelete for any other value of it', () => {
      for (const value of ['UpdateRevision', 'currentrevision', '']) {
        const metadata = { labels: { ...labels, 'moco-rollout.io/new-pods': value } };
        expect(mutateStatefulSet({ metadata, spec: { replicas: 3 } })).to.deep.include({ patch });
      }
    });

    it('has no effect without the other label', () => {
      const metadata = { labels: { 'moco-rollout.io/new-pods': 'CurrentRevision' } };
      expect(mutateStatefulSet({ metadata, spec: { replicas: 3 } }).because).to.equal('not-labelled');
    });
  });

  describe('in a dry run that asks which admission keeps the strategy', () => {
    const annotations = { 'moco-rollout.io/admission-probe': 'true' };
    const answer = { op: 'add', path: '/metadata/annotations/moco-rollout.io~1admission-probe', value: 'webhook' };

    it('answers, whether or not the strategy has to be changed', () => {
      for (const [updateStrategy, others] of [
        [{ type: 'OnDelete' }, []],
        [{ type: 'RollingUpdate' }, patch],
      ] as const) {
        expect(mutateStatefulSet({ metadata: { labels, annotations }, spec: { updateStrategy } })).to.deep.equal({
          because: 'labelled',
          patch: [...others, answer],
        });
      }
    });

    it('answers once, and not if it does not keep the strategy', () => {
      const answered = { 'moco-rollout.io/admission-probe': 'webhook' };
      for (const metadata of [
        { labels, annotations: answered },
        { labels, annotations: { ...annotations, ...forced } },
        { annotations },
      ]) {
        expect(mutateStatefulSet({ metadata, spec: { updateStrategy: { type: 'OnDelete' } } }).patch).to.deep.equal([]);
      }
    });
  });

  it('changes nothing when it gets its own result again', () => {
    assert(
      property(anything(), (updateStrategy) => {
        const first = mutateStatefulSet({ metadata: { labels }, spec: { updateStrategy } });
        const [change] = first.patch;
        const made = change?.op === 'add' ? change.value : updateStrategy;
        expect(made).to.deep.equal({ type: 'OnDelete' });
        expect(mutateStatefulSet({ metadata: { labels }, spec: { updateStrategy: made } }).patch).to.deep.equal([]);
      }),
    );
  });
});
