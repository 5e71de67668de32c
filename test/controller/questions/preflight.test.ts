import { expect } from 'chai';
import { noFleetLimits } from '../../../src/controller/fleet/fleet-limits.ts';
import { controllerRevisions, nodes, pods } from '../../../src/kube/resource.ts';
import { preflightLabel } from '../../../src/moco/names.ts';
import { answer, status } from '../../kube/fake-world.ts';
import { type Process, passes } from '../bench.ts';
import { agentImage, InPlaceBench, withImages } from '../in-place-bench.ts';
import { revisionAfter } from '../moco-objects.ts';
import type { Patch, Raw } from '../object-server.ts';

const newImage = 'example/mysql:new';
const change = (template: Patch): Patch => withImages(template, { mysqld: newImage });
const preflight = { preflight: 'Nodes' } as const;
const checking = { preflight: 'NodesAndConfiguration' } as const;
const waits = (reason: string, message: string): object => ({
  phase: 'Pending',
  containerStatuses: [{ name: 'mysqld', state: { waiting: { reason, message } } }],
});
const exits = (exitCode: number, message: string): object => ({
  phase: exitCode === 0 ? 'Succeeded' : 'Failed',
  containerStatuses: [{ name: 'mysqld', state: { terminated: { exitCode, message, reason: 'Error' } } }],
});

/** Three members on a node each, whose update revision has another image of mysqld. */
class PreflightBench extends InPlaceBench {
  lists = 0;
  /** The answer of the API server to a list of pods, in place of its pods. */
  listed: object | null = null;
  mayCreate = true;

  constructor(changed: (template: Patch) => Patch = change) {
    super(changed);
    this.#answers();
    // The other images of the template are on every node.
    for (const ordinal of [0, 1, 2]) this.reports(ordinal, ...this.#others);
  }

  #answers(): void {
    this.server.always('GET', /\/pods$/, (_, carryOut) => {
      this.lists += 1;
      return this.listed === null ? carryOut() : answer(200, this.listed);
    });
    this.server.always('POST', /selfsubjectaccessreviews$/, () => answer(201, { status: { allowed: this.mayCreate } }));
  }

  /** The API server is busy with requests of that kind that are a preflight's. */
  busyWith(method: string, path: RegExp): void {
    this.server.calm();
    this.server.always(method, path, (request, carryOut) =>
      request.path.includes('dryRun') ? carryOut() : answer(503, status(503, 'ServiceUnavailable')),
    );
    this.#answers();
  }

  get #others(): readonly string[] {
    const { data } = this.server.get(controllerRevisions, revisionAfter) as unknown as { data: { spec: Patch } };
    const { template } = data.spec as { template: { spec: Record<string, readonly { image: string }[]> } };
    const { containers = [], initContainers = [] } = template.spec;
    return [...containers, ...initContainers].map(({ image }) => image).filter((image) => image !== newImage);
  }

  reports(ordinal: number, ...images: readonly string[]): void {
    this.server.change(nodes, `node-${ordinal}`, { status: { images: [{ names: images }] } }, '');
  }

  reportsAll(ordinal: number): void {
    this.reports(ordinal, ...this.#others, newImage);
  }

  get preflights(): readonly Raw[] {
    return this.server.all(pods).filter(({ metadata }) => metadata.labels?.[preflightLabel] !== undefined);
  }

  /** Those that were not deleted. */
  get running(): readonly Raw[] {
    return this.preflights.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  }

  podOn(node: string): Raw {
    const found = this.running.find((pod) => JSON.stringify(pod['spec']).includes(`["${node}"]`));
    if (found === undefined) throw new Error(`expected a pod for ${node}, found none`);
    return found;
  }

  /** The kubelets of these nodes, of all by default. */
  kubelets(says: object, ...ordinals: readonly number[]): void {
    for (const ordinal of ordinals.length === 0 ? [0, 1, 2] : ordinals) {
      this.server.change(pods, this.podOn(`node-${ordinal}`).metadata.name, { status: says });
    }
  }

  /** What is deleted is gone. */
  clear(): void {
    for (const { metadata } of this.preflights) {
      if (metadata.deletionTimestamp !== undefined) this.server.remove(pods, metadata.name);
    }
  }

  get results(): Readonly<Record<string, string | undefined>> {
    return Object.fromEntries((this.status.preflight?.nodes ?? []).map(({ name, result }) => [name, result]));
  }
}

