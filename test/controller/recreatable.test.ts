import { expect } from 'chai';
import { persistentVolumeClaims, persistentVolumes, pods } from '../../src/kube/resource.ts';
import { answer, status } from '../kube/fake-world.ts';
import { Bench, begin, member, passes } from './bench.ts';
import { claimOf, revisionAfter } from './moco-objects.ts';
import type { Raw } from './object-server.ts';

/** The member that goes first. */
const last = 2;
const claimPath = new RegExp(`/persistentvolumeclaims/${claimOf(last)}$`);
const deleteClaim = (bench: Bench): void => {
  const metadata = { deletionTimestamp: bench.now, finalizers: ['kubernetes.io/pvc-protection'] };
  bench.server.change(persistentVolumeClaims, claimOf(last), { metadata });
};
const readsOf = (bench: Bench, path: string): number => bench.server.reads.filter((read) => read.includes(path)).length;

const made = (bench: Bench, metadata: object): void => {
  const claim = {
    metadata: { name: claimOf(last), ...metadata },
    spec: { volumeName: 'new' },
    status: { phase: 'Bound' },
  };
  bench.server.remove(persistentVolumeClaims, claimOf(last));
  const { uid } = bench.server.create(persistentVolumeClaims, claim).metadata;
  bench.server.create(persistentVolumes, { metadata: { name: 'new', namespace: '' }, spec: { claimRef: { uid } } });
};
const volume = `volume-of-${claimOf(last)}`;
const startTime = '2026-06-30T12:00:00Z';
/** The API server and the kubelet give these times to the pod, each by its own clock. */
const startedAt = (bench: Bench, creationTimestamp: string, startTime: string): void => {
  bench.server.change(pods, member(last), { metadata: { creationTimestamp }, status: { startTime } });
};
const lies: Readonly<Record<string, readonly [(bench: Bench) => void, sentence: string]>> = {
  'is being deleted': [deleteClaim, 'is being deleted and will disappear with the pod'],
  'is gone': [(bench) => bench.server.remove(persistentVolumeClaims, claimOf(last)), 'no longer exists'],
  'has lost its volume (phase Lost)': [
    (bench) => bench.server.change(persistentVolumeClaims, claimOf(last), { status: { phase: 'Lost' } }),
    'has lost its PersistentVolume',
  ],
  'is not bound': [
    (bench) => bench.server.change(persistentVolumeClaims, claimOf(last), { status: { phase: 'Pending' } }),
    'is not bound to a PersistentVolume',
  ],
  'has no phase': [
    (bench) => bench.server.change(persistentVolumeClaims, claimOf(last), { status: { phase: null } }),
    'is not bound to a PersistentVolume',
  ],
  'is another one, Bound, and younger than the start of the pod': [
    (bench) => {
      startedAt(bench, startTime, startTime);
      made(bench, { creationTimestamp: '2026-06-30T12:00:01Z' });
    },
    'was replaced after the pod had started',
  ],
  'is another one, younger than a pod whose node has a clock that is behind': [
    (bench) => {
      startedAt(bench, '2026-06-30T12:00:05Z', '2026-06-30T12:00:04Z');
      made(bench, { creationTimestamp: '2026-06-30T12:00:06Z' });
    },
    'was replaced after the pod had started',
  ],
  'is bound to a volume that is gone': [
    (bench) => bench.server.remove(persistentVolumes, volume),
    'does not exist, or belongs to another claim',
  ],
  'is bound to a volume of another claim': [
    (bench) => bench.server.change(persistentVolumes, volume, { spec: { claimRef: { uid: 'another' } } }),
    'does not exist, or belongs to another claim',
  ],
  'is bound to a volume that is being deleted': [
    (bench) => bench.server.change(persistentVolumes, volume, { metadata: { deletionTimestamp: startTime } }),
    'is being deleted',
  ],
};

describe('a member is not evicted', () => {
  for (const [what, [lie, sentence]] of Object.entries(lies)) {
    it(`whose claim ${what}`, async () => {
      const bench = new Bench();
      lie(bench);
      await bench.start().reportAll();
      expect(bench.steps).to.deep.equal([]);
      expect(bench.status.hold).to.deep.include({ rule: 'ClaimTerminating' });
      expect(bench.status.hold?.message).to.contain(claimOf(last)).and.contain(sentence);
    });
  }
});

