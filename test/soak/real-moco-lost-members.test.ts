import { expect } from 'chai';
import { revisionHashLabel } from '../../src/moco/names.ts';
import { realMocoScene } from '../cluster/real-moco-fixture.ts';
import { useRollouts } from '../cluster/rollout-fixture.ts';
import { isReady } from '../cluster/rollout-members.ts';
import { controllerUser } from '../cluster/rollout-story.ts';
import type { AuditEvent } from '../support/control-plane/control-plane.ts';

const takes = Number(process.env['TAKES'] ?? 30);
const restSeconds = 60;

// MOCO's pods take 20 s to stop. So long a flip of the strategy may take, if a member is to come back as what it was.
describe('members whose pods another client deletes again and again, with moco-controller 0.36', () => {
  const { newCluster, stage } = useRollouts(realMocoScene);

  it('all keep their revision', async () => {
    const cluster = newCluster();
    await cluster.create({});
    await cluster.isTaken();
    cluster.slowNodes({ stopMilliseconds: 5000 });
    await cluster.setting({ pinnedMembers: [{ ordinal: 1, reason: 'it is taken again and again' }] });
    await cluster.setImage('mysql:8.4.9');
    await cluster.holds('PrimaryWaitsForPinned');
    const pod = (): Promise<{ uid: string; revision: string | undefined }> =>
      cluster.pod(1, 'works', isReady).then(({ metadata }) => {
        return { uid: metadata.uid, revision: metadata.labels?.[revisionHashLabel] };
      });
    const { revision } = await pod();
    await cluster.begin();
    for (let take = 0; take < takes; take++) {
      const { uid } = await pod();
      await cluster.kubectl('delete', 'pod', cluster.podName(1), '--wait=false');
      const back = await cluster.pod(1, 'is another one and works', (one) => one.metadata.uid !== uid && isReady(one));
      expect(back.metadata.labels?.[revisionHashLabel], `take ${take}`).to.equal(revision);
      await cluster.until('the StatefulSet is at OnDelete', ({ statefulSet }) => {
        return statefulSet?.spec?.updateStrategy?.type === 'OnDelete';
      });
    }
    const audit = (await stage().controlPlane.audit()).filter(
      ({ objectRef }) => objectRef?.namespace === cluster.namespace,
    );
    const milliseconds = flips(audit).toSorted((one, other) => one - other);
    expect(milliseconds).to.have.length(takes);
    const at = (part: number): number => milliseconds[Math.min(takes - 1, Math.floor(takes * part))] ?? 0;
    console.log(`from the deletion to the strategy: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms of ${takes}`);
    const writes = (await cluster.requests()).filter(({ verb }) => verb !== 'get' && verb !== 'list');
    console.log(
      `writes of the controller, dry runs and statuses included: ${(writes.length / takes).toFixed(1)} a take`,
    );
    await cluster.setting({ pinnedMembers: null });
    await cluster.completes();
  });

  it('cost a patch of MOCO every 10 to 30 s while the rollout is held', async () => {
    const cluster = newCluster();
    await cluster.create({});
    await cluster.isTaken();
    await cluster.setting({ paused: true });
    await cluster.setImage('mysql:8.4.9');
    await cluster.until('new pods come up at the current revision', ({ statefulSet }) => {
      return statefulSet?.spec?.updateStrategy?.type === 'RollingUpdate';
    });
    const revisions = cluster.now.pods.map(({ metadata }) => metadata.uid);
    const from = Date.now();
    await new Promise((resolve) => setTimeout(resolve, restSeconds * 1000));
    const patches = (await stage().controlPlane.audit()).filter(
      ({ verb, objectRef, user, requestReceivedTimestamp }) =>
        verb === 'patch' &&
        objectRef?.resource === 'statefulsets' &&
        objectRef.namespace === cluster.namespace &&
        user.username !== controllerUser &&
        Date.parse(requestReceivedTimestamp) > from,
    );
    console.log(`patches of MOCO in ${restSeconds} s: ${patches.length}`);
    expect(cluster.now.pods.map(({ metadata }) => metadata.uid)).to.have.members(revisions);
    await cluster.setting({ paused: false });
    await cluster.completes();
  });
});

/** Milliseconds from each deletion of another client to the end of the write that keeps the revision. */
function flips(audit: readonly AuditEvent[]): readonly number[] {
  const isDeletion = ({ verb, objectRef, userAgent = '' }: AuditEvent): boolean =>
    verb === 'delete' && objectRef?.resource === 'pods' && userAgent.startsWith('kubectl');
  const isFlip = ({ verb, objectRef, user, requestURI, requestObject }: AuditEvent): boolean =>
    verb === 'patch' &&
    objectRef?.resource === 'statefulsets' &&
    user.username === controllerUser &&
    !requestURI.includes('dryRun=') &&
    JSON.stringify(requestObject ?? {}).includes('"CurrentRevision"');
  return audit.filter(isDeletion).flatMap(({ requestReceivedTimestamp: taken }) => {
    const flip = audit.find((event) => isFlip(event) && event.requestReceivedTimestamp > taken);
    return flip === undefined ? [] : [Date.parse(flip.stageTimestamp) - Date.parse(taken)];
  });
}
