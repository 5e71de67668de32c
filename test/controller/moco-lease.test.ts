import { expect } from 'chai';
import { MocoLeases } from '../../src/controller/questions/moco-lease.ts';
import { ApiError } from '../../src/kube/api-error.ts';
import type { ClusterReader } from '../../src/objects/cluster-reader.ts';
import { FakeWorld } from '../kube/fake-world.ts';
import { Bench } from './bench.ts';
import { FakeMoco } from './fake-servers.ts';

const place = { namespace: 'databases', name: 'moco-2' };

describe('the Lease of moco-controller', () => {
  let world: FakeWorld;
  let moco: MocoLeases;
  let spec: object | null;
  let asked: unknown[];
  const api = {
    read: (_: unknown, where: unknown) => {
      asked.push(where);
      return Promise.resolve(spec === null ? null : { metadata: place, spec });
    },
  } as unknown as ClusterReader;

  beforeEach(() => {
    world = new FakeWorld();
    moco = new MocoLeases(world, place);
    asked = [];
    spec = { holderIdentity: 'a', leaseDurationSeconds: 20, renewTime: '1' };
  });

  it('is read where the flags say', async () => {
    expect(await moco.read(api)).to.include({ lease: 'databases/moco-2', state: 'held', durationSeconds: 20 });
    expect(asked).to.deep.equal([place]);
  });

  it('proves nothing when it is first read, whatever time it names', async () => {
    spec = { holderIdentity: 'a', renewTime: new Date(world.wall()).toISOString() };
    expect((await moco.read(api)).renewedAtMilliseconds).to.equal(null);
  });

  it('was renewed after the last reading before one that differs', async () => {
    world.freeze(1000);
    await moco.read(api);
    world.freeze(600_000);
    spec = { holderIdentity: 'a', renewTime: '2' };
    expect((await moco.read(api)).renewedAtMilliseconds).to.equal(1000);
    world.freeze(2000);
    spec = { holderIdentity: 'a', renewTime: '3' };
    expect((await moco.read(api)).renewedAtMilliseconds).to.equal(601_000);
  });

  it('was not renewed as long as it is unchanged', async () => {
    await moco.read(api);
    world.freeze(2000);
    spec = { holderIdentity: 'a', renewTime: '2' };
    await moco.read(api);
    world.freeze(60_000);
    expect((await moco.read(api)).renewedAtMilliseconds).to.equal(0);
  });

  it('was not renewed by being released', async () => {
    await moco.read(api);
    world.freeze(2000);
    spec = { holderIdentity: '', renewTime: '2' };
    expect(await moco.read(api)).to.include({ state: 'free', renewedAtMilliseconds: null });
  });

  it('is kept up to 253 characters of its holder, and not renewed by what differs after them', async () => {
    const long = 'x'.repeat(100_000);
    spec = { holderIdentity: long, renewTime: `${long}1` };
    expect((await moco.read(api)).holder).to.have.lengthOf(253);
    world.freeze(2000);
    spec = { holderIdentity: `${long}2`, renewTime: `${long}2` };
    expect((await moco.read(api)).renewedAtMilliseconds).to.equal(null);
    world.freeze(4000);
    spec = { holderIdentity: `${long}2`, renewTime: '3' };
    expect((await moco.read(api)).renewedAtMilliseconds).not.to.equal(null);
  });

  it('is missing where there is none, and forbidden without the right', async () => {
    spec = null;
    expect((await moco.read(api)).state).to.equal('missing');
    const denied = { read: () => Promise.reject(new ApiError({ status: 403, reason: 'Forbidden', message: 'no' })) };
    world.freeze(2000);
    expect((await moco.read(denied as unknown as ClusterReader)).state).to.equal('forbidden');
  });

  it('is read once for clusters that are reconciled together', async () => {
    await moco.read(api);
    await moco.read(api);
    expect(asked).to.have.length(1);
  });
});

describe('a cluster whose MOCO is away', () => {
  for (const replicas of [1, 3]) {
    it(`of ${replicas} loses no member that works`, async () => {
      const bench = new Bench({ replicas });
      bench.moco = new FakeMoco(bench.world, { renewedAtMilliseconds: bench.world.monotonic() - 60_000 });
      await bench.start().reportAll();
      expect(bench.steps).to.deep.equal([]);
      expect(bench.status.hold).to.deep.include({ rule: 'MocoUnavailable' });
    });
  }

  it('is stalled after the progress deadline, which alarms', async () => {
    const bench = new Bench();
    bench.moco = new FakeMoco(bench.world, { renewedAtMilliseconds: bench.world.monotonic() - 60_000 });
    const program = bench.start();
    const stalled = () => bench.status.conditions?.find(({ type }) => type === 'Stalled');
    await program.reportAll();
    expect(stalled()?.status).to.equal('False');
    await program.workAfter(601_000);
    await program.reportAll();
    expect(stalled()).to.deep.include({ status: 'True', reason: 'ProgressDeadlineExceeded' });
    expect(bench.status.hold).to.deep.include({ rule: 'MocoUnavailable' });
    expect(bench.steps).to.deep.equal([]);
  });

  it('loses no member that works by an override of another rule, and one by an override of this one', async () => {
    const bench = new Bench();
    bench.moco = new FakeMoco(bench.world, { renewedAtMilliseconds: bench.world.monotonic() - 60_000 });
    const until = new Date(bench.world.wall() + 3_600_000).toISOString();
    bench.setting({ overrides: [{ rule: 'MemberSilent', until, reason: 'a test' }] });
    const program = bench.start();
    await program.work();
    expect(bench.steps).to.deep.equal([]);
    bench.setting({ overrides: [{ rule: 'MocoUnavailable', until, reason: 'a test' }] });
    await program.work();
    expect(bench.steps).to.deep.equal(['evict 2']);
  });

  it('continues if the Lease may not be read', async () => {
    const bench = new Bench();
    bench.moco = new FakeMoco(bench.world, { state: 'forbidden', renewedAtMilliseconds: null });
    await bench.start().work();
    expect(bench.steps).to.deep.equal(['evict 2']);
  });

  it('loses no member if MOCO goes away right before the eviction', async () => {
    const bench = new Bench();
    const before = bench.moco;
    let reads = 0;
    bench.moco = Object.assign(new FakeMoco(bench.world), {
      read: async () => {
        reads += 1;
        return { ...(await before.read()), ...(reads > 1 && { renewedAtMilliseconds: -60_000 }) };
      },
    });
    await bench.start().reportAll();
    expect(bench.steps).to.deep.equal([]);
    expect(bench.status.hold).to.deep.include({ rule: 'MocoUnavailable' });
  });
});
