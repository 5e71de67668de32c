import { expect } from 'chai';
import * as fc from 'fast-check';
import { type MySQLRollout, rolloutKind, wholeRecord } from '../../src/api/rollout.ts';
import { parseWatchEvent } from '../../src/kube/list-watch.ts';
import { jobs, podDisruptionBudgets, pods } from '../../src/kube/resource.ts';
import { TokenBucket } from '../../src/kube/token-bucket.ts';
import { WorkQueue } from '../../src/kube/work-queue.ts';
import { projectPod } from '../../src/moco/pod-projection.ts';
import { projectBudget, projectCluster, projectJob, projectStatefulSet } from '../../src/moco/projections.ts';
import { FakeWorld } from '../kube/fake-world.ts';
import { propertyParameters } from '../support/property-parameters.ts';
import { Bench } from './bench.ts';
import { budget, emergencyBackup, mysqlCluster, pod, statefulSet } from './moco-objects.ts';

// Whatever a tenant writes into one namespace: no pass over a cluster of another one may be delayed by more than a
// second. An object is at most as large as etcd takes, and costs work in proportion; what is kept of it is small.

type Raw = Readonly<Record<string, unknown>>;

const largestObjectBytes = 1.5 * 1024 * 1024;

const rollout = (): Raw => ({
  apiVersion: 'moco-rollout.io/v1alpha1',
  kind: 'MySQLRollout',
  metadata: { namespace: 'default', name: 'test', uid: 'u', resourceVersion: '1' },
  spec: {},
});

/** What a tenant may fill, and what is kept of it. */
const kinds: Readonly<
  Record<string, readonly [whole: () => Raw, project: (raw: Raw) => unknown, more: readonly string[]]>
> = {
  MySQLCluster: [
    () => mysqlCluster() as Raw,
    projectCluster,
    ['spec.podTemplate.spec.containers', 'spec.volumeClaimTemplates', 'status.conditions', 'status.errantReplicaList'],
  ],
  StatefulSet: [
    () => statefulSet() as Raw,
    projectStatefulSet,
    ['spec.template.spec.containers', 'spec.template.spec.tolerations', 'spec.volumeClaimTemplates'],
  ],
  Pod: [
    () => pod(1) as Raw,
    projectPod,
    [
      'spec.containers',
      'spec.initContainers',
      'spec.readinessGates',
      'spec.tolerations',
      'spec.volumes',
      'status.conditions',
      'status.containerStatuses',
    ],
  ],
  PodDisruptionBudget: [
    () => budget() as Raw,
    projectBudget,
    ['spec.selector.matchLabels', 'spec.selector.matchExpressions', 'status.conditions'],
  ],
  Job: [() => emergencyBackup as Raw, projectJob, ['spec.template.spec.containers', 'status.conditions']],
  MySQLRollout: [rollout, (raw) => wholeRecord(raw as unknown as MySQLRollout), []],
};
const everywhere = ['labels', 'annotations', 'finalizers', 'ownerReferences', 'managedFields'].map(
  (one) => `metadata.${one}`,
);

/** Items of which a list or an object is filled; `#` is their number. */
const items: Readonly<Record<string, string>> = {
  'empty objects': '{}',
  'empty lists': '[]',
  texts: '"x#"',
  'owners of a MySQLCluster': '{"kind":"MySQLCluster","name":"n#","uid":"u#"}',
  'named things':
    '{"name":"n#","type":"t#","key":"k#","operator":"In","values":["v#"],"manager":"m#","time":"2026-07-01T12:00:00Z"}',
  'one long text': `"${'y'.repeat(100_000)}#"`,
};

/** A path of an object, filled up to the limit of its size. */
function filled(whole: Raw, path: string, item: string): Raw {
  const [first = '', ...rest] = path.split('.');
  const inner = whole[first];
  if (rest.length > 0) {
    const object = typeof inner === 'object' && inner !== null ? (inner as Raw) : {};
    return { ...whole, [first]: filled(object, rest.join('.'), item) };
  }
  const isMap = /labels|annotations|matchLabels/i.test(first);
  const count = Math.floor(largestObjectBytes / (item.length + (isMap ? 14 : 8)));
  const values = Array.from(
    { length: count },
    (_, index) => JSON.parse(item.replaceAll('#', String(index))) as unknown,
  );
  const before = Array.isArray(inner) ? (inner as readonly unknown[]) : [];
  return {
    ...whole,
    [first]: isMap
      ? { ...Object.fromEntries(values.map((value, index) => [`k${index}`, value])), ...(inner as Raw) }
      : [...before, ...values],
  };
}

