import { expect } from 'chai';
import { sampleCluster } from '../../hack/moco/sample.ts';
import { rolloutKind } from '../../src/controller/rollout-resource.ts';
import { path } from '../../src/kube/resource.ts';
import {
  annotationOn,
  clusteringStoppedAnnotation,
  clusterKind,
  reconciliationStoppedAnnotation,
} from '../../src/moco/names.ts';
import { draw } from '../simulation/draw.ts';
import { happen } from '../simulation/happen.ts';
import { namespace, Simulation } from '../simulation/simulation.ts';

const image = 'mysql:8.4.1';
const deadlineMilliseconds = 600_000;
const aftermathMilliseconds = 60_000;
/** Well within the grace period of a pod. */
const mostStopMilliseconds = 8000;

/** What the controller has written in a rollout of three in which nothing goes wrong: `method path`, each with its number. */
interface Written {
  readonly objects: Readonly<Record<string, number>>;
  readonly events: number;
}

async function rollOut(seed: string, others: number, restartMilliseconds: number): Promise<Written> {
  const { circumstances } = draw('calm');
  const stopMilliseconds = Math.min(restartMilliseconds * 0.4, mostStopMilliseconds);
  const nodes = { stopMilliseconds, startMilliseconds: restartMilliseconds - stopMilliseconds };
  const simulation = new Simulation({
    ...circumstances,
    seed,
    replicas: 3,
    mode: 'OnDelete',
    movesCurrentRevision: false,
    onDeleteKeeper: 'policy',
    processes: 1,
    electsLeader: false,
    nodes: restartMilliseconds === 0 ? {} : nodes,
    moco: {},
    lagMilliseconds: 30,
    maxUnavailable: null,
  });
  await simulation.start();
  for (let other = 0; other < others; other += 1) roll(simulation, `other-${other}`);
  await simulation.clock.runUntil(() => false, aftermathMilliseconds);
  const objects: Record<string, number> = {};
  let events = 0;
  const { server } = simulation;
  const handle = server.handle.bind(server);
  server.handle = (request) => {
    const answer = handle(request);
    const isWrite =
      request.actor.startsWith('controller') && request.method !== 'GET' && !request.path.includes('/other-');
    const what = `${request.method} ${request.path.replace(/^.*\/namespaces\/[^/]+\//, '')}`;
    if (isWrite && request.path.includes('/events')) events += 1;
    // One that was refused has written nothing.
    else if (isWrite && answer.code < 300) objects[what] = (objects[what] ?? 0) + 1;
    return answer;
  };
  happen(simulation, { kind: 'rollOut', image });
  const complete = await simulation.clock.runUntil(() => simulation.isComplete(image), deadlineMilliseconds);
  expect(complete, 'the rollout is over').to.equal(true);
  await simulation.clock.runUntil(() => false, aftermathMilliseconds);
  for (const process of simulation.processes) process.end();
  return { objects, events };
}

/** Another cluster rolls at the same time, as far as its MySQLRollout tells: MOCO leaves it alone. */
function roll(simulation: Simulation, name: string): void {
  const annotations = { [reconciliationStoppedAnnotation]: annotationOn, [clusteringStoppedAnnotation]: annotationOn };
  const cluster = { ...sampleCluster({ name, namespace }), metadata: { name, namespace, annotations } };
  simulation.request({ method: 'POST', path: path(clusterKind, { namespace }), body: cluster });
  const { group, version, kind } = rolloutKind;
  const at = '2026-07-01T12:00:00Z';
  const progress = { proven: false, takenDown: [], disruptions: 0, switchovers: 0 };
  const status = { rollout: { revision: 'another', startedAt: at, begunAt: at, lastProgressAt: at, ...progress } };
  const body = { apiVersion: `${group}/${version}`, kind, metadata: { name, namespace } };
  const made = simulation.request({ method: 'POST', path: path(rolloutKind, { namespace }), body });
  const target = `${path(rolloutKind, { namespace, name })}/status`;
  simulation.request({ method: 'PUT', path: target, body: { ...made.body, status } });
}

const seeds = ['1', '2', '3', '4', '5'];
const sum = (objects: Written['objects']): number => Object.values(objects).reduce((total, count) => total + count, 0);

/** Four writes a member. */
const fewest = {
  'PUT mysqlclusters/test/status': 2,
  // Each step's intent, which tells what became of the step before, and the end.
  'PUT mysqlrollouts/test/status': 5,
  'POST pods/moco-test-2/eviction': 1,
  'POST pods/moco-test-1/eviction': 1,
  'PATCH pods/moco-test-0': 1,
  'POST pods/moco-test-0/eviction': 1,
  'PATCH statefulsets/moco-test/status': 1,
};

describe('a rollout of three members in which nothing goes wrong', () => {
  it('takes twelve writes and at most two Events a member', async () => {
    for (const seed of seeds) {
      const { objects, events } = await rollOut(seed, 0, 0);
      expect(objects, `seed ${seed}`).to.deep.equal(fewest);
      expect(events).to.be.at.most(6);
    }
  });

  it('takes no more in the middle of a fleet where members take long', async () => {
    for (const seed of seeds) {
      const { objects, events } = await rollOut(seed, 29, 20_000);
      expect(objects, `seed ${seed}`).to.deep.equal(fewest);
      expect(events).to.be.at.most(6);
    }
  });

  it('takes no more among a hundred whose members take longer', async () => {
    const { objects } = await rollOut('1', 99, 45_000);
    expect(objects).to.deep.equal(fewest);
  });

  it('tells of each member that is away where it takes long and the cluster rolls alone', async () => {
    const { objects } = await rollOut('1', 0, 20_000);
    expect(sum(objects)).to.be.within(sum(fewest) + 3, sum(fewest) + 6);
  });
});
