import { expect } from 'chai';
import type { PodGet } from '../../../src/kube/plain-http.ts';
import { AgentDelayReader } from '../../../src/moco/agent.ts';
import { projectPod } from '../../../src/moco/pod-projection.ts';
import type { PodRecord } from '../../../src/moco/records.ts';
import { atWork, Bench, member, passes } from '../bench.ts';
import { pod } from '../moco-objects.ts';
import type { Patch } from '../object-server.ts';

const readings = 'moco_rollout_replication_delay_readings_total';
const never = new AbortController().signal;

/** Only the primary is left. */
function onlyThePrimaryIsLeft(): Bench {
  const bench = new Bench();
  bench.replace(2);
  bench.replace(1);
  return bench;
}

describe('the controller before a switchover', () => {
  it('asks every replica twice, to decide and to confirm, and no replica before that', async () => {
    const [bench, program] = await atWork();
    expect(bench.steps).to.deep.equal(['evict 2']);
    expect(bench.replicas.asked).to.deep.equal([]);
    bench.replace(2);
    await program.work();
    bench.replace(1);
    await program.work();
    expect(bench.steps.at(-1)).to.equal('demote 0');
    expect(bench.replicas.asked.toSorted()).to.deep.equal([1, 1, 2, 2].map(member));
    expect(await program.registry.getSingleMetricAsString(readings)).to.contain(`${readings}{result="Delay"} 4`);
  });

  it('notes how long each question took', async () => {
    const [, program] = await atWork();
    const name = 'moco_rollout_question_duration_seconds';
    const text = await program.registry.getSingleMetricAsString(name);
    // A question that is asked again right before the eviction counts twice.
    expect(text).to.contain(`${name}_count{question="members"} 2`);
    expect(text).to.not.contain('question="delays"');
  });

  it('waits while MOCO would choose a replica that is behind, asks every five seconds, and continues', async () => {
    const bench = onlyThePrimaryIsLeft();
    bench.replicas.says(member(1), { kind: 'delay', seconds: 41 });
    const program = bench.start();
    await passes(bench, program, 20);
    expect(bench.steps).to.deep.equal([]);
    expect(bench.status.hold).to.include({
      rule: 'ReplicasBehind',
      message:
        'the switchover away from moco-test-0 is waiting until replicas are less than 1 s behind: moco-test-1 is 41 s behind',
    });
    expect(bench.replicas.asked.filter((name) => name === member(1))).to.have.length(4);
    bench.replicas.says(member(1), { kind: 'delay', seconds: 0.2 });
    await program.work();
    expect(bench.steps).to.deep.equal(['demote 0']);
  });

  it('does not ask for a switchover if a replica has fallen behind since the decision', async () => {
    const bench = onlyThePrimaryIsLeft();
    const program = bench.start();
    const read = bench.replicas.read.bind(bench.replicas);
    let asked = 0;
    bench.replicas.read = (pod) => {
      asked += 1;
      // The two replicas for the decision, then the confirmation.
      if (asked > 2) bench.replicas.says(member(1), { kind: 'delay', seconds: 9 });
      return read(pod);
    };
    await passes(bench, program, 3);
    expect(bench.steps).to.deep.equal([]);
    expect(asked).to.equal(4);
    expect(bench.server.writes.filter(({ path }) => path.includes('/pods/'))).to.deep.equal([]);
  });

  it('waits for a delay that cannot be read for the whole grace period, says why once, and continues', async () => {
    const bench = onlyThePrimaryIsLeft();
    bench.replicas.says(member(2), { kind: 'unknown', message: 'GET http://10.0.0.7:9081/readyz: ECONNREFUSED' });
    const program = bench.start();
    await passes(bench, program, 29);
    expect(bench.steps).to.deep.equal([]);
    expect(bench.status.hold?.message).to.contain(
      "the delay of moco-test-2 can't be read (GET http://10.0.0.7:9081/readyz: ECONNREFUSED; waiting for at most 30 s)",
    );
    await passes(bench, program, 4);
    expect(bench.steps).to.deep.equal(['demote 0']);
    const warned = program.log.lines.filter(({ message }) => message === 'Failed to read the replication delay');
    expect(warned.map(({ fields }) => fields)).to.deep.equal([
      { cluster: 'default/test', member: member(2), reason: 'GET http://10.0.0.7:9081/readyz: ECONNREFUSED' },
    ]);
  });

  it('counts the reading of a pod for no other pod of its name', async () => {
    const bench = onlyThePrimaryIsLeft();
    bench.replicas.says(member(1), { kind: 'delay', seconds: 2 });
    const program = bench.start({ replicaDelayGraceSeconds: 3600 });
    await passes(bench, program, 1);
    bench.replicas.says(member(1), { kind: 'delay', seconds: 0 });
    bench.replace(1);
    await passes(bench, program, 2);
    expect(bench.steps).to.deep.equal(['demote 0']);
  });
});

describe("a reading of a replica's agent", () => {
  const record = (patch: (raw: Patch) => void = () => {}): PodRecord => {
    const raw = structuredClone(pod(1)) as Patch;
    patch(raw);
    const projected = projectPod(raw);
    if (projected === null) throw new Error('expected a pod of MOCO');
    return projected;
  };
  const metrics = 'moco_instance_clone_count{index="1",name="test"} 0\n';
  const delay = 'moco_instance_replication_delay_seconds{index="1",name="test"} 3.5\n';

  it('is that of its metrics, right after its readiness', async () => {
    const asked: string[] = [];
    const get: PodGet = ({ ip, port }, path) => {
      asked.push(`${ip}:${port}${path}`);
      return Promise.resolve({ status: 200, body: path === '/metrics' ? metrics + delay : '' });
    };
    expect(await new AgentDelayReader(get).read(record(), never)).to.deep.equal({ kind: 'delay', seconds: 3.5 });
    expect(asked).to.deep.equal(['127.0.1.2:9081/readyz', '127.0.1.2:8080/metrics']);
  });

  it('is what its readiness says if that is no', async () => {
    const get: PodGet = () => Promise.resolve({ status: 503, body: 'the instance is under cloning\n' });
    expect(await new AgentDelayReader(get).read(record(), never)).to.deep.equal({
      kind: 'notReplicating',
      message: 'the instance is under cloning',
    });
  });

  it('is unknown if a request fails', async () => {
    const get: PodGet = () => Promise.reject(new Error('no route'));
    expect(await new AgentDelayReader(get).read(record(), never)).to.deep.equal({
      kind: 'unknown',
      message: 'no route',
    });
  });

  it('is unknown without an address, or without the ports that MOCO declares', async () => {
    const get: PodGet = () => Promise.reject(new Error('expected no request'));
    const read = (patch: (raw: Patch) => void): Promise<unknown> =>
      new AgentDelayReader(get).read(record(patch), never);
    const without = (name: string) => (raw: Patch) => {
      const { containers } = raw['spec'] as { containers: { ports?: { name: string }[] }[] };
      for (const one of containers) one.ports = (one.ports ?? []).filter((port) => port.name !== name);
    };
    expect(await read((raw) => delete (raw['status'] as { podIP?: string }).podIP)).to.deep.equal({
      kind: 'unknown',
      message: 'the pod has no IP address',
    });
    for (const name of ['health', 'agent-metrics']) {
      expect(await read(without(name))).to.deep.equal({ kind: 'unknown', message: `the pod has no port ${name}` });
    }
  });
});