const begun = async (bench: PreflightBench, settings: object = preflight): Promise<Process> => {
  const program = bench.start(settings);
  await passes(bench, program, 2);
  return program;
};

/** The kubelet of node-2 has tried to pull twice. */
async function failed(bench: PreflightBench, program: Process, message: string): Promise<void> {
  bench.kubelets(waits('ErrImagePull', message), 2);
  await passes(bench, program, 2);
  bench.world.freeze(30_000);
  await passes(bench, program, 4);
}

describe('a preflight', () => {
  it('fetches images on every node before any member is replaced, and deletes its pods', async () => {
    const bench = new PreflightBench();
    const program = await begun(bench);
    expect(bench.running).to.have.length(3);
    expect(bench.steps).to.deep.equal([]);
    await passes(bench, program, 12);
    expect(bench.status.hold).to.deep.include({
      rule: 'PreflightRunning',
      message: 'nodes node-0, node-1, node-2 are fetching the images of the update revision, for at most 300 s',
    });
    bench.kubelets(exits(0, ''));
    await passes(bench, program, 4);
    expect(bench.running).to.deep.equal([]);
    expect(bench.steps).to.deep.equal(['evict 2']);
    expect(bench.results).to.deep.equal({ 'node-0': 'Fetched', 'node-1': 'Fetched', 'node-2': 'Fetched' });
    expect(await program.registry.metrics()).to.contain('moco_rollout_preflights_total{result="Fetched"} 3');
  });

  it('creates no pod if the node reports every image, and only one for two members of one node', async () => {
    const bench = new PreflightBench();
    bench.reportsAll(0);
    bench.changePod(1, { spec: { nodeName: 'node-2' } });
    const program = await begun(bench);
    expect(bench.running).to.have.length(1);
    bench.kubelets(exits(0, ''), 2);
    await passes(bench, program, 4);
    expect(bench.results).to.deep.equal({ 'node-0': 'Present', 'node-2': 'Fetched' });
    expect(bench.steps).to.deep.equal(['evict 2']);
  });

  /** The state of the new mysqld, beside the container that mounts the images. */
  const beside = (state: object): object => ({
    phase: 'Running',
    containerStatuses: [
      { name: 'mysqld', state: { terminated: { exitCode: 0 } } },
      { name: 'version', state },
    ],
  });
  const startsAs = (version: string): object => ({
    terminated: {
      exitCode: 1,
      message: `[System] [MY-013169] [Server] mysqld (mysqld ${version}) initializing of server in progress`,
    },
  });

  it('has the new mysqld say its version, which is known from then on, also when the images are fetched again', async () => {
    const bench = new PreflightBench();
    const program = await begun(bench);
    expect(bench.podOn('node-2')).to.have.nested.property('spec.containers[1].args[1]', '--initialize');
    bench.kubelets(beside({ running: {} }));
    await passes(bench, program, 4);
    expect([bench.steps, bench.status.hold?.rule]).to.deep.equal([[], 'PreflightRunning']);
    bench.kubelets(beside(startsAs('8.0.34')));
    await passes(bench, program, 4);
    expect(bench.status.preflight?.nodes.map(({ result, version }) => [result, version])).to.deep.equal(
      [0, 1, 2].map(() => ['Fetched', '8.0.34']),
    );
    const observedBy = await begun(bench);
    await passes(bench, observedBy, 2);
    expect(bench.status.preflight?.nodes[0]?.version, 'for another process').to.equal('8.0.34');
  });

  it('waits no longer than half a minute for a new mysqld that does not end', async () => {
    const bench = new PreflightBench();
    const program = await begun(bench);
    bench.kubelets(beside({ running: {} }));
    await passes(bench, program, 2);
    bench.world.freeze(30_000);
    await passes(bench, program, 6);
    expect(bench.results).to.deep.equal({ 'node-0': 'Fetched', 'node-1': 'Fetched', 'node-2': 'Fetched' });
    expect(bench.steps).to.deep.equal(['evict 2']);
  });

  it('asks for no version that the tag of the image says', async () => {
    const bench = new PreflightBench((template) => withImages(template, { mysqld: 'example/mysql:8.4.9' }));
    bench.reports(2);
    await begun(bench);
    expect(bench.podOn('node-2')).not.to.have.nested.property('spec.containers[1]');
  });

  it('does nothing while the setting is off, or the revision is everywhere', async () => {
    const bench = new PreflightBench();
    await bench.start().work();
    expect([bench.preflights.length, bench.lists]).to.deep.equal([0, 0]);
    expect(bench.steps).to.deep.equal(['evict 2']);
    const idle = new PreflightBench();
    for (const ordinal of [0, 1, 2]) idle.replace(ordinal, { role: ordinal === 0 ? 'primary' : 'replica' });
    await idle.start(preflight).work();
    expect([idle.preflights.length, idle.lists]).to.deep.equal([0, 0]);
  });

  it("holds with the kubelet's message if it cannot pull an image, retries, and continues once it can", async () => {
    const bench = new PreflightBench();
    const program = await begun(bench);
    bench.kubelets(exits(0, ''), 0, 1);
    await failed(bench, program, `${newImage}: not found`);
    expect(bench.steps).to.deep.equal([]);
    expect(bench.status.hold).to.deep.include({
      rule: 'ImageUnavailable',
      message: `node node-2 cannot get an image of the update revision: ${newImage}: not found`,
    });
    expect(bench.running).to.deep.equal([]);
    bench.clear();
    await passes(bench, program, 15);
    expect(bench.running).to.deep.equal([]);
    await passes(bench, program, 15);
    expect(bench.running).to.have.length(1);
    expect(bench.status.hold?.rule).to.equal('ImageUnavailable');
    bench.kubelets(exits(0, ''), 2);
    await passes(bench, program, 6);
    expect(bench.steps).to.deep.equal(['evict 2']);
  });

  it('starts again with another revision, and leaves no pod of the previous one', async () => {
    const bench = new PreflightBench();
    const program = await begun(bench);
    const [before] = bench.running;
    const { data } = bench.server.get(controllerRevisions, revisionAfter) as unknown as { data: object };
    bench.server.create(controllerRevisions, { metadata: { name: 'moco-test-newer' }, data });
    bench.changeStatefulSet({ status: { updateRevision: 'moco-test-newer' } });
    await passes(bench, program, 3);
    expect(bench.running).to.have.length(3);
    expect(bench.running.map(({ metadata }) => metadata.name)).not.to.include(before?.metadata.name);
    expect(bench.status.preflight?.revision).to.equal('moco-test-newer');
  });

  it('asks no node that accepts no pods, and continues', async () => {
    const bench = new PreflightBench();
    bench.server.change(nodes, 'node-1', { spec: { unschedulable: true } }, '');
    const program = await begun(bench);
    expect(bench.running).to.have.length(2);
    bench.kubelets(exits(0, ''), 0, 2);
    await passes(bench, program, 4);
    expect(bench.results).to.deep.include({ 'node-1': 'Skipped' });
    expect(bench.steps).to.have.length(1);
  });

  it('asks no node while one of them is short of disk space, and continues', async () => {
    const bench = new PreflightBench();
    const conditions = [{ type: 'DiskPressure', status: 'True' }];
    bench.server.change(nodes, 'node-1', { status: { conditions } }, '');
    await bench.start(preflight).work();
    expect(bench.preflights).to.deep.equal([]);
    expect(bench.steps).to.deep.equal(['evict 2']);
    expect(bench.status.preflight?.nodes.map(({ message }) => message)).to.deep.equal(
      [0, 1, 2].map(() => 'node node-1 is short of disk space'),
    );
  });

  it('continues if the API server refuses its pods, and says why', async () => {
    const bench = new PreflightBench();
    bench.server.always('POST', /\/pods$/, (request, carryOut) =>
      request.path.includes('dryRun') ? carryOut() : answer(403, status(403, 'Forbidden', { message: 'not here' })),
    );
    await bench.start(preflight).work();
    expect(bench.steps).to.deep.equal(['evict 2']);
    expect(bench.status.preflight?.nodes[0]).to.deep.include({ result: 'Unknown', message: '403 Forbidden: not here' });
  });

  it('asks again only once its last pod is gone', async () => {
    const bench = new PreflightBench();
    const program = await begun(bench);
    bench.kubelets(exits(0, ''), 0, 1);
    await failed(bench, program, 'not found');
    await passes(bench, program, 30);
    expect([bench.running.length, bench.status.hold?.rule]).to.deep.equal([0, 'ImageUnavailable']);
    bench.clear();
    await passes(bench, program, 8);
    expect(bench.running).to.have.length(1);
  });

  it('is continued by the next process, which asks no node again', async () => {
    const bench = new PreflightBench();
    await passes(bench, await begun(bench), 3);
    bench.kubelets(exits(0, ''), 0);
    const names = bench.running.map(({ metadata }) => metadata.name);
    const next = await begun(bench);
    expect(bench.running.map(({ metadata }) => metadata.name)).to.deep.equal(names.slice(1));
    bench.kubelets(exits(0, ''), 1, 2);
    await passes(bench, next, 4);
    expect(bench.steps).to.deep.equal(['evict 2']);
    expect(bench.preflights).to.have.length(3);
  });

  it('deletes its pods when the setting is removed, and still checks them while another rule holds', async () => {
    const bench = new PreflightBench();
    await passes(bench, await begun(bench), 3);
    const off = bench.start();
    await passes(bench, off, 2);
    expect(bench.running).to.deep.equal([]);
    const other = new PreflightBench();
    const program = await begun(other);
    other.setting({ paused: true });
    other.kubelets(exits(0, ''));
    await passes(other, program, 3);
    expect(other.running).to.deep.equal([]);
    expect(other.status.hold?.rule).to.equal('Paused');
  });

  it('fetches the images of a container before it restarts in place, if only that is allowed', async () => {
    const agents = (template: Patch): Patch => withImages(template, agentImage('2'));
    const bench = new PreflightBench(agents);
    for (const ordinal of [0, 1, 2]) bench.reports(ordinal);
    bench.setting({ inPlace: { mode: 'Only' } });
    const program = await begun(bench);
    expect(bench.running).to.have.length(3);
    expect(bench.steps).to.deep.equal([]);
    bench.kubelets(exits(0, ''));
    await passes(bench, program, 4);
    expect(bench.steps).to.deep.equal(['in place 2']);
  });

  it('lets no container restart in place whose image was not fetched, even after its limit or while it is overridden', async () => {
    const without = (): PreflightBench => {
      const bench = new PreflightBench((template) => withImages(template, agentImage('2')));
      for (const ordinal of [0, 1, 2]) bench.reports(ordinal);
      return bench;
    };
    const busy = without();
    busy.setting({ inPlace: { mode: 'Only' } });
    busy.busyWith('POST', /\/pods$/);
    await passes(busy, busy.start({ ...preflight, preflightTimeoutSeconds: 60 }), 70);
    expect([busy.steps, busy.status.hold?.rule]).to.deep.equal([[], 'RestartNeeded']);
    const overridden = without();
    const until = new Date(overridden.world.wall() + 600_000).toISOString();
    overridden.setting({ inPlace: { mode: 'Only' }, overrides: [{ rule: 'PreflightRunning', until, reason: 'x' }] });
    await passes(overridden, overridden.start(preflight), 10);
    expect([overridden.steps, overridden.status.hold?.rule]).to.deep.equal([[], 'RestartNeeded']);
  });

  it('occupies the slot of its cluster from the moment that nodes are asked', async () => {
    const bench = new PreflightBench();
    const program = bench.start(preflight, { ...noFleetLimits, maxConcurrentRollouts: 1 });
    await program.turn();
    expect(bench.running).to.have.length(3);
    expect(bench.status.hold).to.equal(undefined);
    expect(program.fleet.factsFor('default/other', 'OnDelete', 'r').fleetQueue?.place).to.equal(1);
  });

  it('repeats after a minute a question that it could not ask', async () => {
    const bench = new PreflightBench();
    bench.mayCreate = false;
    const program = bench.start(preflight);
    await program.work();
    expect(bench.steps).to.deep.equal(['evict 2']);
    expect(bench.status.preflight?.nodes[0]).to.deep.include({
      result: 'Unknown',
      message: 'moco-rollout may not create mysqlrollouts/preflight in namespace default: apply config/preflight there',
    });
    expect(bench.preflights).to.deep.equal([]);
    bench.mayCreate = true;
    bench.world.freeze(60_000);
    bench.replace(2);
    await passes(bench, program, 40);
    expect(bench.running).to.have.length(2);
    expect(bench.steps).to.deep.equal(['evict 2']);
  });

  it('checks again after an hour which images a node has', async () => {
    const bench = new PreflightBench();
    bench.reportsAll(0);
    const program = await begun(bench);
    bench.kubelets(exits(0, ''), 1, 2);
    await passes(bench, program, 4);
    expect(bench.steps).to.deep.equal(['evict 2']);
    bench.clear();
    bench.replace(2);
    bench.world.freeze(3_600_000);
    await passes(bench, program, 40);
    expect(bench.results).to.deep.include({ 'node-0': 'Present', 'node-1': undefined });
    expect([bench.running.length, bench.steps]).to.deep.equal([1, ['evict 2']]);
  });

  it('waits no longer than its limit if the API server is busy, and blocks no repair meanwhile', async () => {
    for (const [method, path] of [
      ['POST', /\/pods$/],
      ['GET', /\/pods$/],
      ['POST', /selfsubjectaccessreviews$/],
    ] as const) {
      const bench = new PreflightBench();
      bench.busyWith(method, path);
      const program = bench.start({ ...preflight, preflightTimeoutSeconds: 60 });
      await passes(bench, program, 50);
      expect(bench.status.hold?.rule).to.equal('PreflightRunning');
      await passes(bench, program, 20);
      expect(bench.steps, String(path)).to.deep.equal(['evict 2']);
    }
  });

  it('counts its pods as unknown if there are too many with its label, and waits no longer than its limit', async () => {
    const pod = { metadata: { name: 'other', labels: { [preflightLabel]: 'test' } } };
    const many = Array.from({ length: 10 }, () => ({ ...pod, spec: { args: ['x'.repeat(2_000_000)] } }));
    const lists: readonly object[] = [
      { metadata: { continue: 'next' }, items: [pod] },
      { metadata: {}, items: many },
      { metadata: {}, items: [{ ...pod, spec: { args: Array.from({ length: 600_000 }, () => '') } }] },
    ];
    for (const list of lists) {
      const bench = new PreflightBench();
      bench.listed = list;
      const program = bench.start({ ...preflight, preflightTimeoutSeconds: 60 });
      await passes(bench, program, 10);
      expect(bench.status.hold?.rule).to.equal('PreflightRunning');
      await passes(bench, program, 60);
      expect(bench.steps).to.deep.equal(['evict 2']);
    }
  });

  it('lists no pods where it may not create any', async () => {
    const bench = new PreflightBench();
    bench.mayCreate = false;
    const program = bench.start(preflight);
    await passes(bench, program, 4);
    expect(bench.results).to.include({ 'node-2': 'Unknown' });
    expect(bench.lists).to.equal(0);
  });

  it('ends no pass whose step it does not concern, if its pods cannot be listed or deleted', async () => {
    const bench = new PreflightBench();
    const program = await begun(bench);
    bench.kubelets(exits(0, ''), 0, 1);
    bench.busyWith('DELETE', /preflight/);
    bench.mysqld(2, 'CrashLoopBackOff');
    await passes(bench, program, 4);
    expect(bench.steps).to.deep.equal(['delete 2']);
  });
});

