import { expect } from 'chai';
import type { RolloutSpec } from '../../src/api/rollout.ts';
import { pods } from '../../src/kube/resource.ts';
import { podPolicy, revisionHashLabel } from '../../src/moco/names.ts';
import { answer, status } from '../kube/fake-world.ts';
import { resizeMessages } from '../support/nodes/resize.ts';
import type { Process } from './bench.ts';
import { agentImage, InPlaceBench, withContainer, withImages, withResources } from './in-place-bench.ts';
import { revisionAfter, revisionBefore } from './moco-objects.ts';
import type { Patch } from './object-server.ts';
import { switchOver } from './whole-rollout.ts';

const ifPossible: RolloutSpec = { inPlace: { mode: 'IfPossible' } };
const newAgent = (template: Patch): Patch => withImages(template, agentImage('2'));
const newSlowLog = (template: Patch): Patch => withImages(template, { 'slow-log': 'example/slow-log:2' });

const newCpu = (template: Patch): Patch =>
  withResources(template, { mysqld: { limits: { cpu: '2', memory: '1Gi' } }, agent: { limits: { cpu: '200m' } } });
const slowLogCpu = (template: Patch, cpu: string): Patch =>
  withResources(template, { 'slow-log': { limits: { cpu }, requests: { cpu } } });
const newCpuOfSlowLog = (template: Patch): Patch => slowLogCpu(template, '200m');
/** A resize of its CPU restarts slow-log. */
const restartedByCpu = (template: Patch): Patch =>
  withContainer(slowLogCpu(template, '100m'), 'slow-log', {
    resizePolicy: [{ resourceName: 'cpu', restartPolicy: 'RestartContainer' }],
  });
/** The resources that `newCpu` makes of mysqld. */
const moreCpu = { limits: { cpu: '2', memory: '1Gi' }, requests: { cpu: '2', memory: '1Gi' } };

async function started(bench: InPlaceBench, spec: RolloutSpec): Promise<Process> {
  const program = bench.start();
  bench.setting(spec);
  await program.work();
  return program;
}

const reasons = ({ events }: Process): readonly string[] => events.map(({ reason }) => reason);

