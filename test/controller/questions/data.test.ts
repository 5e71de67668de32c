import { expect } from 'chai';
import { timestampOf } from '../../../src/base/json.ts';
import { ApiError } from '../../../src/kube/api-error.ts';
import { persistentVolumeClaims, pods } from '../../../src/kube/resource.ts';
import { dataRecordText } from '../../../src/moco/data-record.ts';
import { dataAnnotation } from '../../../src/moco/names.ts';
import { answer } from '../../kube/fake-world.ts';
import { Bench, member, type Process, passes } from '../bench.ts';
import { pod, revisionAfter, revisionBefore } from '../moco-objects.ts';
import { heldByMoco, type Patch, type Write } from '../object-server.ts';

const claimOf = (ordinal: number): string => `mysql-data-${member(ordinal)}`;
const claimPath = /persistentvolumeclaims\/mysql-data-moco-test-\d$/;
const noteOf = (bench: Bench, ordinal: number): unknown => {
  const { annotations = {} } = bench.server.get(persistentVolumeClaims, claimOf(ordinal)).metadata;
  const text = annotations[dataAnnotation];
  return text === undefined ? undefined : JSON.parse(text);
};
const notes = (bench: Bench): readonly Write[] => bench.server.writes.filter(({ path }) => claimPath.test(path));
const revisionsOf = (bench: Bench): readonly unknown[] =>
  [0, 1, 2].map((ordinal) => (noteOf(bench, ordinal) as Patch | undefined)?.['revision']);

/** A rollout that goes on until the first member works at the update revision. */
async function oneUpdated(): Promise<readonly [Bench, Process]> {
  const bench = new Bench();
  const program = await bench.started();
  expect(bench.steps).to.deep.equal(['evict 2']);
  bench.replace(2);
  await passes(bench, program, 3);
  return [bench, program];
}

/** What a member is noted as in the status, once it has been read or written. */
const shown = (bench: Bench, ordinal: number) =>
  bench.status.members?.find((one) => one.ordinal === ordinal)?.data?.revision;

/** An earlier process keeps revisions in a paused rollout, has gone since, and so has the pod of a member. */
async function lostWhileKept(): Promise<Bench> {
  const bench = new Bench();
  bench.server.admit = heldByMoco;
  bench.setting({ paused: true });
  await bench.started();
  expect(bench.steps).to.deep.equal(['keepRevisions']);
  bench.removePod(2);
  return bench;
}

const recordOf = (revision: string): string => dataRecordText({ revision, image: null, version: null });
const note = (bench: Bench, ordinal: number, text: string | null): void => {
  bench.server.change(persistentVolumeClaims, claimOf(ordinal), {
    metadata: { annotations: { [dataAnnotation]: text } },
  });
};

