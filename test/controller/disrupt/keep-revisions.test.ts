import { expect } from 'chai';
import { controllerRevisions, pods, statefulSets } from '../../../src/kube/resource.ts';
import { answer, status } from '../../kube/fake-world.ts';
import { Bench, member, type Process, secondsOf } from '../bench.ts';
import { revisionAfter, revisionBefore } from '../moco-objects.ts';
import { heldByMoco, keepByWebhook, type Patch, type Raw, type Write } from '../object-server.ts';

const secondMilliseconds = 1000;
const statefulSetPath = /statefulsets\/moco-test$/;
const pinned = { type: 'RollingUpdate', rollingUpdate: { partition: 3 } };
const labels = { 'moco-rollout.io/new-pods': 'CurrentRevision' };

const statefulSetOf = (bench: Bench): Raw => bench.server.get(statefulSets, 'moco-test');
const strategyOf = (bench: Bench): unknown => (statefulSetOf(bench)['spec'] as Patch)['updateStrategy'];
const isDryRun = ({ path }: Write): boolean => path.endsWith('/moco-test?dryRun');
const dryRunsOf = (bench: Bench): readonly Patch[] => bench.server.writes.filter(isDryRun).map(({ body }) => body);
const writesOf = (bench: Bench): readonly Patch[] =>
  bench.server.writes.filter(({ path }) => statefulSetPath.test(path)).map(({ body }) => body);

/** A rollout that a person holds, beside MOCO and the admission policy. */
function held(): Bench {
  const bench = new Bench();
  bench.server.admit = heldByMoco;
  bench.setting({ paused: true });
  return bench;
}

/** Its StatefulSet lets new pods start at the current revision. */
async function kept(): Promise<readonly [Bench, Process]> {
  const bench = held();
  const program = await bench.started();
  expect(bench.steps).to.deep.equal(['keepRevisions']);
  return [bench, program];
}

/** MOCO's webhook, and nothing after it. */
function withoutAdmission(bench: Bench): void {
  bench.server.keep = (after) => after;
  bench.server.admit = (after) => after;
}

/** Another client takes the pod of a member. */
function take(bench: Bench, ordinal: number): void {
  bench.changePod(ordinal, { metadata: { deletionTimestamp: bench.now, deletionGracePeriodSeconds: 30 } });
}

