import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import * as fc from 'fast-check';
import { stringify } from 'yaml';
import { type MySQLRollout, rolloutKind } from '../../src/api/rollout.ts';
import { type SequenceSpec, type SequenceStatus, sequenceKind } from '../../src/api/rollout-sequence.ts';
import { until } from '../support/control-plane/until.ts';
import type { RolloutCluster } from './rollout-cluster.ts';
import { useRollouts } from './rollout-fixture.ts';

const deadlineMilliseconds = 20 * 60_000;
const statusMilliseconds = 120_000;
const fleet = 'staged';
const soakSeconds = 3;

/** `make soak` has more. */
const clusterCount = Number(process.env['CLUSTERS'] ?? 8);
const canaryCount = 3;
const mostCount = Math.floor((clusterCount - canaryCount) / 3) + 1;
const restCount = clusterCount - canaryCount - mostCount;

/** How many clusters a stage has, and how many of them may roll at a time. */
const stages = [
  { name: 'canary', clusters: canaryCount, maxConcurrent: 1 },
  { name: 'most', clusters: mostCount, maxConcurrent: '50%', slots: Math.floor(mostCount / 2) },
  { name: 'rest', clusters: restCount, maxConcurrent: Math.floor(restCount / 2) },
] as const;

const spec = (settleDuration: string): SequenceSpec => ({
  selector: { matchLabels: { fleet } },
  settleDuration,
  stages: stages.map(({ name, maxConcurrent }) => ({
    name,
    ...(name !== 'rest' && { selector: { matchLabels: { tier: name } } }),
    maxConcurrent,
    ...(name === 'canary' && { soakDuration: soakSeconds }),
  })),
});

/** In which order a change reaches the clusters. */
const order = { seed: 20, numRuns: 1 };

// Each hold, and what opens and closes a stage: test/controller/fleet/sequence-stages.test.ts.
describe(`a fleet of ${clusterCount} clusters in stages`, () => {
  const { newCluster, stage } = useRollouts();

  it('shows a bad revision on one canary, whichever cluster it reaches first, and its correction to all in order', async function staged() {
    this.timeout(deadlineMilliseconds);
    const groups = stages.map(({ clusters }) => Array.from({ length: clusters }, newCluster));
    const all = groups.flat();
    const [canaries = [], ...laterGroups] = groups;
    const later = laterGroups.flat();
    for (const cluster of all) cluster.patientFor(deadlineMilliseconds);
    await Promise.all(
      groups.flatMap((group, index) =>
        group.map((cluster) => cluster.create({ replicas: 1, labels: { fleet, tier: stages[index]?.name ?? '' } })),
      ),
    );
    await Promise.all(all.map((cluster) => cluster.isTaken()));
    await Promise.all(all.map((cluster) => cluster.begin()));
    await apply(spec('1h'));
    await statusIs('complete', ({ stages: shown }) => shown?.every(({ state }) => state === 'Complete') === true);

    // An upgrade of MOCO reaches the canaries last. They are up to date until then: only settleDuration keeps the others.
    const [arrivals = []] = fc.sample(fc.shuffledSubarray(later, { minLength: later.length }), order);
    for (const cluster of arrivals) await cluster.setImage('mysql:8.4.9-missing');
    await Promise.all((laterGroups[0] ?? []).map((cluster) => cluster.holds('AwaitingSettle')));
    await Promise.all((laterGroups[1] ?? []).map((cluster) => cluster.holds('AwaitingEarlierStage')));
    for (const cluster of canaries) await cluster.setImage('mysql:8.4.9-missing');
    await Promise.all(canaries.map((cluster) => cluster.holds('AwaitingSettle')));
    expect(await clustersWithSteps(all)).to.deep.equal([]);

    await apply(spec('1s'));
    await statusIs('failing', ({ stages: shown }) => shown?.[0]?.state === 'Failing');
    await Promise.all(later.map((cluster) => cluster.holds('StageFailing')));
    const [shows, ...others] = await clustersWithSteps(all);
    expect(others).to.deep.equal([]);
    expect(canaries).to.include(shows);

    const [corrections = []] = fc.sample(fc.shuffledSubarray(all, { minLength: all.length }), order);
    await Promise.all(corrections.map((cluster) => cluster.setImage('mysql:8.4.9')));
    await Promise.all(all.map((cluster) => cluster.completes()));
    const { conditions } = await statusIs('ready', ({ stage: current }) => current === undefined);
    expect(conditions?.map(({ type, status }) => [type, status])).to.deep.equal([
      ['Ready', 'True'],
      ['Progressing', 'False'],
      ['Stalled', 'False'],
    ]);
    for (const cluster of all) {
      const expected = cluster === shows ? ['evict 0', 'delete 0', 'promoteRevision'] : ['evict 0', 'promoteRevision'];
      expect(await cluster.steps()).to.deep.equal(expected);
    }
    keepOrder(groups);
    const shown = await stage().controlPlane.kubectl('get', 'mros', fleet);
    expect(shown)
      .to.match(/READY\s+AGE\n/)
      .and.to.match(new RegExp(`staged\\s+${clusterCount}\\s+${clusterCount}\\s+0\\s+0\\s+True`));
    const events = await stage().controlPlane.kubectl('get', 'events', '-n', 'default', '-o', 'name');
    expect(events).to.contain(`${fleet}.`);
  });

  /** Those to which the controller has done anything since `begin`. */
  async function clustersWithSteps(clusters: readonly RolloutCluster[]): Promise<readonly RolloutCluster[]> {
    const steps = await Promise.all(clusters.map((cluster) => cluster.steps()));
    return clusters.filter((_, index) => steps[index]?.length !== 0);
  }

  async function apply(sequence: SequenceSpec): Promise<void> {
    const { group, version, kind } = sequenceKind;
    const file = join(stage().controlPlane.directory, 'sequence.yaml');
    const object = { apiVersion: `${group}/${version}`, kind, metadata: { name: fleet }, spec: sequence };
    await writeFile(file, stringify(object));
    await stage().controlPlane.kubectl('apply', '--server-side', '-f', file);
  }

  async function statusIs(what: string, is: (status: SequenceStatus) => boolean): Promise<SequenceStatus> {
    let seen = '';
    return until(
      async () => {
        seen = await stage().controlPlane.kubectl('get', 'mros', fleet, '-o', 'json');
        const { status = {} } = JSON.parse(seen) as { status?: SequenceStatus };
        return is(status) ? status : undefined;
      },
      statusMilliseconds,
      () => `expected the sequence to be ${what}, got ${seen}`,
    );
  }
});