describe('the revision of the data of a member', () => {
  it('is noted on its claim when its mysqld may have started at the update revision, and only once', async () => {
    const [bench, program] = await oneUpdated();
    expect(revisionsOf(bench)).to.deep.equal([undefined, undefined, revisionAfter]);
    expect(shown(bench, 2)).to.equal(revisionAfter);
    await passes(bench, program, 5);
    expect(notes(bench).filter(({ path }) => path.includes(claimOf(2)))).to.have.length(1);
  });

  it('is written with the uid and the resourceVersion of the claim, and with no other field', async () => {
    const [bench] = await oneUpdated();
    const [first] = notes(bench);
    const { uid, resourceVersion, annotations } = (first?.body.metadata ?? {}) as unknown as Readonly<
      Record<string, unknown>
    >;
    expect(first?.body).to.have.all.keys('metadata');
    expect(first?.body.metadata).to.have.all.keys('uid', 'resourceVersion', 'annotations');
    expect(uid).to.equal(bench.server.get(persistentVolumeClaims, claimOf(2)).metadata.uid);
    expect(resourceVersion).to.be.a('string');
    expect(annotations).to.have.all.keys(dataAnnotation);
  });

  it('is not written again if the claim already has it, regardless of which process wrote it', async () => {
    const [bench] = await oneUpdated();
    const before = notes(bench).length;
    await passes(bench, bench.start(), 3);
    expect(notes(bench)).to.have.length(before);
  });

  it('is noted with the end of a killed mysqld, whatever revision the claim has, until one is ready again', async () => {
    const bench = new Bench();
    const program = await bench.started();
    bench.replace(2);
    await passes(bench, program, 3);
    const before = noteOf(bench, 2) as Patch;
    const killed = { name: 'mysqld', ready: false, restartCount: 0, state: { terminated: { exitCode: 137 } } };
    bench.changePod(2, { status: { conditions: [], containerStatuses: [killed] } });
    program.sync();
    bench.removePod(2);
    await passes(bench, program, 3);
    expect(noteOf(bench, 2)).to.deep.equal({ ...before, killed: true });
    expect(bench.status.members?.find(({ ordinal }) => ordinal === 2)?.data?.killed).to.equal(true);
    bench.replace(2);
    await passes(bench, program, 3);
    expect(noteOf(bench, 2)).to.deep.equal(before);
  });

  it('holds no step if it cannot be noted, and is retried half a minute later', async () => {
    const bench = new Bench();
    const program = await bench.started();
    bench.server.refuse('PATCH', claimPath, 403, 'Forbidden');
    bench.replace(2);
    await program.work();
    expect(bench.steps).to.deep.equal(['evict 2', 'evict 1']);
    expect(program.log.lines.map(({ message }) => message)).to.include(
      "Failed to record the version of a member's mysqld on its claim",
    );
    expect(revisionsOf(bench)[2]).to.equal(undefined);
    await passes(bench, program, 32);
    expect(revisionsOf(bench)[2]).to.equal(revisionAfter);
  });

  it('is read for a member that was gone before the process started: it comes back at the revision of its data', async () => {
    const bench = await lostWhileKept();
    note(bench, 2, recordOf(revisionBefore));
    await bench.start().reportAll();
    expect(bench.steps).to.deep.equal(['keepRevisions']);
    expect(shown(bench, 2)).to.equal(revisionBefore);
  });

  for (const [sentence, text] of Object.entries({
    'names the update revision': recordOf(revisionAfter),
    'names a revision that no pod has now': recordOf('moco-test-another'),
    'is no record, but a text of another client': '{"revision":["moco-test-1"]}',
    'is empty': '',
  })) {
    it(`lets no member come back at the current revision whose note ${sentence}`, async () => {
      const bench = await lostWhileKept();
      note(bench, 2, text);
      await bench.start().work();
      expect(bench.steps).to.deep.equal(['keepRevisions', 'setStrategy']);
    });
  }

  it('lets no member come back at the current revision without a note, or with one that may not be read', async () => {
    const without = await lostWhileKept();
    note(without, 2, null);
    await without.start().work();
    expect(without.steps).to.deep.equal(['keepRevisions', 'setStrategy']);
    const forbidden = await lostWhileKept();
    note(forbidden, 2, recordOf(revisionBefore));
    for (let time = 0; time < 50; time += 1) forbidden.server.refuse('GET', claimPath, 403, 'Forbidden');
    await forbidden.start().work();
    expect(forbidden.steps).to.deep.equal(['keepRevisions', 'setStrategy']);
  });
});

describe('a member without a claim', () => {
  const lost = async (): Promise<Bench> => {
    const bench = await lostWhileKept();
    bench.server.remove(persistentVolumeClaims, claimOf(2));
    return bench;
  };

  it('has no data, and comes back at the current revision', async () => {
    const bench = await lost();
    await bench.start().work();
    expect(bench.steps).to.deep.equal(['keepRevisions']);
  });

  const others: Readonly<Record<string, object>> = {
    'names no object': {},
    'names another claim': { details: { kind: 'persistentvolumeclaims', name: claimOf(1) } },
    'names another kind': { details: { kind: 'namespaces', name: claimOf(2) } },
  };
  for (const [sentence, more] of Object.entries(others)) {
    it(`is not inferred from a 404 that ${sentence}`, async () => {
      const bench = await lost();
      for (let time = 0; time < 50; time += 1) bench.server.refuse('GET', claimPath, 404, 'NotFound', more);
      await bench.start().work();
      expect(bench.steps).to.deep.equal(['keepRevisions', 'setStrategy']);
    });
  }

  it('is not inferred from the 404 of a proxy, and then nothing is written', async () => {
    const bench = await lost();
    for (let time = 0; time < 50; time += 1) bench.server.script('GET', claimPath, () => answer(404, 'no such page'));
    const failed = await bench
      .start()
      .turn()
      .catch((error: unknown) => error);
    expect(failed).to.be.instanceOf(ApiError);
    expect(bench.steps).to.deep.equal(['keepRevisions']);
  });
});