describe('an update in place', () => {
  it('that restarts nothing gives every pod the label of the revision, and disrupts no member', async () => {
    const bench = new InPlaceBench();
    const program = await started(bench, ifPossible);
    expect(bench.steps).to.deep.equal(['in place 2', 'in place 1', 'in place 0', 'promoteRevision']);
    for (const ordinal of [0, 1, 2]) {
      expect(bench.podOf(ordinal).metadata.labels?.[revisionHashLabel]).to.equal(revisionAfter);
    }
    await program.reportAll();
    expect(bench.status.history?.[0]).to.include({ disruptions: 0, switchovers: 0, outcome: 'Complete' });
    expect(await program.registry.metrics()).to.contain(
      'moco_rollout_updates_in_place_total{rule="NothingRestarts"} 3',
    );
    expect(bench.status.history?.[0]?.memberDurations).to.equal(undefined);
    expect(bench.status.history?.[0]?.updatedOutOfBand).to.equal(undefined);
    expect(bench.status.history?.[0]).to.deep.include({ updatedInPlace: [0, 1, 2], primaryInPlace: [0] });
    expect(await program.registry.metrics()).to.contain('moco_rollout_switchovers_avoided_total 1\n');
    const notes = program.events.filter(({ reason }) => reason === 'UpdatedInPlace').map(({ note }) => note);
    const differs = 'in place: the revisions do not differ; this avoids a restart of mysqld';
    expect(notes).to.deep.equal([
      `updating moco-test-2 ${differs}`,
      `updating moco-test-1 ${differs}`,
      `updating moco-test-0 ${differs} and a switchover`,
    ]);
    expect(bench.status.phase).to.equal('UpToDate');
    expect(reasons(program)).to.include('UpdatedInPlace').and.not.include('Evicted');
  });

  it('shows that the revision works only once a pod has had it for minReadySeconds', async () => {
    const bench = new InPlaceBench();
    const program = bench.start({ minReadySeconds: 300 });
    bench.setting(ifPossible);
    await program.work();
    expect(bench.steps).to.deep.equal(['in place 2', 'in place 1', 'in place 0']);
    const verified = (): boolean | undefined => bench.status.rollout?.verified;
    bench.world.freeze(150_000);
    await program.reportAll();
    expect(verified()).to.equal(false);
    const next = bench.start({ minReadySeconds: 300 });
    await next.reportAll();
    expect(verified(), 'to another leader').to.equal(false);
    bench.world.freeze(150_000);
    await next.reportAll();
    expect(bench.steps).to.include('promoteRevision');
  });

  for (const [what, change, steps] of [
    ['that restarts nothing', (template: Patch) => template, ['moco-test-2', 'moco-test-1', 'moco-test-0']],
    ['of resources, whose label comes by another write', newCpu, ['moco-test-2/resize']],
  ] as const) {
    it(`${what} is tried in every member as dry runs before the first one is changed`, async () => {
      const bench = new InPlaceBench(change);
      await started(bench, ifPossible);
      const patches = bench.server.writes.filter(({ method, path }) => method === 'PATCH' && path.includes('/pods/'));
      const tried = [0, 1, 2].flatMap((ordinal) => [
        ...(change === newCpu ? [`moco-test-${ordinal}/resize?dryRun`] : []),
        `moco-test-${ordinal}?dryRun`,
      ]);
      expect(patches.map(({ path }) => path.slice(path.indexOf('/pods/') + '/pods/'.length))).to.deep.equal([
        ...tried,
        ...steps,
      ]);
    });
  }

  const podPath = /pods\/moco-test-2$/;
  const refusals: Readonly<
    Record<string, readonly [happens: (bench: InPlaceBench) => void, steps: readonly string[]]>
  > = {
    'the API server refuses its dry run': [
      ({ server }) => server.refuse('PATCH', podPath, 422, 'Invalid', { message: 'a policy keeps labels' }),
      ['in place 1', 'in place 0', 'evict 2'],
    ],
    'the API server refuses it': [
      ({ server }) => {
        server.script('PATCH', podPath, (_, carryOut) => carryOut());
        server.refuse('PATCH', podPath, 403, 'Forbidden', { message: 'no' });
      },
      ['in place 1', 'in place 0', 'evict 2'],
    ],
    'a revision is no longer kept': [
      ({ server }) => server.refuse('GET', /controllerrevisions/, 404, 'NotFound'),
      ['evict 2'],
    ],
    'a revision may not be read': [
      ({ server }) => server.refuse('GET', /controllerrevisions/, 403, 'Forbidden'),
      ['evict 2'],
    ],
  };
  for (const [what, [happens, steps]] of Object.entries(refusals)) {
    it(`becomes an eviction where ${what}`, async () => {
      const bench = new InPlaceBench();
      happens(bench);
      await started(bench, ifPossible);
      expect(bench.steps).to.deep.equal(steps);
    });
  }

  it('is tried again where the policy that compares it with the template has not seen the template yet', async () => {
    const bench = new InPlaceBench();
    const message = `ValidatingAdmissionPolicy '${podPolicy}' denied request: moco-rollout sets a label of a running pod`;
    bench.server.refuse('PATCH', podPath, 422, 'Invalid', { message });
    const program = await started(bench, ifPossible);
    await program.work();
    expect(bench.steps.slice(0, 3)).to.deep.equal(['in place 2', 'in place 1', 'in place 0']);
  });

  it('waits until a revision can be read', async () => {
    const bench = new InPlaceBench();
    bench.server.refuse('GET', /controllerrevisions/, 400, 'BadRequest');
    const program = bench.start();
    bench.setting(ifPossible);
    await program.turn().then(
      () => expect.fail('expected the pass to fail'),
      () => undefined,
    );
    expect(bench.steps).to.deep.equal([]);
    await program.work();
    expect(bench.steps[0]).to.equal('in place 2');
  });
});

describe('an annotation or label that is not allowed to change in place', () => {
  it('leads to an eviction, and the status and the message of RestartNeeded say which one it is', async () => {
    const bench = new InPlaceBench((template) => {
      const metadata = template['metadata'] as { readonly annotations?: object };
      return { ...template, metadata: { ...metadata, annotations: { ...metadata.annotations, rollme: 'x7Qz2' } } };
    });
    const program = await started(bench, { inPlace: { mode: 'Only' } });
    await program.reportAll();
    const why = 'the annotation rollme changes, and inPlace.metadata does not contain it';
    expect(bench.steps).to.deep.equal([]);
    expect(bench.status.hold?.message).to.contain(why);
    expect(bench.status.members?.[2]?.update).to.equal(`by another pod: ${why}`);
    bench.setting({ inPlace: { mode: 'IfPossible' } });
    await program.work();
    expect(bench.steps).to.deep.equal(['evict 2']);
  });

  it('may be allowed', async () => {
    const bench = new InPlaceBench((template) => {
      const metadata = template['metadata'] as { readonly labels: object };
      return { ...template, metadata: { ...metadata, labels: { ...metadata.labels, 'example.com/team': 'b' } } };
    });
    await started(bench, { inPlace: { mode: 'IfPossible', metadata: ['example.com/*'] } });
    expect(bench.steps.slice(0, 3)).to.deep.equal(['in place 2', 'in place 1', 'in place 0']);
  });
});