describe('letting new pods start at the current revision', () => {
  it('makes a dry run first, and then writes the label alone, with the uid as its precondition', async () => {
    const bench = held();
    const { uid } = statefulSetOf(bench).metadata;
    await bench.start().work();
    expect(bench.steps).to.deep.equal(['keepRevisions']);
    expect(dryRunsOf(bench)).to.deep.equal([
      {
        metadata: {
          uid,
          labels: { 'moco-rollout.io/strategy': 'OnDelete', ...labels },
          annotations: { 'moco-rollout.io/admission-probe': 'true' },
        },
        spec: { updateStrategy: { type: 'OnDelete', rollingUpdate: null } },
      },
    ]);
    expect(writesOf(bench)).to.deep.equal([{ metadata: { uid, labels } }]);
    expect(strategyOf(bench)).to.deep.equal(pinned);
    expect(bench.status.hold?.rule).to.equal('Paused');
  });

  it('does nothing more while it stays so', async () => {
    const [bench, program] = await kept();
    const requests = bench.server.writes.length;
    await secondsOf(bench, program, 120, () => 0);
    expect(bench.steps).to.deep.equal(['keepRevisions']);
    expect(bench.server.writes.slice(requests).filter(({ path }) => path.includes('statefulsets'))).to.deep.equal([]);
  });

  it('writes although the StatefulSet has changed since, as it does while a pod terminates', async () => {
    const bench = held();
    const program = bench.start();
    program.sync();
    bench.changeStatefulSet({ status: { readyReplicas: 2 } });
    await program.pass();
    expect(bench.steps).to.deep.equal(['keepRevisions']);
  });

  it('does not mistake the pod of a step for one that another client has deleted, although the cache lacks that step', async () => {
    const bench = new Bench();
    bench.server.admit = heldByMoco;
    const [other, program] = [bench.start(), bench.start()];
    program.sync();
    await other.turn();
    expect(bench.steps).to.deep.equal(['evict 2']);
    program.sync('rollouts');
    await program.pass();
    await program.work();
    expect(bench.steps).to.deep.equal(['evict 2']);
  });

  it('repeats a write at once after a 409, a few times', async () => {
    for (const [conflicts, steps] of [
      [3, ['keepRevisions']],
      [4, []],
    ] as const) {
      const bench = held();
      const program = bench.start();
      bench.server.script('PATCH', statefulSetPath, (_, carryOut) => carryOut());
      for (let count = 0; count < conflicts; count += 1) bench.server.refuse('PATCH', statefulSetPath, 409, 'Conflict');
      await program.turn();
      expect(bench.steps, `after ${conflicts} conflicts`).to.deep.equal(steps);
      expect(bench.status.lastStep).to.equal(undefined);
    }
  });

  it('leaves a StatefulSet alone that MOCO has re-created with another uid, which says nothing about admission', async () => {
    const bench = held();
    const program = bench.start();
    const causes = [{ reason: 'FieldValueInvalid', message: 'field is immutable', field: 'metadata.uid' }];
    bench.server.refuse('PATCH', statefulSetPath, 422, 'Invalid', { details: { causes } });
    await program.turn();
    expect(bench.steps).to.deep.equal([]);
    expect(bench.status.lastStep).to.equal(undefined);
    await program.pass();
    expect(bench.steps).to.deep.equal(['keepRevisions']);
  });

  it('writes nothing while the dry run has another result, and retries after 30 s, doubling each time', async () => {
    const bench = held();
    withoutAdmission(bench);
    const program = bench.start();
    const asked = await secondsOf(bench, program, 500, () => dryRunsOf(bench).length);
    expect(asked).to.deep.equal([0, 30, 90, 210, 450]);
    expect(bench.steps).to.deep.equal([]);
    expect(bench.status.hold?.rule).to.equal('Paused');
    expect(bench.status.lastStep?.result).to.equal(
      'refused: a dry run that lets new pods start at the current revision left it at OnDelete with the label moco-rollout.io/new-pods',
    );
  });

  for (const [code, reason] of [
    [422, 'Invalid'],
    [500, 'InternalError'],
  ] as const) {
    it(`treats a ${code} of the dry run as the answer, since other webhooks may refuse`, async () => {
      const bench = held();
      const program = bench.start();
      bench.server.refuse('PATCH', statefulSetPath, code, reason, { message: 'M panics' });
      await program.work();
      expect(dryRunsOf(bench)).to.have.length(1);
      expect(bench.steps).to.deep.equal([]);
      expect(bench.status.lastStep?.result).to.match(
        /^refused: a dry run that lets new pods start at the current revision was refused: .*M panics$/,
      );
    });
  }

  it('removes the label again if the write has another result than its dry run', async () => {
    const bench = held();
    const { keep } = bench.server;
    const program = bench.start();
    bench.server.script('PATCH', statefulSetPath, (_, carryOut) => carryOut());
    bench.server.before('PATCH', statefulSetPath, () => withoutAdmission(bench));
    await program.turn();
    expect(bench.steps).to.deep.equal(['keepRevisions', 'undo keepRevisions']);
    expect(statefulSetOf(bench).metadata.labels).to.include({ 'moco-rollout.io/strategy': 'OnDelete' });
    expect(statefulSetOf(bench).metadata.labels).not.to.have.property('moco-rollout.io/new-pods');
    expect(bench.status.lastStep?.result).to.contain(
      'new pods were to start at the current revision, but the StatefulSet is at OnDelete with the label',
    );
    bench.server.keep = keep;
    bench.server.admit = heldByMoco;
    const asked = await secondsOf(bench, program, 40, () => dryRunsOf(bench).length);
    expect(asked).to.deep.equal([30]);
    expect(bench.steps.at(-1)).to.equal('keepRevisions');
  });

  it('tries with a growing pause to remove a label that could not be removed, before the rollout continues', async () => {
    const bench = held();
    const { keep } = bench.server;
    const program = bench.start();
    bench.server.script('PATCH', statefulSetPath, (_, carryOut) => carryOut());
    bench.server.before('PATCH', statefulSetPath, () => withoutAdmission(bench));
    bench.server.refuse('PATCH', statefulSetPath, 422, 'Invalid');
    await program.turn();
    expect(bench.steps).to.deep.equal(['keepRevisions']);
    bench.setting({ paused: false });
    const before = dryRunsOf(bench).length;
    const asked = await secondsOf(bench, program, 60, () => dryRunsOf(bench).length);
    expect(asked).to.deep.equal([0, 2, 6, 14, 30, 60]);
    expect(dryRunsOf(bench)).to.have.length(before + 12);
    expect(bench.status.hold?.rule).to.equal('StepRefused');
    bench.server.keep = keep;
    await program.workAfter(30 * secondMilliseconds);
    expect(bench.steps).to.deep.equal(['keepRevisions', 'setStrategy', 'evict 2']);
    expect(statefulSetOf(bench).metadata.labels).not.to.have.property('moco-rollout.io/new-pods');
  });

  describe('where a webhook keeps the strategy', () => {
    it('writes nothing while the rollout is held, and asks again only after ten minutes', async () => {
      const bench = held();
      keepByWebhook(bench);
      const program = bench.start();
      const asked = await secondsOf(bench, program, 700, () => dryRunsOf(bench).length);
      expect(asked).to.deep.equal([0, 601]);
      expect(bench.steps).to.deep.equal([]);
      expect(strategyOf(bench)).to.deep.equal({ type: 'OnDelete' });
      expect([bench.status.hold?.rule, bench.status.lastStep]).to.deep.equal(['Paused', undefined]);
      expect(JSON.stringify(program.log.lines)).to.contain('a webhook keeps the strategy');
    });

    it('is not asked again at once: the next pass has nothing to do', async () => {
      const bench = held();
      keepByWebhook(bench);
      const program = bench.start();
      const { requeueAfterMilliseconds = Number.POSITIVE_INFINITY } = await program.turn();
      expect(requeueAfterMilliseconds).to.be.at.least(secondMilliseconds);
    });

    it('writes it while a pod is missing that another client has deleted, and removes it once there is another one', async () => {
      const bench = held();
      keepByWebhook(bench);
      const program = await bench.started();
      take(bench, 1);
      await program.work();
      expect(bench.steps).to.deep.equal(['keepRevisions']);
      expect(strategyOf(bench)).to.deep.equal(pinned);
      bench.replace(1, { revision: revisionBefore });
      await program.work();
      expect(bench.server.get(pods, member(1)).metadata.labels).to.include({
        'controller-revision-hash': revisionBefore,
      });
    });

    it('stays so once the policy is there, which keeps the strategy instead', async () => {
      const bench = held();
      keepByWebhook(bench);
      const program = await bench.started();
      const policy = held();
      bench.server.keep = policy.server.keep;
      bench.server.admit = heldByMoco;
      await program.workAfter(600 * secondMilliseconds);
      expect(bench.steps).to.deep.equal(['keepRevisions']);
    });
  });
});