describe('a cluster that is scaled up while its rollout is paused', () => {
  /** Scales from three members to five. The two new members get claims of this age. */
  async function claimed(claimSeconds: number, spec: object): Promise<readonly [Bench, Process]> {
    const bench = new Bench();
    bench.server.admit = heldByMoco;
    bench.setting({ paused: true });
    const program = await bench.started();
    bench.changeCluster({ spec: { replicas: 5 } });
    await passes(bench, program, 3);
    expect(bench.steps).to.deep.equal(['keepRevisions']);
    // Admission keeps the partition at the number of replicas.
    bench.changeStatefulSet({
      spec: { replicas: 5, updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition: 5 } } },
    });
    for (const ordinal of [3, 4]) {
      const creationTimestamp = timestampOf(bench.world.wall() - claimSeconds * 1000);
      bench.server.create(persistentVolumeClaims, { metadata: { name: claimOf(ordinal), creationTimestamp }, spec });
    }
    return [bench, program];
  }

  /** Scales up as `claimed` does, and then creates the pods. */
  async function scaledUp(claimSeconds: number, spec: object = { volumeName: 'pv' }): Promise<Bench> {
    const [bench, program] = await claimed(claimSeconds, spec);
    await createPods(bench, program);
    return bench;
  }

  async function createPods(bench: Bench, program: Process): Promise<void> {
    for (const ordinal of [3, 4]) bench.server.create(pods, pod(ordinal, { at: bench.now, ready: false }));
    await passes(bench, program, 3);
  }

  const bothBefore = [revisionBefore, revisionBefore];
  const notedRevisions = (bench: Bench) =>
    [3, 4].map((ordinal) => (noteOf(bench, ordinal) as Patch | undefined)?.['revision']);

  it('keeps revisions while the new members clone, and records on their claims the revision at which they started', async () => {
    const bench = await scaledUp(0);
    expect(bench.steps).to.deep.equal(['keepRevisions']);
    expect(notedRevisions(bench)).to.deep.equal(bothBefore);
  });

  it('keeps them for as long as the pods of the new members are refused, and once they are created', async () => {
    const [bench, program] = await claimed(0, {});
    await passes(bench, program, 60);
    expect(bench.steps).to.deep.equal(['keepRevisions']);
    await createPods(bench, program);
    expect(bench.steps).to.deep.equal(['keepRevisions']);
    expect(notedRevisions(bench)).to.deep.equal(bothBefore);
    for (const ordinal of [3, 4]) {
      bench.server.change(persistentVolumeClaims, claimOf(ordinal), { spec: { volumeName: `pv-${ordinal}` } });
    }
    await passes(bench, program, 90);
    expect(bench.steps).to.deep.equal(['keepRevisions']);
  });

  const filled: Readonly<Record<string, object>> = {
    'have volumes': { volumeName: 'pv' },
    'are to be filled from a snapshot': { dataSource: { kind: 'VolumeSnapshot', name: 'before' } },
    'are to be filled by a populator': { dataSourceRef: { kind: 'Populator', name: 'before' } },
  };
  for (const [sentence, spec] of Object.entries(filled)) {
    it(`does not keep revisions if the claims of missing pods ${sentence}`, async () => {
      const [bench, program] = await claimed(60, spec);
      await passes(bench, program, 10);
      expect(bench.steps).to.deep.equal(['keepRevisions', 'setStrategy']);
    });
  }

  it('does not keep revisions if the claims are much older than the pods', async () => {
    const bench = await scaledUp(60);
    expect(bench.steps).to.deep.equal(['keepRevisions', 'setStrategy']);
    expect(noteOf(bench, 3)).to.equal(undefined);
  });
});