describe('containers that an update in place restarts', () => {
  it('restart one member after another, and the primary without a switchover if the user says so', async () => {
    const bench = new InPlaceBench(newSlowLog);
    bench.pulledEverywhere('example/slow-log:2');
    const program = await started(bench, { inPlace: { mode: 'IfPossible', primary: 'InPlace' } });
    for (const [ordinal, steps] of [
      [2, ['in place 2']],
      [1, ['in place 2', 'in place 1']],
      [0, ['in place 2', 'in place 1', 'in place 0']],
    ] as const) {
      expect(bench.steps).to.deep.equal(steps);
      await program.work();
      expect(bench.steps, 'before the kubelet has restarted it').to.deep.equal(steps);
      bench.kubelet(ordinal);
      await program.work();
    }
    expect(bench.steps).to.deep.equal(['in place 2', 'in place 1', 'in place 0', 'promoteRevision']);
    await program.reportAll();
    expect(bench.status.history?.[0]).to.deep.include({ disruptions: 0, switchovers: 0, updatedInPlace: [0, 1, 2] });
    expect(bench.imageOf(0, 'slow-log')).to.equal('example/slow-log:2');
  });

  for (const [who, start, next] of [
    ['by another leader as well', (bench: InPlaceBench) => bench.start(), 'in place 1'],
    [
      'without the feature gate as well',
      (bench: InPlaceBench) => bench.start({}, undefined, { inPlaceEnabled: false }),
      'evict 1',
    ],
  ] as const) {
    it(`are awaited ${who}`, async () => {
      const bench = new InPlaceBench(newSlowLog);
      bench.pulledEverywhere('example/slow-log:2');
      await started(bench, ifPossible);
      const program = start(bench);
      await program.reportAll();
      expect(bench.steps).to.deep.equal(['in place 2']);
      expect(bench.status.hold?.message).to.contain('slow-log has not restarted with the new image yet');
      bench.kubelet(2);
      await program.work();
      expect(bench.steps).to.deep.equal(['in place 2', next]);
    });
  }

  for (const [container, change] of [
    ['agent', newAgent],
    ['slow-log', newSlowLog],
  ] as const) {
    it(`are ${container} only where its image is on the node: the kubelet pulls after it has stopped it`, async () => {
      const bench = new InPlaceBench(change);
      bench.pulled(1, `docker.io/example/${container}:2`);
      const first = await started(bench, ifPossible);
      expect(bench.steps).to.deep.equal(['evict 2']);
      await first.reportAll();
      expect(bench.status.members?.[0]?.update).to.equal(
        `by another pod: ${container} would not run while its image is pulled, and node node-0 does not report example/${container}:2`,
      );
      bench.replace(2);
      await bench.started();
      expect(bench.steps).to.deep.equal(['evict 2', 'in place 1']);
      expect(bench.imageOf(1, container)).to.equal(`example/${container}:2`);
    });
  }

  for (const [what, change] of [
    ['another image', newSlowLog],
    ['a resize that restarts it', newCpuOfSlowLog],
  ] as const) {
    it(`are none whose image the kubelet asks the registry for: ${what}`, async () => {
      const bench = new InPlaceBench(change, restartedByCpu);
      bench.pulled(2, 'example/slow-log:2');
      bench.pullsAlways(2, 'slow-log');
      const program = await started(bench, ifPossible);
      await program.reportAll();
      expect(bench.steps).not.to.include.oneOf(['in place 2', 'resize 2']);
      expect(bench.status.members?.[2]?.update).to.equal(
        'by another pod: slow-log would not run until the registry answers, because its imagePullPolicy is Always',
      );
    });
  }

  it('are those whose image the node still has: it is asked again a minute later', async () => {
    const bench = new InPlaceBench(newSlowLog);
    bench.pulledEverywhere('docker.io/example/slow-log:2');
    const program = await started(bench, ifPossible);
    expect(bench.steps).to.deep.equal(['in place 2']);
    bench.pulled(1, 'docker.io/example/another:1');
    bench.world.freeze(61_000);
    bench.kubelet(2);
    await program.work();
    expect(bench.steps).to.deep.equal(['in place 2', 'evict 1']);
  });

  it('of the primary come after a switchover if they answer the probes of mysqld, and its pod stays', async () => {
    const bench = new InPlaceBench(newAgent);
    bench.pulledEverywhere('docker.io/example/agent:2');
    const { uid } = bench.podOf(0).metadata;
    const program = await started(bench, ifPossible);
    for (const ordinal of [2, 1]) {
      bench.kubelet(ordinal);
      await program.work();
    }
    expect(bench.steps).to.deep.equal(['in place 2', 'in place 1', 'demote 0']);
    switchOver(bench, 0, 1);
    await program.work();
    bench.kubelet(0);
    await program.work();
    expect(bench.steps).to.include('in place 0').and.not.include('evict 0');
    expect(bench.podOf(0).metadata.uid).to.equal(uid);
    expect(bench.podOf(0).metadata.annotations).not.to.have.property('moco-rollout.io/demoted-for');
    await program.reportAll();
    expect(bench.status.history?.[0]).to.deep.include({ switchovers: 1, updatedInPlace: [0, 1, 2] });
    expect(bench.status.history?.[0]).not.to.have.property('primaryInPlace');
    expect(bench.status.phase).to.equal('UpToDate');
  });

  it('restart nowhere else once mysqld has restarted with them', async () => {
    const bench = new InPlaceBench(newSlowLog);
    bench.pulledEverywhere('example/slow-log:2');
    const program = await started(bench, ifPossible);
    bench.kubelet(2, 'mysqld');
    await program.work();
    expect(bench.steps).to.deep.equal(['in place 2', 'evict 1']);
    await program.reportAll();
    expect(bench.status.rollout).to.deep.include({ updatedInPlace: [2], mysqldRestarted: [2], disruptions: 2 });
    expect(bench.status.members?.[0]?.update).to.equal(
      'by another pod: mysqld of moco-test-2 restarted when its pod was changed for this revision',
    );
    const warnings = program.events.filter(({ type }) => type === 'Warning');
    expect(warnings.map(({ reason, related }) => [reason, related?.name])).to.deep.equal([
      ['MysqldRestarted', 'moco-test-2'],
    ]);
  });

  it('are not asked for again by a second write, whose pod has changed', async () => {
    const bench = new InPlaceBench(newSlowLog);
    bench.pulledEverywhere('example/slow-log:2');
    bench.server.loseAnswer('PATCH', /pods\/moco-test-0$/);
    bench.server.always('PATCH', /pods\/moco-test-2$/, (_, carryOut) => carryOut());
    const program = await started(bench, ifPossible);
    expect(bench.steps).to.deep.equal(['in place 2']);
    expect(bench.server.all(pods)).to.have.length(3);
    await program.reportAll();
  });
});