const cpuMilliseconds = (work: () => unknown): number => {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
};

/** What it costs on this machine, at this moment, to read one object with as many values as may be read. */
function unitMilliseconds(): number {
  const text = `[${'{"a":1},'.repeat(25_000)}0]`;
  const costs = Array.from({ length: 5 }, () => cpuMilliseconds(() => JSON.parse(text)));
  return Math.max(1, costs.toSorted((one, other) => one - other)[2] ?? 0);
}

/**
 * A few units on an idle machine, and a few dozen where other programs use the processor's caches. Reading in
 * quadratic time costs thousands.
 */
const mostUnits = 300;
const mostKeptCharacters = 100_000;

describe('an object of a tenant of the largest possible size', () => {
  it('is read in proportion to its size, and little of it is kept', () => {
    const unit = unitMilliseconds();
    const draw = fc
      .constantFrom(...Object.keys(kinds))
      .chain((kind) => fc.tuple(fc.constant(kind), fc.constantFrom(...everywhere, ...(kinds[kind]?.[2] ?? []))));
    fc.assert(
      fc.property(draw, fc.constantFrom(...Object.values(items)), ([kind, path], item) => {
        const [whole, project] = kinds[kind] ?? [];
        if (!whole || !project) throw new Error(`Expected a kind, got ${kind}`);
        const base = whole();
        const metadata = { uid: 'u', resourceVersion: '1', namespace: 'default', ...(base['metadata'] as Raw) };
        const line = JSON.stringify({ type: 'MODIFIED', object: filled({ ...base, metadata }, path, item) });
        let kept: unknown = null;
        const take = (): void => {
          const event = parseWatchEvent(line);
          expect(['MODIFIED', 'TOO_LARGE']).to.include(event.type);
          if (event.type !== 'MODIFIED') return;
          try {
            kept = project(event.object);
          } catch (error) {
            expect(error).to.be.instanceOf(RangeError);
          }
        };
        expect(cpuMilliseconds(take), 'units').to.be.lessThan(mostUnits * unit);
        expect(JSON.stringify(kept).length).to.be.lessThan(mostKeptCharacters);
      }),
      // Shrinking would play hundreds of such objects.
      { ...propertyParameters(24), endOnFailure: true },
    );
  });
});

describe('a namespace full of objects', () => {
  it('costs a pass over one of its clusters little time, and a fixed number of requests', async () => {
    const bench = new Bench();
    const program = bench.start();
    await program.turn();
    const unit = unitMilliseconds();
    const expressions = Array.from({ length: 30 }, (_, index) => ({
      key: `k${index}`,
      operator: 'NotIn',
      values: ['v'],
    }));
    for (let index = 0; index < 1000; index += 1) {
      const metadata = { namespace: 'default', name: `b${index}`, uid: `b${index}`, resourceVersion: '1' };
      const spec = { maxUnavailable: 0, selector: { matchExpressions: expressions } };
      bench.server.create(podDisruptionBudgets, { metadata, spec, status: { disruptionsAllowed: 0 } });
      bench.server.create(jobs, {
        ...emergencyBackup,
        metadata: { ...(emergencyBackup as { metadata: object }).metadata, name: `j${index}` },
      });
    }
    for (let ordinal = 3; ordinal < 200; ordinal += 1) bench.server.create(pods, pod(ordinal));
    program.sync();
    const readsBefore = bench.server.reads.length;
    const before = process.cpuUsage();
    await program.pass();
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000).to.be.lessThan(mostUnits * unit);
    expect(bench.server.reads.length - readsBefore).to.be.lessThan(200);
    const { status } = bench.server.get(rolloutKind, 'test') as { status?: object };
    expect(JSON.stringify(status).length).to.be.lessThan(mostKeptCharacters);
  });
});