describe('letting new pods start at the update revision again', () => {
  it('removes the label and sets OnDelete, with the uid as its precondition', async () => {
    const [bench, program] = await kept();
    const { uid } = statefulSetOf(bench).metadata;
    bench.setting({ paused: false });
    await program.work();
    expect(bench.steps).to.deep.equal(['keepRevisions', 'setStrategy', 'evict 2']);
    const metadata = { uid, labels: { 'moco-rollout.io/strategy': 'OnDelete', 'moco-rollout.io/new-pods': null } };
    const onDelete = { metadata, spec: { updateStrategy: { type: 'OnDelete', rollingUpdate: null } } };
    expect(dryRunsOf(bench).slice(1)).to.deep.equal([
      onDelete,
      { metadata, spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: null } } },
    ]);
    expect(writesOf(bench).at(-1)).to.deep.equal(onDelete);
    expect(strategyOf(bench)).to.deep.equal({ type: 'OnDelete' });
    expect(statefulSetOf(bench).metadata.labels).not.to.have.property('moco-rollout.io/new-pods');
  });

  it('happens although the StatefulSet has changed since', async () => {
    const [bench, program] = await kept();
    bench.setting({ paused: false });
    program.sync();
    bench.changeStatefulSet({ status: { readyReplicas: 2 } });
    await program.pass();
    expect(bench.steps).to.deep.equal(['keepRevisions', 'setStrategy']);
  });

  it('is no adoption: a real one that follows waits for nothing', async () => {
    const [bench, program] = await kept();
    for (const paused of [false, true, false, true]) {
      bench.setting({ paused });
      await program.turn();
    }
    const { keep } = bench.server;
    bench.server.keep = (after) => after;
    bench.changeStatefulSet({ metadata: { labels: { ...labels } }, spec: { updateStrategy: pinned } });
    bench.changeStatefulSet({ metadata: { labels: { 'moco-rollout.io/new-pods': null } } });
    bench.server.keep = keep;
    const before = bench.steps.filter((step) => step === 'setStrategy').length;
    await program.turn();
    expect(bench.steps.filter((step) => step === 'setStrategy')).to.have.length(before + 1);
    // This one counts.
    bench.server.keep = (after) => after;
    bench.changeStatefulSet({ spec: { updateStrategy: pinned } });
    bench.server.keep = keep;
    const adopted = await secondsOf(
      bench,
      program,
      40,
      () => bench.steps.filter((one) => one === 'setStrategy').length,
    );
    expect(adopted).to.deep.equal([30]);
  });
});

