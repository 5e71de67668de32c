import { writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { expect } from 'chai';
import { stringify } from 'yaml';
import { startControlPlane } from '../../hack/control-plane/control-plane.ts';
import { until } from '../../hack/control-plane/until.ts';
import { Stage } from '../../hack/stage/stage.ts';
import { type MySQLRollout, type RolloutStatus, rolloutKind } from '../../src/controller/rollout-resource.ts';
import { apiVersion, path } from '../../src/kube/resource.ts';
import { configDirectory } from '../config/manifests.ts';
import { type Definition, previousDefinitions, previousStatuses, readDefinition } from '../config/previous-release.ts';
import { RolloutCluster } from './rollout-cluster.ts';
import { judged, scenarioDeadlineMilliseconds, sharedFlags } from './rollout-fixture.ts';
import { History } from './rollout-history.ts';

const buildDeadlineMilliseconds = 30 * 60_000;
const longestBudgetMilliseconds = 400_000;
const inForceMilliseconds = 90_000;
const electing = [...sharedFlags, '--leader-elect'];
const probed = 'is-it-kept';

/** What is there while versions change: the CRDs of the previous release, its objects, and one controller more. */
describe('versions side by side', function () {
  this.timeout(scenarioDeadlineMilliseconds);
  let stage: Stage;
  let history: History;

  before(async function build() {
    this.timeout(buildDeadlineMilliseconds);
    stage = await Stage.open(await startControlPlane());
    history = await History.start(stage.client, stage.world);
    const metadata = { name: probed, namespace: 'default' };
    const body = { apiVersion: apiVersion(rolloutKind), kind: rolloutKind.kind, metadata };
    await stage.client.create(rolloutKind, { namespace: 'default' }, body, { lane: 'disrupt' });
    await stage.controlPlane.apply(...(await previousDefinitions()));
  });

  afterEach(async () => {
    await Promise.all(stage.controllers.map((controller) => controller.stop()));
  });

  after(async () => {
    await history?.stop();
    await stage?.close();
    await stage?.controlPlane.stop();
  });

  it('roll out under the CRDs of the previous release, one taking over from the other as a Deployment has it', async () => {
    const before = await stage.startController(electing);
    const cluster = new RolloutCluster(stage, history, 'one-by-one');
    await judged(cluster, async () => {
      await cluster.create({});
      await cluster.isTaken();
      await cluster.begin();
      await cluster.setImage('mysql:8.4.9');
      await cluster.pod(2, 'is leaving', ({ metadata }) => metadata.deletionTimestamp !== undefined);
      await stage.startController(electing);
      await before.stop();
      await cluster.completes();
      expect(await disruptions(cluster)).to.deep.equal(['evict 2', 'evict 1', 'demote 0', 'evict 0']);
      expect(await cluster.moves()).to.deep.equal(['primary 0 -> 1']);
    });
  });

  it('do nothing twice where both work at once, without a lease, and the one that is left finishes', async () => {
    const rival = await stage.startController(sharedFlags);
    await stage.startController(sharedFlags);
    const cluster = new RolloutCluster(stage, history, 'side-by-side');
    // An eviction that came too late stays counted against the budget, for two minutes at most.
    cluster.patientFor(longestBudgetMilliseconds);
    await judged(cluster, async () => {
      await cluster.create({});
      await cluster.isTaken();
      await cluster.begin();
      await cluster.setImage('mysql:8.4.9');
      await cluster.until('one of them has evicted pod 2, or each has refused the other', ({ pods, rollout }) => {
        return pods[2]?.metadata.deletionTimestamp !== undefined || rollout?.status?.hold?.rule === 'BlockedByPDB';
      });
      // Whenever the budget opens, both would ask at once again: who wins, and when, is chance.
      await rival.stop();
      await cluster.completes();
      expect(await disruptions(cluster)).to.deep.equal(['evict 2', 'evict 1', 'demote 0', 'evict 0']);
    });
  });

  it('make a step void that the previous release may still be about to do, and go on from there', async () => {
    const controller = await stage.startController(sharedFlags);
    const cluster = new RolloutCluster(stage, history, 'left-behind');
    await judged(cluster, async () => {
      await cluster.create({});
      await cluster.isTaken();
      await cluster.wish({ paused: true });
      await cluster.setImage('mysql:8.4.9');
      await cluster.until('the StatefulSet has a new revision', ({ statefulSet }) => {
        const { updateRevision, currentRevision } = statefulSet?.status ?? {};
        return updateRevision !== currentRevision;
      });
      await cluster.holds('Paused');
      await controller.stop();
      await cluster.wish({ paused: null });
      await cluster.begin();
      await leaveBehind(cluster);
      await stage.startController(sharedFlags);
      await cluster.completes();
      const steps = await cluster.steps();
      expect(steps.slice(0, 2)).to.deep.equal(['makeVoid 2', 'evict 2']);
      expect(await disruptions(cluster)).to.deep.equal(['evict 2', 'evict 1', 'demote 0', 'evict 0']);
    });
  });

  it('do nothing under CRDs that don’t keep a step, say so in one sentence, and go on once they do', async () => {
    await applyWithout('intent');
    const controller = await stage.startController(sharedFlags);
    const cluster = new RolloutCluster(stage, history, 'not-kept');
    await judged(cluster, async () => {
      await cluster.create({});
      await cluster.isTaken();
      await cluster.begin();
      await cluster.setImage('mysql:8.4.9');
      await cluster.holds('DefinitionOutdated');
      expect(cluster.now.rollout?.status?.hold?.message).to.match(/does not keep status\.intent: apply the CRDs/);
      expect(await cluster.steps()).to.deep.equal([]);
      await stage.controlPlane.apply(join(configDirectory, 'crd'));
      await cluster.completes();
      expect(await disruptions(cluster)).to.deep.equal(['evict 2', 'evict 1', 'demote 0', 'evict 0']);
      const said = controller.log
        .split('\n')
        .filter((line) => line.includes('"cluster":"not-kept/x","rule":"DefinitionOutdated"'));
      expect(said).to.have.length(1);
    });
  });

  /** Its status, as if the process that has written it had been cut off a moment later. */
  async function leaveBehind(cluster: RolloutCluster): Promise<void> {
    const { namespace, name, now } = cluster;
    const { 'an eviction that may be on its way': recorded } = await previousStatuses();
    const { intent } = recorded ?? {};
    const target = now.pods[2]?.metadata;
    const pods = [{ name: cluster.podName(2), uid: target?.uid, resourceVersion: target?.resourceVersion }];
    const place = { namespace, name, subresource: 'status' };
    const status = { intent: { ...intent, pods } };
    await stage.client.patch(rolloutKind, place, 'application/merge-patch+json', { status }, { lane: 'disrupt' });
  }

  /** The CRDs of a release that did not have the field of the status yet. Resolves once the API server leaves it out. */
  async function applyWithout(field: string): Promise<void> {
    for (const definition of await previousDefinitions()) {
      const file = join(stage.controlPlane.directory, basename(definition));
      await writeFile(file, stringify(lacking(await readDefinition(definition), field)));
      await stage.controlPlane.apply(file);
    }
    const { 'an eviction that may be on its way': status = {} } = await previousStatuses();
    const isLeftOut = async (): Promise<true | undefined> =>
      field in ((await keptOf(status)) ?? {}) ? undefined : true;
    await until(isLeftOut, inForceMilliseconds, () => `Expected ${field} to be left out of a status`);
  }

  async function keptOf(status: RolloutStatus): Promise<RolloutStatus | undefined> {
    const kept = await stage.client.call<MySQLRollout>({
      method: 'PATCH',
      path: path(rolloutKind, { namespace: 'default', name: probed, subresource: 'status' }),
      query: { dryRun: 'All' },
      contentType: 'application/merge-patch+json',
      body: { status },
      lane: 'read',
    });
    return kept.status;
  }
});

/** What takes somebody away or asks for a switchover, as far as the API server has agreed. */
async function disruptions(cluster: RolloutCluster): Promise<readonly string[]> {
  return (await cluster.steps()).filter((step) => /^(evict|delete|demote) /.test(step));
}

function lacking(definition: Definition, field: string): unknown {
  const text = JSON.stringify(definition, (key, value: unknown) => {
    const properties = (value as { properties?: Record<string, unknown> } | null)?.properties;
    if (key !== 'status' || properties === undefined) return value;
    const { [field]: _, ...others } = properties;
    return { ...(value as object), properties: others };
  });
  return JSON.parse(text);
}