describe('a pod that has the label of a preflight', () => {
  const labels = { [preflightLabel]: 'test' };
  const deleted = (bench: PreflightBench): readonly string[] => {
    const names: string[] = [];
    bench.server.always('DELETE', /\/pods\//, (request, carryOut) => {
      names.push(request.path);
      return carryOut();
    });
    return names;
  };

  it('is not deleted where it is a member, a pod of another owner, or one of an earlier MySQLRollout', async () => {
    const bench = new PreflightBench();
    const names = deleted(bench);
    for (const ordinal of [0, 1, 2]) bench.changePod(ordinal, { metadata: { labels } });
    const ownerReferences = [{ kind: 'MySQLRollout', uid: 'another', controller: true }];
    const name = 'moco-rollout-preflight-0123456789abcdef';
    bench.server.create(pods, { metadata: { name, labels, ownerReferences } });
    await passes(bench, await begun(bench), 3);
    expect(names).to.deep.equal([]);
    expect(bench.steps).to.deep.equal([]);
  });

  it('is deleted by its uid alone', async () => {
    const bench = new PreflightBench();
    const program = await begun(bench);
    const bodies: unknown[] = [];
    bench.server.always('DELETE', /preflight/, ({ body }, carryOut) => {
      bodies.push(JSON.parse(body ?? ''));
      return carryOut();
    });
    const uids = bench.running.map(({ metadata }) => metadata.uid);
    bench.kubelets(exits(0, ''));
    await passes(bench, program, 1);
    expect(bodies).to.deep.equal(
      uids.map((uid) => ({ apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid } })),
    );
  });

  it('is no answer if another client has created it under our name', async () => {
    const bench = new PreflightBench();
    const program = await begun(bench);
    for (const { metadata } of bench.running) {
      bench.server.remove(pods, metadata.name);
      bench.server.create(pods, { metadata: { name: metadata.name, labels }, status: exits(0, '') });
    }
    await passes(bench, program, 2);
    expect(bench.results).to.deep.equal({ 'node-0': 'Unknown', 'node-1': 'Unknown', 'node-2': 'Unknown' });
    expect(bench.running).to.have.length(3);
  });
});