describe('releasing a StatefulSet whose new pods start at the current revision', () => {
  it('removes both labels, and leaves the partition at replicas', async () => {
    const [bench] = await kept();
    const { currentRevision } = statefulSetOf(bench)['status'] as Patch;
    bench.setting({ paused: false });
    await bench.start({ mode: 'MOCO' }).work();
    expect(bench.steps).to.deep.equal(['keepRevisions', 'release']);
    expect(writesOf(bench).at(-1))
      .to.have.nested.property('metadata.labels')
      .that.deep.equals({ 'moco-rollout.io/strategy': null, 'moco-rollout.io/new-pods': null });
    expect(strategyOf(bench)).to.deep.equal(pinned);
    expect(Object.keys(statefulSetOf(bench).metadata.labels ?? {}).join()).not.to.contain('moco-rollout.io');
    expect((statefulSetOf(bench)['status'] as Patch)['currentRevision']).to.equal(currentRevision);
  });
});

describe('promoting the revision that lost members had', () => {
  /** Under OnDelete the current revision stays behind: that of the members is another one. */
  function withOlderCurrent(): Bench {
    const bench = held();
    bench.changeStatefulSet({ status: { currentRevision: 'moco-test-older' } });
    return bench;
  }

  const create = (bench: Bench, name: string): Raw =>
    bench.server.create(controllerRevisions, { metadata: { name }, data: {} });

  it('reads first that its ControllerRevision exists', async () => {
    const bench = withOlderCurrent();
    create(bench, revisionBefore);
    await bench.start().work();
    expect(bench.steps).to.deep.equal(['promoteRevision', 'keepRevisions']);
    expect(bench.server.reads.filter((path) => path.includes('controllerrevisions'))).to.include(
      `/apis/apps/v1/namespaces/default/controllerrevisions/${revisionBefore}`,
    );
    const promoted = (statefulSetOf(bench)['status'] as Patch)['currentRevision'];
    expect(promoted).to.equal(revisionBefore);
  });

  it('is refused with a clear sentence if it does not, and retried', async () => {
    const bench = withOlderCurrent();
    const program = await bench.started();
    expect(bench.steps).to.deep.equal([]);
    expect(bench.status.lastStep?.result).to.equal(
      `refused: the ControllerRevision ${revisionBefore} no longer exists, so lost members can't come back at it`,
    );
    create(bench, revisionBefore);
    await program.workAfter(30 * secondMilliseconds);
    expect(bench.steps).to.deep.equal(['promoteRevision', 'keepRevisions']);
  });

  it('is refused without the right to read it', async () => {
    const bench = withOlderCurrent();
    bench.server.always('GET', /controllerrevisions/, () =>
      answer(403, status(403, 'Forbidden', { message: 'M says no' })),
    );
    await bench.start().work();
    expect(bench.steps).to.deep.equal([]);
    expect(bench.status.lastStep?.result).to.match(/^refused: .*M says no$/);
  });

  it('does not happen while the cache lacks the step that has deleted the pod', async () => {
    const bench = new Bench();
    bench.server.admit = heldByMoco;
    bench.changeStatefulSet({ status: { currentRevision: 'moco-test-older' } });
    create(bench, revisionBefore);
    const [other, program] = [bench.start(), bench.start()];
    program.sync();
    await other.turn();
    program.sync('rollouts');
    await program.pass();
    expect(bench.steps).to.deep.equal(['evict 2']);
  });

  it('reads nothing before any other promotion', async () => {
    const bench = new Bench({ stale: false });
    bench.changeStatefulSet({ status: { currentRevision: revisionBefore, updateRevision: revisionAfter } });
    await bench.start().work();
    expect(bench.steps).to.deep.equal(['promoteRevision']);
    expect(bench.server.reads.filter((path) => path.includes('controllerrevisions'))).to.deep.equal([]);
  });
});
