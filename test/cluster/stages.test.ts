import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { stringify } from 'yaml';
import { type MySQLRollout, rolloutKind } from '../../src/api/rollout.ts';
import { type SequenceSpec, type SequenceStatus, sequenceKind } from '../../src/api/sequence.ts';
import { milliseconds } from '../../src/moco/timestamp.ts';
import { until } from '../support/control-plane/until.ts';
import type { RolloutCluster } from './rollout-cluster.ts';
import { ownScene, useRollouts } from './rollout-fixture.ts';

const deadlineMilliseconds = 10 * 60_000;
const statusMilliseconds = 30_000;
const soakSeconds = 5;
const spec: SequenceSpec = {
  settleDuration: '2s',
  stages: [
    { name: 'canary', selector: { matchLabels: { tier: 'canary' } }, soakDuration: soakSeconds },
    { name: 'rest', maxConcurrent: '100%' },
  ],
};

// Each hold, and what opens and closes a stage: test/controller/observe/stages.test.ts.
describe('a sequence of stages', () => {
  const scene = ownScene({}, [], (cluster) => cluster.isTaken());
  const { newCluster, stage } = useRollouts(scene);

  it('shows a bad revision on one canary, and takes its correction to all', async function staged() {
    this.timeout(deadlineMilliseconds);
    const [canary, ...others] = [newCluster(), newCluster(), newCluster()] as const;
    const all = [canary, ...others];
    await Promise.all(all.map((cluster) => cluster.create({ replicas: 1 })));
    await canary.patch({ metadata: { labels: { tier: 'canary' } } });
    await apply();
    await Promise.all(all.map((cluster) => scene.atRest(cluster)));
    await Promise.all(all.map((cluster) => cluster.begin()));
    await statusIs('complete', ({ stages }) => stages?.every(({ state }) => state === 'Complete') === true);

    // A MOCO upgrade reaches the canary last.
    for (const cluster of [...others, canary]) await cluster.setImage('mysql:8.4.9-missing');
    await canary.holds('UpdateRevisionFailing');
    await Promise.all(others.map((cluster) => cluster.holds('StageFailing')));
    await statusIs('failing', ({ stages }) => stages?.[0]?.state === 'Failing');
    for (const cluster of others) expect(await cluster.steps()).to.deep.equal([]);

    for (const cluster of all) await cluster.setImage('mysql:8.4.9');
    await Promise.all(all.map((cluster) => cluster.completes()));
    expect(await canary.steps()).to.deep.equal(['evict 0', 'delete 0', 'promoteRevision']);
    for (const cluster of others) expect(await cluster.steps()).to.deep.equal(['evict 0', 'promoteRevision']);
    const complete = milliseconds(last(canary).status?.completeSince ?? null) ?? Number.NaN;
    for (const cluster of others) expect(begunAt(cluster)).to.be.at.least(complete + soakSeconds * 1000);
    const { conditions } = await statusIs('ready', ({ stage: current }) => current === undefined);
    expect(conditions?.map(({ type, status }) => [type, status])).to.deep.equal([
      ['Ready', 'True'],
      ['Progressing', 'False'],
      ['Stalled', 'False'],
    ]);
    const shown = await stage().controlPlane.kubectl('get', 'mros', 'staged');
    expect(shown)
      .to.match(/READY\s+AGE\n/)
      .and.to.match(/staged\s+3\s+3\s+0\s+0\s+True/);
    const events = await stage().controlPlane.kubectl('get', 'events', '-n', 'default', '-o', 'name');
    expect(events).to.contain('staged.');
  });

  async function apply(): Promise<void> {
    const { group, version, kind } = sequenceKind;
    const file = join(stage().controlPlane.directory, 'sequence.yaml');
    const sequence = { apiVersion: `${group}/${version}`, kind, metadata: { name: 'staged' }, spec };
    await writeFile(file, stringify(sequence));
    await stage().controlPlane.kubectl('apply', '--server-side', '-f', file);
  }

  async function statusIs(what: string, is: (status: SequenceStatus) => boolean): Promise<SequenceStatus> {
    let seen = '';
    return until(
      async () => {
        seen = await stage().controlPlane.kubectl('get', 'mros', 'staged', '-o', 'json');
        const { status = {} } = JSON.parse(seen) as { status?: SequenceStatus };
        return is(status) ? status : undefined;
      },
      statusMilliseconds,
      () => `expected the sequence to be ${what}, got ${seen}`,
    );
  }
});

const rolloutsOf = (cluster: RolloutCluster): readonly MySQLRollout[] =>
  cluster.versions(rolloutKind).map(([, object]) => object as unknown as MySQLRollout);

const last = (cluster: RolloutCluster): MySQLRollout => rolloutsOf(cluster).at(-1) as MySQLRollout;

/** When the last rollout of the cluster began. */
const begunAt = (cluster: RolloutCluster): number =>
  milliseconds(
    rolloutsOf(cluster).findLast(({ status }) => status?.rollout?.begunAt !== undefined)?.status?.rollout?.begunAt ??
      null,
  ) ?? Number.NaN;
