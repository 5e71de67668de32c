import { expect } from 'chai';
import { statefulSets } from '../../src/kube/resource.ts';
import { until } from '../support/control-plane/until.ts';
import { useRollouts } from './rollout-fixture.ts';
import { imageOf } from './rollout-members.ts';
import { wholeRollout } from './rollout-story.ts';

/** What kubectl prints, or what it says when it fails. */
const said = (kubectl: Promise<string>): Promise<string> =>
  kubectl.catch((error: unknown) => (error instanceof Error ? error.message : String(error)));

// The table in docs/reference.md, cell by cell.
describe('kubectl rollout of a cluster’s StatefulSet', () => {
  const { scenario } = useRollouts();

  scenario('at OnDelete knows no status, and restarts as any other rollout', {}, async (cluster) => {
    const { name } = cluster;
    const rollout = (verb: string, ...more: readonly string[]): Promise<string> =>
      said(cluster.kubectl('rollout', verb, `statefulset/moco-${name}`, ...more));
    expect(await rollout('status', '--watch=false')).to.contain(
      'rollout status is only available for RollingUpdate strategy type',
    );
    const before = cluster.now.statefulSet?.status?.updateRevision;
    expect(await rollout('restart')).to.contain('restarted');
    await cluster.until('another revision is wanted', ({ statefulSet }) => {
      const { updateRevision, observedGeneration } = statefulSet?.status ?? {};
      return updateRevision !== before && observedGeneration === statefulSet?.metadata.generation;
    });
    await cluster.completes();
    expect(await cluster.steps()).to.deep.equal(wholeRollout);
    const describes = async (kind: string): Promise<boolean> => {
      const text = await cluster.kubectl('describe', kind, name);
      return ['Evicted', 'Demoted', 'RevisionPromoted'].every((reason) => text.includes(reason));
    };
    for (const kind of ['mysqlcluster', 'mysqlrollout']) {
      await until(`kubectl describe ${kind} shows each step`, () => describes(kind));
    }
    const history = await rollout('history');
    expect(history).to.match(/^REVISION\s+CHANGE-CAUSE$/m);
    expect(history).to.match(/^2\s+<none>$/m);
  });

  scenario('at OnDelete undoes nothing: MOCO writes its own template again', {}, async (cluster) => {
    await cluster.setting({ paused: true });
    const before = cluster.now.statefulSet?.status?.updateRevision;
    await cluster.setImage('mysql:8.4.9');
    const wanted = await cluster.until('the new image is wanted', ({ statefulSet }) => {
      const revision = statefulSet?.status?.updateRevision;
      return revision !== before && revision;
    });
    expect(await said(cluster.kubectl('rollout', 'undo', `statefulset/moco-${cluster.name}`))).to.contain(
      'rolled back',
    );
    // However short the moment is: MOCO may write its own before anybody has looked.
    await cluster.until('the image before has been wanted, and MOCO’s own is again', ({ statefulSet }) => {
      const images = cluster.versions(statefulSets).map(([, version]) => imageOf(version));
      const lastBefore = images.lastIndexOf('mysql:8.4.8');
      const undone = lastBefore > images.indexOf('mysql:8.4.9');
      const { updateRevision, observedGeneration } = statefulSet?.status ?? {};
      const observed = observedGeneration === statefulSet?.metadata.generation;
      return undone && observed && updateRevision === wanted;
    });
  });
});
