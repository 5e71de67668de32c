import { expect } from 'chai';
import { rolloutKind } from '../../src/api/rollout.ts';
import { path } from '../../src/kube/resource.ts';
import {
  annotationOn,
  clusteringStoppedAnnotation,
  clusterKind,
  reconciliationStoppedAnnotation,
} from '../../src/moco/names.ts';
import { FakeLog } from '../kube/fake-log.ts';
import { sampleCluster } from '../support/moco/sample.ts';
import { plainCircumstances } from '../verification/simulation/circumstances.ts';
import { happen } from '../verification/simulation/happening.ts';
import { Simulation, soleNamespace } from '../verification/simulation/simulation.ts';
import { begunAt } from './whole-rollout.ts';

const image = 'mysql:8.4.1';
const deadlineMilliseconds = 600_000;
const aftermathMilliseconds = 60_000;
/** Well within the grace period of a pod. */
const mostStopMilliseconds = 8000;

/** What the controller has written in a rollout of three in which nothing goes wrong: `method path`, each with its number. */
interface Written {
  readonly objects: Readonly<Record<string, number>>;
  readonly events: number;
  /** At the level info and above. */
  readonly logged: FakeLog['lines'];
}

async function rollOut(seed: string, others: number, restartMilliseconds: number): Promise<Written> {
  const stopMilliseconds = Math.min(restartMilliseconds * 0.4, mostStopMilliseconds);
  const nodes = { stopMilliseconds, startMilliseconds: restartMilliseconds - stopMilliseconds };
  const log = new FakeLog();
  const simulation = new Simulation({
    log,
    ...plainCircumstances,
    seed,
    nodes: restartMilliseconds === 0 ? {} : nodes,
  });
  await simulation.start();
  for (let other = 0; other < others; other += 1) roll(simulation, `other-${other}`);
  await simulation.clock.runUntil(() => false, aftermathMilliseconds);
  const objects: Record<string, number> = {};
  let events = 0;
  const { server } = simulation;
  server.onRequest((request, { code }) => {
    const isWrite =
      request.actor.startsWith('controller') && request.method !== 'GET' && !request.path.includes('/other-');
    const what = `${request.method} ${request.path.replace(/^.*\/namespaces\/[^/]+\//, '')}`;
    if (isWrite && request.path.includes('/events')) events += 1;
    // One that was refused has written nothing.
    else if (isWrite && code < 300) objects[what] = (objects[what] ?? 0) + 1;
  });
  const before = log.lines.length;
  happen(simulation, { kind: 'rollOut', image });
  const complete = await simulation.clock.runUntil(() => simulation.isComplete(image), deadlineMilliseconds);
  expect(complete, 'the rollout is over').to.equal(true);
  await simulation.clock.runUntil(() => false, aftermathMilliseconds);
  for (const process of simulation.processes) process.end();
  return {
    objects,
    events,
    logged: log.lines
      .slice(before)
      .filter(
        ({ level, fields }) => level !== 'debug' && 'cluster' in fields && fields.cluster === `${soleNamespace}/test`,
      ),
  };
}

/** Another cluster rolls at the same time, as far as its MySQLRollout tells: MOCO leaves it alone. */
function roll(simulation: Simulation, name: string): void {
  const annotations = { [reconciliationStoppedAnnotation]: annotationOn, [clusteringStoppedAnnotation]: annotationOn };
  const cluster = {
    ...sampleCluster({ name, namespace: soleNamespace }),
    metadata: { name, namespace: soleNamespace, annotations },
  };
  simulation.request({ method: 'POST', path: path(clusterKind, { namespace: soleNamespace }), body: cluster });
  const { group, version, kind } = rolloutKind;
  const status = { rollout: begunAt('2026-07-01T12:00:00Z') };
  const body = { apiVersion: `${group}/${version}`, kind, metadata: { name, namespace: soleNamespace } };
  const made = simulation.request({ method: 'POST', path: path(rolloutKind, { namespace: soleNamespace }), body });
  const target = `${path(rolloutKind, { namespace: soleNamespace, name })}/status`;
  simulation.request({ method: 'PUT', path: target, body: { ...made.body, status } });
}

const seeds = ['1', '2', '3', '4', '5'];
const sum = (objects: Written['objects']): number => Object.values(objects).reduce((total, count) => total + count, 0);

/** What is done beside the status: the steps, and the condition of the MySQLCluster. */
const done = {
  'PUT mysqlclusters/test/status': 2,
  'POST pods/moco-test-2/eviction': 1,
  'POST pods/moco-test-1/eviction': 1,
  'PATCH pods/moco-test-0': 1,
  'POST pods/moco-test-0/eviction': 1,
  'PATCH statefulsets/moco-test/status': 1,
  'PATCH persistentvolumeclaims/mysql-data-moco-test-0': 1,
  'PATCH persistentvolumeclaims/mysql-data-moco-test-1': 1,
  'PATCH persistentvolumeclaims/mysql-data-moco-test-2': 1,
};
const statusWrites = 'PUT mysqlrollouts/test/status';
const mostWritesPerMember = 7;

describe('an undisturbed rollout of three members', () => {
  for (const [what, others, restartMilliseconds] of [
    ['members are back at once', 0, 0],
    ['members take 20 s', 0, 20_000],
    ['members take a minute', 0, 60_000],
    ['another 29 clusters roll at the same time', 29, 20_000],
  ] as const) {
    it(`costs at most seven writes for each member, status included, and four Events, and logs eight lines at most, if ${what}`, async () => {
      for (const seed of others === 0 ? seeds : seeds.slice(0, 2)) {
        const { objects, events, logged } = await rollOut(seed, others, restartMilliseconds);
        expect({ ...objects, [statusWrites]: 0 }, `seed ${seed}`).to.deep.equal({ ...done, [statusWrites]: 0 });
        expect(sum(objects) / 3, `seed ${seed}: ${objects[statusWrites]} of the status`).to.be.at.most(
          mostWritesPerMember,
        );
        // Two on the MySQLCluster, and the same on the MySQLRollout.
        expect(events / 3).to.be.at.most(4);
        expect(logged.length, JSON.stringify(logged)).to.be.within(6, 8);
        expect(logged.map(({ level }) => level)).to.not.include('warn');
      }
    });
  }
});