describe('resources', () => {
  it('change in one member after another while everything runs, and the label follows the kubelet', async () => {
    const bench = new InPlaceBench(newCpu);
    const program = await started(bench, ifPossible);
    const steps: string[] = [];
    for (const ordinal of [2, 1, 0]) {
      steps.push(`resize ${ordinal}`);
      expect(bench.steps).to.deep.equal(steps);
      expect(bench.resourcesOf(ordinal, 'mysqld')).to.deep.equal(moreCpu);
      await program.work();
      expect(bench.steps, 'before the kubelet has resized it').to.deep.equal(steps);
      bench.kubelet(ordinal);
      await program.work();
      steps.push(`in place ${ordinal}`);
    }
    expect(bench.steps).to.deep.equal([...steps, 'promoteRevision']);
    await program.reportAll();
    expect(bench.status.history?.[0]).to.deep.include({
      disruptions: 0,
      switchovers: 0,
      updatedInPlace: [0, 1, 2],
      resizedInPlace: [0, 1, 2],
      primaryInPlace: [0],
    });
    expect(bench.status.history?.[0]?.updatedOutOfBand).to.equal(undefined);
    expect(await program.registry.metrics()).to.contain(
      'moco_rollout_resizes_in_place_total{rule="ResizeRestartsNothing"} 3',
    );
    const notes = program.events.filter(({ reason }) => reason === 'ResizedInPlace').map(({ note }) => note);
    expect(notes[0]).to.equal(
      'resizing moco-test-2 in place: mysqld gets limits.cpu 2, requests.cpu 2; agent gets limits.cpu 200m, requests.cpu 200m',
    );
  });

  it('show in the plan of each member, and in the wait for the kubelet', async () => {
    const bench = new InPlaceBench(newCpu);
    const program = await started(bench, ifPossible);
    await program.reportAll();
    expect(bench.status.members?.map(({ update }) => update)).to.deep.equal([
      'in place, resize of mysqld, agent, nothing restarts',
      'in place, resize of mysqld, agent, nothing restarts',
      'in place, resize of mysqld, agent, nothing restarts',
    ]);
    expect(bench.status.hold).to.deep.include({
      rule: 'AwaitingResize',
      message: 'the kubelet has not resized containers mysqld, agent of moco-test-2 yet',
    });
  });

  it('that the API server refuses lead to an eviction', async () => {
    for (const [code, reason, message] of [
      [422, 'Invalid', 'Pod QOS Class may not change as a result of resizing'],
      [403, 'Forbidden', "node didn't have enough allocatable resources"],
      [404, 'NotFound', 'the server could not find the requested resource'],
    ] as const) {
      const bench = new InPlaceBench(newCpu);
      bench.server.always('PATCH', /pods\/moco-test-2\/resize$/, () => answer(code, status(code, reason, { message })));
      const program = await started(bench, ifPossible);
      expect(bench.steps, reason).to.deep.equal(['resize 1']);
      bench.kubelet(1);
      await program.work();
      expect(bench.steps, reason).to.deep.equal(['resize 1', 'in place 1', 'evict 2']);
      await program.reportAll();
      expect(bench.status.members?.[2]?.update).to.contain('(InPlaceRefused)').and.contain(message);
    }
  });

  it('that a kubelet cannot give lead to an eviction', async () => {
    for (const [reason, words] of [
      ['Infeasible', 'calls its resize infeasible'],
      ['Error', 'reports an error of its resize'],
    ] as const) {
      const bench = new InPlaceBench(newCpu);
      const program = await started(bench, ifPossible);
      bench.refusesResize(2, reason);
      await program.work();
      expect(bench.status.members?.[2]?.update).to.equal(
        `by another pod: the kubelet ${words}: ${resizeMessages[reason]}`,
      );
      expect(bench.steps.slice(0, 2), reason).to.deep.equal(['resize 2', 'resize 1']);
      bench.kubelet(1);
      await program.work();
      expect(bench.steps.slice(-1)).to.deep.equal(['evict 2']);
    }
  });

  it('that a kubelet defers lead to an eviction after five minutes', async () => {
    const bench = new InPlaceBench(newCpu);
    const program = await started(bench, ifPossible);
    bench.refusesResize(2, 'Deferred');
    await program.reportAll();
    expect(bench.status.hold?.message).to.equal(
      `the kubelet has not resized containers mysqld, agent of moco-test-2 yet and is deferring the resize (${resizeMessages.Deferred})`,
    );
    await program.workAfter(300_000);
    expect(bench.steps.slice(0, 2)).to.deep.equal(['resize 2', 'resize 1']);
    bench.kubelet(1);
    await program.work();
    expect(bench.steps.slice(-1)).to.deep.equal(['evict 2']);
  });

  it('are awaited by another leader, which sends no second resize', async () => {
    const bench = new InPlaceBench(newCpu);
    await started(bench, ifPossible);
    const next = await bench.started();
    expect(bench.steps).to.deep.equal(['resize 2']);
    bench.kubelet(2);
    await next.work();
    expect(bench.steps).to.deep.equal(['resize 2', 'in place 2', 'resize 1']);
  });

  it('are reverted if the template is reverted between the resize and the label', async () => {
    const bench = new InPlaceBench(newCpu);
    await started(bench, ifPossible);
    const before = bench.resourcesOf(1, 'agent');
    bench.changeStatefulSet({ status: { updateRevision: revisionBefore } });
    await bench.started();
    expect(bench.steps).to.deep.equal(['resize 2', 'resize 2']);
    expect(bench.resourcesOf(2, 'agent')).to.deep.equal(before);
  });

  it('of a template that changed meanwhile wait for the member whose resize before was made a moment ago', async () => {
    const bench = new InPlaceBench(newCpu);
    await started(bench, ifPossible);
    bench.kubelet(2);
    const program = bench.start({ minReadySeconds: 60 });
    for (let minutes = 0; minutes < 3; minutes += 1) {
      await program.workAfter(61_000);
    }
    expect(bench.steps).to.deep.equal(['resize 2', 'in place 2', 'resize 1']);
    bench.kubelet(1);
    await program.work();
    bench.changeStatefulSet({ status: { updateRevision: revisionBefore } });
    await program.work();
    expect(bench.steps.slice(3), 'at once').to.deep.equal([]);
    expect(bench.status.hold?.rule).to.equal('AwaitingResize');
    await program.workAfter(61_000);
    expect(bench.steps.slice(3), 'after a minute').to.deep.equal(['resize 2']);
  });

  it('that were reverted and that the kubelet defers are no update: the pod is replaced after five minutes', async () => {
    for (const mode of ['IfPossible', 'Never'] as const) {
      const bench = new InPlaceBench(newCpu);
      await started(bench, ifPossible);
      bench.kubelet(2);
      bench.changeStatefulSet({ status: { updateRevision: revisionBefore } });
      const program = await bench.started();
      bench.refusesResize(2, 'Deferred');
      bench.setting({ inPlace: { mode } });
      await program.work();
      await program.reportAll();
      expect(bench.steps, mode).to.deep.equal(['resize 2', 'resize 2']);
      expect(bench.status.hold?.rule, mode).to.equal('AwaitingResize');
      await program.workAfter(300_000);
      expect(bench.steps, mode).to.deep.equal(['resize 2', 'resize 2', 'evict 2']);
    }
  });

  for (const [what, start] of [
    ['the mode is Never', (bench: InPlaceBench) => bench.start()],
    ['the feature gate is off', (bench: InPlaceBench) => bench.start({}, undefined, { inPlaceEnabled: false })],
  ] as const) {
    it(`go with the pod if the template was reverted and ${what}: it does not have what its label says`, async () => {
      const bench = new InPlaceBench(newCpu);
      await started(bench, ifPossible);
      bench.kubelet(2);
      bench.changeStatefulSet({ status: { updateRevision: revisionBefore } });
      bench.setting({ inPlace: { mode: 'Never' } });
      const next = start(bench);
      await next.work();
      await next.reportAll();
      expect(bench.steps).to.deep.equal(['resize 2', 'evict 2']);
      expect(bench.status.members?.find(({ ordinal }) => ordinal === 2)?.update).to.equal(
        'by another pod: it was resized for another revision, and updates in place are off',
      );
    });

    it(`are what the label says where the patch has followed the resize, and ${what}: nothing is done`, async () => {
      const bench = new InPlaceBench(newCpu);
      const program = await started(bench, ifPossible);
      for (const ordinal of [2, 1, 0]) {
        bench.kubelet(ordinal);
        await program.work();
      }
      bench.setting({ inPlace: { mode: 'Never' } });
      const next = start(bench);
      await next.work();
      await next.reportAll();
      expect(bench.steps.at(-1)).to.equal('promoteRevision');
      expect(bench.status.phase).to.equal('UpToDate');
    });
  }

  it('are not given to other members once mysqld of the first has restarted for them', async () => {
    const bench = new InPlaceBench(newCpu);
    const program = await started(bench, ifPossible);
    bench.kubelet(2, 'mysqld');
    await program.reportAll();
    expect(bench.steps).to.deep.equal(['resize 2', 'in place 2', 'evict 1']);
    const next = bench.start();
    await next.reportAll();
    expect(bench.status.members?.[0]?.update).to.equal(
      'by another pod: mysqld of moco-test-2 restarted when its pod was changed for this revision',
    );
    expect(bench.status.rollout).to.deep.include({ mysqldRestarted: [2], resizedInPlace: [2], disruptions: 2 });
    const warnings = [...program.events, ...next.events].filter(({ reason }) => reason === 'MysqldRestarted');
    expect(warnings.map(({ related }) => related?.name)).to.deep.equal(['moco-test-2']);
  });

  it('that another program has changed stay as they are, and the pod is replaced', async () => {
    const bench = new InPlaceBench(newCpu);
    const { containers } = bench.podOf(2)['spec'] as { readonly containers: readonly Patch[] };
    const resources = { limits: { cpu: '1', memory: '1Gi' }, requests: { cpu: '700m', memory: '1Gi' } };
    bench.changePod(2, {
      spec: { containers: containers.map((one) => (one['name'] === 'mysqld' ? { ...one, resources } : one)) },
    });
    await started(bench, ifPossible);
    expect(bench.steps).to.deep.equal(['resize 1']);
    expect(bench.resourcesOf(2, 'mysqld')).to.deep.equal(resources);
  });
});