describe('a member with many volumes', () => {
  const mounts = (bench: Bench, names: readonly string[]): void => {
    const volumes = names.map((claimName, index) => ({ name: `v${index}`, persistentVolumeClaim: { claimName } }));
    bench.server.change(pods, member(last), { spec: { volumes } });
  };

  it('has each of its claims read once, however many volumes name it', async () => {
    const bench = new Bench();
    mounts(
      bench,
      Array.from({ length: 2_000 }, () => claimOf(last)),
    );
    await bench.start().reportAll();
    expect(bench.steps).to.deep.equal(['evict 2']);
    expect(readsOf(bench, '/persistentvolumeclaims/')).to.be.lessThan(10);
  });

  it('is not evicted if it mounts more than 32 claims, and none of them is read', async () => {
    const bench = new Bench();
    mounts(bench, [claimOf(last), ...Array.from({ length: 32 }, (_, index) => `other-${index}`)]);
    const program = bench.start();
    await program.reportAll();
    expect(bench.steps).to.deep.equal([]);
    const readsBefore = bench.server.reads.length;
    await passes(bench, program, 60);
    expect(bench.steps).to.deep.equal([]);
    expect(bench.server.reads.length - readsBefore).to.be.lessThan(300);
    expect(bench.status.hold).to.include({
      rule: 'ClaimTerminating',
      message:
        'deleting moco-test-2 may destroy its data: it mounts more than 32 claims, among them mysql-data-moco-test-2, so they are not checked',
    });
    expect(bench.server.reads.filter((read) => read.includes('/persistentvolumeclaims/other-'))).to.deep.equal([]);
  });
});

describe('the claim of a member', () => {
  it('counts if it was made before the pod started, though after the pod was made', async () => {
    const bench = new Bench();
    startedAt(bench, '2026-06-30T11:59:58Z', '2026-06-30T12:00:02Z');
    made(bench, { creationTimestamp: startTime });
    await bench.start().work();
    expect(bench.steps).to.deep.equal(['evict 2']);
  });

  for (const creationTimestamp of ['2026-06-30T12:00:04Z', '2026-06-30T12:00:05Z']) {
    it(`counts if it was made before the pod, at ${creationTimestamp}, although the clock of the node is behind`, async () => {
      const bench = new Bench();
      startedAt(bench, '2026-06-30T12:00:05Z', '2026-06-30T12:00:03Z');
      made(bench, { creationTimestamp });
      await bench.start().work();
      expect(bench.steps).to.deep.equal(['evict 2']);
    });
  }

  it('does not count if it has become another one since it was read, whatever it says of its age', async () => {
    const [bench, program] = begin();
    program.sync();
    bench.server.script('GET', claimPath, (_, carryOut) => {
      const answer = carryOut();
      made(bench, {});
      return answer;
    });
    await program.pass();
    await program.work();
    expect(bench.steps).to.deep.equal([]);
    expect(bench.status.hold?.message).to.contain('was replaced after the pod had started');
  });

  it('counts without its volume where the controller may not read volumes, and need not', async () => {
    const bench = new Bench();
    bench.server.always('GET', /persistentvolumes/, () => answer(403, status(403, 'Forbidden')));
    await bench.started({}, undefined, { mayLackNodes: true });
    expect(bench.steps).to.deep.equal(['evict 2']);
  });
});

describe('a member whose claim is being deleted', () => {
  it('is not evicted if that begins right before the eviction', async () => {
    const [bench, program] = begin();
    program.sync();
    // The second read is that of the confirmation.
    bench.server.script('GET', claimPath, (_, carryOut) => {
      const answer = carryOut();
      deleteClaim(bench);
      return answer;
    });
    await program.pass();
    await program.work();
    expect(bench.steps).to.deep.equal([]);
    expect(bench.status.hold?.rule).to.equal('ClaimTerminating');
  });

  it('is read again every minute, and the rollout continues once it has another claim', async () => {
    const bench = new Bench();
    deleteClaim(bench);
    const program = await bench.started();
    bench.removePod(2);
    bench.server.remove(persistentVolumeClaims, claimOf(last));
    bench.replace(2, { revision: revisionAfter });
    await program.work();
    expect(bench.steps).to.deep.equal(['evict 1']);
  });

  it('costs a read of the claim a minute while it holds', async () => {
    const bench = new Bench();
    deleteClaim(bench);
    const program = await bench.started();
    const before = readsOf(bench, `persistentvolumeclaims/${claimOf(last)}`);
    for (let minute = 0; minute < 3; minute += 1) {
      bench.world.freeze(60_000);
      await program.turn();
      await program.pass();
    }
    expect(readsOf(bench, `persistentvolumeclaims/${claimOf(last)}`)).to.equal(before + 3);
    expect(readsOf(bench, `pods/${member(2)}`), 'volumes of a pod never change').to.equal(1);
  });
});