describe('a tenant whose passes never end', function () {
  /** As by default. */
  const [qps, burst, concurrency] = [100, 200, 8];
  /** The most that a confirmation of a cluster of the largest size reserves. */
  const mostReserved = 95;
  const victimCalls = 15;

  interface Pass {
    readonly calls: number;
    readonly reserved: number;
    readonly milliseconds: number;
  }

  /** Whose a key is. */
  type TenantOf = (key: string) => string;
  const byNamespace: TenantOf = (key) => key.split('/')[0] ?? '';

  interface Outcome {
    /** From when its key was added until its pass had its tokens; `null` if that took more than five seconds. */
    readonly delayedMilliseconds: number | null;
    /** Whether keeping the lease waits for no tokens. */
    readonly leaseAtOnce: boolean;
  }

  /** The pass of a victim, while a tenant has so many keys whose passes follow one another. */
  async function besideTenant(
    passes: readonly Pass[],
    keys: number,
    { tenantOf, turns }: { readonly tenantOf: TenantOf | null; readonly turns: TenantOf },
  ): Promise<Outcome> {
    const world = new FakeWorld();
    const bucket = new TokenBucket({ world, qps, burst });
    const wait = (milliseconds: number): Promise<void> =>
      new Promise((resolve) => void world.timer(milliseconds, resolve));
    let delayedMilliseconds: number | null = null;
    let started = 0;
    const process = async (key: string): Promise<void> => {
      const tenant = turns(key);
      if (key.startsWith('victim/')) {
        const reservation = await bucket.reserve('disrupt', victimCalls, undefined, tenant);
        reservation?.end();
        // Its own requests would take this long without any tenant.
        delayedMilliseconds = Math.max(0, world.monotonic() - started - (victimCalls / qps) * 1000);
        return;
      }
      const pass = passes[Number(key.slice('tenant/'.length)) % passes.length];
      const { calls, reserved, milliseconds } = pass ?? { calls: 0, reserved: 0, milliseconds: 0 };
      const reservation = await bucket.reserve('disrupt', reserved, undefined, tenant);
      for (let used = 0; used < reserved; used += 1) reservation?.take();
      reservation?.end();
      for (let call = 0; call < calls; call += 1) await bucket.take('disrupt', undefined, tenant);
      await wait(milliseconds);
      queue.add(key);
    };
    const queue = new WorkQueue({
      name: 'clusters',
      world,
      concurrency,
      ...(tenantOf && { tenantOf }),
      process,
      onError: () => {},
    });
    for (let key = 0; key < keys; key += 1) queue.add(`tenant/${key}`);
    queue.start();
    await world.advance(20_000);
    started = world.monotonic();
    queue.add('victim/test');
    await world.advance(5_000);
    const outcome = { delayedMilliseconds, leaseAtOnce: await isAtOnce(bucket.take('lease')) };
    const drained = queue.drain(0);
    await world.advance(5_000);
    await drained;
    return outcome;
  }

  const isAtOnce = (taken: Promise<unknown>): Promise<boolean> =>
    Promise.race([taken.then(() => true), Promise.resolve().then(() => Promise.resolve(false))]);

  const shared = { tenantOf: byNamespace, turns: byNamespace };
  const endless: readonly Pass[] = [{ calls: 0, reserved: 0, milliseconds: 60_000 }];
  const greedy: readonly Pass[] = [{ calls: 0, reserved: mostReserved, milliseconds: 10 }];

  it('delays no pass over a cluster of another namespace by more than a second, whatever they ask for', async () => {
    const pass = fc.record({
      calls: fc.integer({ min: 0, max: 50 }),
      reserved: fc.integer({ min: 0, max: mostReserved }),
      milliseconds: fc.integer({ min: 0, max: 60_000 }),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(pass, { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 20, max: 300 }),
        async (passes, keys) => {
          const { delayedMilliseconds, leaseAtOnce } = await besideTenant(passes, keys, shared);
          expect(delayedMilliseconds).to.be.a('number').that.is.at.most(1_000);
          expect(leaseAtOnce).to.equal(true);
        },
      ),
      // Shrinking would play hundreds of tenants.
      { ...propertyParameters(20), endOnFailure: true },
    );
  });

  it('would delay it forever if one tenant could have all workers', async () => {
    expect((await besideTenant(endless, 20, { ...shared, tenantOf: null })).delayedMilliseconds).to.equal(null);
    expect((await besideTenant(endless, 20, shared)).delayedMilliseconds).to.equal(0);
  });

  it('would delay it by more than a second if calls to the API server took no turns', async () => {
    const inOneLine = { ...shared, turns: () => '' };
    const delayed = (await besideTenant(greedy, 20, inOneLine)).delayedMilliseconds;
    expect(delayed ?? Number.POSITIVE_INFINITY).to.be.greaterThan(1_000);
    expect((await besideTenant(greedy, 20, shared)).delayedMilliseconds).to.be.at.most(1_000);
  });
});