describe('a preflight of the configuration', () => {
  it('runs on one node, whatever images it has, and the error of mysqld holds the rollout', async () => {
    const bench = new PreflightBench();
    for (const ordinal of [0, 1, 2]) bench.reportsAll(ordinal);
    const program = await begun(bench, checking);
    expect(bench.running).to.have.length(1);
    expect(JSON.stringify(bench.podOn('node-0')['spec']))
      .to.contain('--validate-config')
      .and.to.contain(newImage);
    bench.kubelets(exits(1, "2026-11-26T00:24:15.4Z 0 [ERROR] [MY-000067] [Server] unknown variable 'a=1'"), 0);
    await passes(bench, program, 4);
    expect(bench.steps).to.deep.equal([]);
    expect(bench.status.hold).to.deep.include({
      rule: 'ConfigurationRefused',
      message: "the mysqld of the update revision rejects its configuration on node node-0: unknown variable 'a=…'",
    });
  });

  it('runs on the next node if the first one accepts no pods, and holds whatever happens to that node', async () => {
    const bench = new PreflightBench();
    for (const ordinal of [0, 1, 2]) bench.reportsAll(ordinal);
    bench.server.change(nodes, 'node-0', { spec: { unschedulable: true } }, '');
    const program = await begun(bench, checking);
    await passes(bench, program, 2);
    expect(bench.running).to.have.length(1);
    bench.kubelets(exits(1, ''), 1);
    await passes(bench, program, 4);
    bench.changePod(1, { spec: { nodeName: 'node-3' } });
    await passes(bench, program, 4);
    expect(bench.status.hold?.rule).to.equal('ConfigurationRefused');
    expect(bench.steps).to.deep.equal([]);
  });

  it('runs when it is requested in the middle of a rollout', async () => {
    const bench = new PreflightBench();
    for (const ordinal of [0, 1, 2]) bench.reportsAll(ordinal);
    const program = bench.start(preflight);
    await passes(bench, program, 1);
    bench.setting(checking);
    await passes(bench, program, 2);
    expect(bench.running.length + bench.steps.length).to.equal(1);
  });
});
