import { expect } from 'chai';
import { noPodFaults, type PodFaults } from './faults.ts';
import { kubeletStep } from './kubelet.ts';
import type { ContainerStatus, Pod } from './objects.ts';
import type { PodMemory } from './pod-memory.ts';
import type { ContainerReport } from './runtime.ts';
import { defaultSettings } from './settings.ts';

const running: ContainerReport = { exitCode: null, started: true, ready: true };

/** A pod whose container mysqld has a process; its agent has none. Time jumps from one thing to happen to the next. */
class Node {
  pod: Pod = {
    metadata: { namespace: 'ns', name: 'moco-test-1', uid: 'uid-1', resourceVersion: '1', generation: 1 },
    spec: {
      nodeName: 'node-1',
      containers: [
        { name: 'mysqld', image: 'mysql:1' },
        { name: 'agent', image: 'agent:1' },
      ],
    },
  };
  faults: PodFaults = noPodFaults;
  prepared = true;
  now = 0;
  readonly #reports = new Map<string, ContainerReport>();
  #memory: PodMemory | null = null;

  pass(milliseconds: number): this {
    const end = this.now + milliseconds;
    for (let wait = this.#look(); wait !== null && this.now + wait <= end; wait = this.#look()) this.now += wait;
    this.now = end;
    return this;
  }

  /** Of the current process of mysqld. */
  report(report: Partial<ContainerReport>): this {
    this.#reports.set(this.mysqld.containerID ?? '', { ...running, ...report });
    return this.pass(0);
  }

  exit(exitCode: number): this {
    return this.report({ exitCode, started: false, ready: false });
  }

  update(image: string): this {
    const { metadata, spec } = this.pod;
    const containers = spec.containers.map((one) => (one.name === 'mysqld' ? { ...one, image } : one));
    this.pod = { ...this.pod, metadata: { ...metadata, generation: 2 }, spec: { ...spec, containers } };
    return this.pass(0);
  }

  delete(): this {
    const deletion = { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 300 };
    this.pod = { ...this.pod, metadata: { ...this.pod.metadata, ...deletion } };
    return this.pass(0);
  }

  get mysqld(): ContainerStatus {
    const found = this.pod.status?.containerStatuses?.find(({ name }) => name === 'mysqld');
    if (found === undefined) throw new Error('Expected a status of container mysqld, got none');
    return found;
  }

  /** What the runtime has been asked to do with the process of mysqld. */
  get asked(): string | undefined {
    const state = this.#memory?.containers.find(({ name }) => name === 'mysqld')?.state;
    return state?.kind === 'running' ? state.ending : undefined;
  }

  #look(): number | null {
    const { memory, writes, requeueAfterMilliseconds } = kubeletStep({
      pod: this.pod,
      memory: this.#memory,
      faults: this.faults,
      settings: { ...defaultSettings, startMilliseconds: 0, restartMilliseconds: 0 },
      now: { monotonicMilliseconds: this.now, wallMilliseconds: this.now },
      mysqldServes: true,
      address: '127.0.1.1',
      runtime: {
        prepared: this.prepared,
        processesOf: (name) => (name === 'mysqld' ? (id) => this.#reports.get(id) ?? running : null),
      },
      nodes: ['node-1'],
    });
    this.#memory = memory;
    for (const write of writes) {
      if (write.verb === 'patchStatus') this.pod = { ...this.pod, status: write.status };
    }
    return requeueAfterMilliseconds;
  }
}

/** How long mysqld waits after its process has ended once more. */
function backOff(node: Node): number {
  const before = node.exit(137).mysqld.restartCount;
  const from = node.now;
  while (node.mysqld.restartCount === before) node.pass(1000);
  return (node.now - from) / 1000;
}

describe('a kubelet with a container runtime', () => {
  it('starts nothing before the volumes are there', () => {
    const node = new Node();
    node.prepared = false;
    expect(node.pass(60_000).mysqld.state.running).to.equal(undefined);
    node.prepared = true;
    expect(node.pass(0).mysqld.state.running).to.not.equal(undefined);
  });

  it('reports what the probes of the process say', () => {
    const node = new Node().pass(0).report({ started: false, ready: false });
    expect(node.pass(60_000).mysqld).to.include({ started: false, ready: false });
    expect(node.report({ ready: false }).mysqld).to.include({ started: true, ready: false });
    expect(node.report({}).mysqld).to.include({ started: true, ready: true });
  });

  it('restarts a process at once, then after 10, 20, 40 … 300 s', () => {
    const node = new Node().pass(0);
    const first = node.mysqld.containerID;
    expect(node.exit(137).mysqld).to.deep.include({ restartCount: 1 });
    expect(node.mysqld.containerID).to.not.equal(first);
    expect(node.mysqld.lastState.terminated).to.include({ exitCode: 137, reason: 'Error', containerID: first });
    expect([0, 1, 2, 3, 4, 5, 6].map(() => backOff(node))).to.deep.equal([10, 20, 40, 80, 160, 300, 300]);
  });

  it('restarts a process at once that has run for ten minutes', () => {
    const node = new Node().pass(0).exit(137).exit(137).pass(10_000);
    expect(node.mysqld.restartCount).to.equal(2);
    expect(node.pass(600_000).exit(137).mysqld.restartCount).to.equal(3);
  });

  it('restarts a main container that ends without an error, too', () => {
    expect(new Node().pass(0).exit(0).mysqld.restartCount).to.equal(1);
  });

  it('has a dead container killed, and starts it again only once it is healed', () => {
    const node = new Node().pass(0);
    node.faults = { ...noPodFaults, containers: { mysqld: 'dead' } };
    expect(node.pass(0).asked).to.equal('kill');
    expect(node.exit(137).pass(600_000).mysqld.state.waiting?.reason).to.equal('CrashLoopBackOff');
    node.faults = noPodFaults;
    expect(node.pass(0).mysqld.restartCount).to.equal(1);
  });

  it('updates an image in place: stops the process first, then starts the new one', () => {
    const node = new Node().pass(0);
    const before = node.mysqld.containerID;
    expect(node.update('mysql:2').asked).to.equal('stop');
    expect(node.pass(60_000).mysqld).to.include({ image: 'mysql:1', containerID: before });
    expect(node.exit(0).mysqld).to.include({ image: 'mysql:2', restartCount: 1 });
    expect(node.mysqld.containerID).to.not.equal(before);
    expect(node.pod.status).to.include({ observedGeneration: 2 });
  });

  it('pulls an image that is updated in place only after the old process has ended', () => {
    const node = new Node().pass(0).update('mysql:2-missing');
    expect(node.pass(60_000).mysqld.state.running).to.not.equal(undefined);
    expect(node.exit(0).mysqld.state.waiting?.reason).to.equal('ErrImagePull');
    expect(node.update('mysql:3').mysqld).to.include({ image: 'mysql:3', restartCount: 1 });
  });

  it('waits for the end of every process before the pod may go', () => {
    const node = new Node().pass(0).delete();
    expect(node.asked).to.equal('stop');
    expect(node.pass(600_000).mysqld.state.running).to.not.equal(undefined);
    expect(node.exit(0).pod.status?.phase).to.equal('Succeeded');
    expect(node.mysqld.state.terminated).to.include({ exitCode: 0 });
  });
});
