import { expect } from 'chai';
import { mutateCreation } from '../../src/webhook/creation-mutation.ts';
import type { PatchOperation } from '../../src/webhook/stateful-set.ts';
import { applyPatch } from './apply-patch.ts';
import { annotated, mocoStatefulSet, ownedBy } from './stateful-sets.ts';

const label = { 'moco-rollout.io/strategy': 'OnDelete' };
const strategy: PatchOperation = { op: 'add', path: '/spec/updateStrategy', value: { type: 'OnDelete' } };
const yes = (): boolean => true;

describe('the mutation of a new StatefulSet', () => {
  it('labels it and makes it OnDelete in the place of what MOCO’s webhook made of it', () => {
    const made = mutateCreation(mocoStatefulSet(), 'ns', yes);
    expect(made).to.deep.equal({
      because: 'on-delete',
      patch: [
        { op: 'add', path: '/metadata/labels', value: { 'app.kubernetes.io/created-by': 'moco', ...label } },
        strategy,
      ],
    });
  });

  it('asks about the MySQLCluster that owns it, in its namespace', () => {
    const asked: string[] = [];
    mutateCreation(mocoStatefulSet(), 'ns', (namespace, clusterName) => {
      asked.push(`${namespace}/${clusterName}`);
      return false;
    });
    expect(asked).to.deep.equal(['ns/test']);
  });

  it('labels one that has no labels', () => {
    for (const labels of [null, undefined]) {
      const { patch } = mutateCreation(mocoStatefulSet({ metadata: { labels } }), 'ns', yes);
      expect(patch).to.deep.equal([{ op: 'add', path: '/metadata/labels', value: label }, strategy]);
    }
  });

  it('changes nothing when it is asked again about what it made', () => {
    const made = applyPatch(mocoStatefulSet(), mutateCreation(mocoStatefulSet(), 'ns', yes).patch);
    expect(mutateCreation(made, 'ns', yes)).to.deep.equal({ because: 'on-delete', patch: [] });
  });

  it('leaves one of a cluster that isn’t at OnDelete', () => {
    expect(mutateCreation(mocoStatefulSet(), 'ns', () => false)).to.deep.equal({ because: 'not-on-delete', patch: [] });
  });

  it('leaves one whose rolling update is forced, without asking', () => {
    const forced = mocoStatefulSet(annotated({ 'moco.cybozu.com/force-rolling-update': 'true' }));
    expect(mutateCreation(forced, 'ns', never)).to.deep.equal({ because: 'forced', patch: [] });
    const notForced = mocoStatefulSet(annotated({ 'moco.cybozu.com/force-rolling-update': 'yes' }));
    expect(mutateCreation(notForced, 'ns', yes).because).to.equal('on-delete');
  });

  it('leaves one that isn’t owned by a MySQLCluster alone, without asking', () => {
    for (const owners of [[], [{ kind: 'Deployment' }], [{}, { kind: 'Deployment' }], [{ apiVersion: 'x/v1' }]]) {
      expect(mutateCreation(mocoStatefulSet(ownedBy(...owners)), 'ns', never)).to.deep.equal({
        because: 'not-of-a-cluster',
        patch: [],
      });
    }
  });
});

function never(): never {
  throw new Error('expected not to be asked');
}