/** The last rollout of each cluster, by revisions of the API server's store, which all objects share. */
function keepOrder(groups: readonly (readonly RolloutCluster[])[]): void {
  const spans = groups.map((group) => group.map(lastRollout));
  for (const [index, { name, ...limits }] of stages.entries()) {
    const own = spans[index] ?? [];
    const earlier = spans.slice(0, index).flat();
    const first = Math.min(...own.map(({ begun }) => begun));
    expect(first, `${name} begins after all earlier stages`).to.be.greaterThan(
      Math.max(0, ...earlier.map(({ complete }) => complete)),
    );
    const atOnce = own.map(({ begun }) => own.filter((one) => one.begun <= begun && begun < one.ended).length);
    const slots = 'slots' in limits ? limits.slots : limits.maxConcurrent;
    expect(Math.max(...atOnce), `${name} at a time`).to.be.at.most(slots);
  }
  const soaked = Math.max(...(spans[0] ?? []).map(({ completeSince }) => completeSince)) + soakSeconds * 1000;
  expect(Math.min(...(spans[1] ?? []).map(({ begunAt }) => begunAt)), 'the soak of the canaries').to.be.at.least(
    soaked,
  );
}

interface Span {
  /** Revisions of the store. */
  readonly begun: number;
  readonly ended: number;
  readonly complete: number;
  /** As the status says. */
  readonly begunAt: number;
  readonly completeSince: number;
}

function lastRollout(cluster: RolloutCluster): Span {
  const versions = cluster
    .versions(rolloutKind)
    .map(([revision, object]) => [revision, (object as unknown as MySQLRollout).status ?? {}] as const);
  const target = versions.at(-1)?.[1].updateRevision;
  const own = versions.filter(([, { updateRevision }]) => updateRevision === target);
  const [begun, { rollout }] = own.find(([, status]) => status.rollout?.begunAt !== undefined) ?? [Number.NaN, {}];
  const [complete, { completeSince }] = own.find(([, status]) => status.completeSince !== undefined) ?? [
    Number.NaN,
    {},
  ];
  const [ended = Number.NaN] = own.find(([revision, { rollout: one }]) => revision > begun && one === undefined) ?? [];
  return {
    begun,
    ended,
    complete,
    begunAt: Date.parse(rollout?.begunAt ?? ''),
    completeSince: Date.parse(completeSince ?? ''),
  };
}