describe('whether members can come back', () => {
  it('is not read while nothing is to be done', async () => {
    const bench = new Bench({ stale: false });
    await bench.start().work();
    expect(readsOf(bench, 'persistentvolumeclaims')).to.equal(0);
  });

  it('holds every step if it cannot be read', async () => {
    const bench = new Bench();
    bench.server.always('GET', claimPath, () =>
      answer(403, status(403, 'Forbidden', { message: 'may not get claims' })),
    );
    const program = bench.start();
    program.sync();
    for (let second = 0; second < 15; second += 1) {
      await program.pass().catch(() => undefined);
      bench.world.freeze(1000);
      program.sync();
    }
    expect(bench.steps).to.deep.equal([]);
    expect(bench.status.hold).to.deep.include({ rule: 'StepRefused' });
    expect(bench.status.hold?.message).to.contain('may not get claims');
  });

  it('is read for the pod that exists', async () => {
    const [bench, program] = begin();
    program.sync();
    bench.server.remove(pods, member(2));
    await program.pass();
    expect(bench.steps).to.deep.equal([]);
  });
});

describe('a member on a node that accepts no pods', () => {
  const tieTo = (bench: Bench, ordinal: number, node: string): void => {
    const name = `pvc-${ordinal}`;
    const term = { matchExpressions: [{ key: 'kubernetes.io/hostname', operator: 'In', values: [node] }] };
    const spec = { nodeAffinity: { required: { nodeSelectorTerms: [term] } } };
    bench.server.create(persistentVolumes, { metadata: { namespace: '', name }, spec });
    bench.server.change(persistentVolumeClaims, claimOf(ordinal), { spec: { volumeName: name } });
  };
  const spread = (): Bench => {
    const bench = new Bench();
    bench.spread();
    return bench;
  };

  it('is not evicted while its volume ties it to that node, until the node accepts pods again', async () => {
    const bench = spread();
    for (const ordinal of [1, 2]) tieTo(bench, ordinal, `n-${ordinal}`);
    bench.cordon(1);
    bench.cordon(2);
    const program = bench.start();
    await program.reportAll();
    expect(bench.steps).to.deep.equal([]);
    expect(bench.status.hold).to.deep.include({
      rule: 'NodeTakesNoPods',
      message:
        'a new pod of moco-test-2 would stay Pending: its node n-2 is cordoned, and the volume pvc-2 rules out every other node that accepts pods',
    });
    bench.cordon(2, false);
    await program.workAfter(60_000);
    expect(bench.steps).to.deep.equal(['evict 2']);
  });

  it('goes first without a watch of nodes, too', async () => {
    const bench = spread();
    bench.cordon(1);
    await bench.started({}, undefined, { nodeMaintenanceEnabled: false });
    expect(bench.steps).to.deep.equal(['evict 1']);
  });

  it('is not evicted if the node is cordoned right before the eviction', async () => {
    const bench = spread();
    tieTo(bench, 2, 'n-2');
    const program = bench.start();
    program.sync();
    bench.server.script('GET', /\/nodes\/n-2$/, (_, carryOut) => {
      const before = carryOut();
      bench.cordon(2);
      return before;
    });
    await program.pass();
    expect(bench.steps).to.deep.equal([]);
  });

  it('is not read by a controller that may not read nodes, and need not', async () => {
    const bench = spread();
    bench.server.always('GET', /\/nodes\//, () => answer(403, status(403, 'Forbidden')));
    await bench.started({}, undefined, { mayLackNodes: true });
    expect(bench.steps).to.deep.equal(['evict 2']);
  });
});

describe('a member whose next pod may not run everywhere', () => {
  const spreadBy = (count: number): object => ({
    topologySpreadConstraints: Array.from({ length: count }, (_, index) => ({
      maxSkew: 1,
      topologyKey: `key-${index}`,
      whenUnsatisfiable: 'DoNotSchedule',
    })),
  });

  it('is not evicted if it has too many constraints, until they are removed', async () => {
    const bench = new Bench();
    bench.spread();
    bench.changeStatefulSet({ spec: { template: { spec: spreadBy(65) } } });
    const program = bench.start();
    await program.reportAll();
    expect(bench.steps).to.deep.equal([]);
    expect(bench.status.hold).to.deep.include({
      rule: 'PlacementUnknown',
      message:
        'it is unknown which nodes can run a new pod of moco-test-2: expected at most 64 topologySpreadConstraints in the pod template, got 65; remove some',
    });
    expect(readsOf(bench, '/nodes?'), 'nodes are not listed').to.equal(0);
    bench.changeStatefulSet({ spec: { template: { spec: spreadBy(0) } } });
    await program.workAfter(60_000);
    expect(bench.steps).to.deep.equal(['evict 2']);
  });

  it('is not evicted if its node is cordoned and its pod has too many tolerations to compare', async () => {
    const bench = new Bench();
    bench.spread();
    bench.cordon(2);
    bench.changePod(2, { spec: { tolerations: Array.from({ length: 65 }, (_, index) => ({ key: `key-${index}` })) } });
    await bench.start().reportAll();
    expect(bench.status.hold?.message).to.contain('expected at most 64 tolerations in the pod, got 65');
  });
});

describe('a member whose next pod would not be admitted', () => {
  const creations = /\/namespaces\/default\/pods$/;
  const quota = (requested: string, used: string, limited: string): string =>
    `pods "moco-test-2" is forbidden: exceeded quota: small, requested: ${requested}, used: ${used}, limited: ${limited}`;
  const refuses = (bench: Bench, code: number, reason: string, message: string): void =>
    bench.server.always('POST', creations, () => answer(code, status(code, reason, { message })));

  it('is not evicted, and the status has the words of the API server', async () => {
    const bench = new Bench();
    refuses(bench, 403, 'Forbidden', 'pods "moco-test-2" is forbidden: violates PodSecurity "restricted:latest"');
    await bench.start().reportAll();
    expect(bench.steps).to.deep.equal([]);
    expect(bench.status.hold?.rule).to.equal('SuccessorRefused');
    expect(bench.status.hold?.message)
      .to.contain('the API server would not admit a new pod of moco-test-2: ')
      .and.contain('violates PodSecurity "restricted:latest"');
  });

  for (const [code, reason] of [
    [400, 'BadRequest'],
    [422, 'Invalid'],
    [500, 'InternalError'],
  ] as const) {
    it(`is not evicted if the answer is ${code}`, async () => {
      const bench = new Bench();
      refuses(bench, code, reason, 'no');
      await bench.start().reportAll();
      expect(bench.steps).to.deep.equal([]);
      expect(bench.status.hold?.rule).to.equal('SuccessorRefused');
    });
  }

  it('is asked for as the StatefulSet controller would create it, once in a minute', async () => {
    const bench = new Bench();
    const asked: Raw[] = [];
    bench.server.always('POST', creations, ({ body }) => {
      asked.push(JSON.parse(body ?? '{}') as Raw);
      return answer(422, status(422, 'Invalid'));
    });
    const program = await bench.started();
    await program.workAfter(60_000);
    expect(asked.map(({ metadata }) => [metadata.name, metadata.labels?.['controller-revision-hash']])).to.deep.equal([
      ['moco-test-2', 'moco-test-7966559688'],
      ['moco-test-2', 'moco-test-7966559688'],
    ]);
  });

  it('goes if a quota has room for it once its own pod is gone', async () => {
    const bench = new Bench();
    refuses(bench, 403, 'Forbidden', quota('pods=1', 'pods=3', 'pods=3'));
    await bench.start().work();
    expect(bench.steps).to.deep.equal(['evict 2']);
  });

  it('stays if it asks for more than its own pod leaves', async () => {
    const bench = new Bench();
    refuses(bench, 403, 'Forbidden', quota('pods=2', 'pods=3', 'pods=3'));
    await bench.start().reportAll();
    expect(bench.steps).to.deep.equal([]);
  });

  it('is asked for again once the update revision is another one', async () => {
    const bench = new Bench();
    refuses(bench, 422, 'Invalid', 'spec.containers[0].image: Required value');
    const program = await bench.started();
    bench.server.calm();
    bench.changeStatefulSet({ status: { updateRevision: 'moco-test-corrected' } });
    await program.work();
    expect(bench.steps).to.deep.equal(['evict 2']);
  });

  it('holds every step if the controller may not ask', async () => {
    const bench = new Bench();
    const message = 'pods is forbidden: User "moco-rollout" cannot create resource "pods" in API group ""';
    refuses(bench, 403, 'Forbidden', message);
    const program = bench.start();
    for (let second = 0; second < 15; second += 1) {
      await program.turn().catch(() => undefined);
      bench.world.freeze(1000);
    }
    expect(bench.steps).to.deep.equal([]);
    expect(bench.status.hold).to.deep.include({ rule: 'StepRefused' });
  });
});
