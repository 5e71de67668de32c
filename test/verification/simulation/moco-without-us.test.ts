import { expect } from 'chai';
import { podDisruptionBudgets, statefulSets } from '../../../src/kube/resource.ts';
import { clusterKind, mysqldContainer } from '../../../src/moco/names.ts';
import type { OnDeleteKeeper } from '../../support/api-server/admission.ts';
import { record } from '../../support/api-server/stored-object.ts';
import { prefixedName } from '../../support/moco/names.ts';
import { beginBackup, setImage } from './acts-of-people.ts';
import { plainCircumstances } from './circumstances.ts';
import type { Scenario } from './draw.ts';
import type { Happening, Together } from './happening.ts';
import { run } from './run.ts';
import { clusterName, Simulation, soleNamespace } from './simulation.ts';

const forEver = 10 * 3600_000;
const patienceMilliseconds = 180_000;

/** A cluster at OnDelete, this program down for good, and moco-controller restarted after that. */
async function withoutUs(onDeleteKeeper: OnDeleteKeeper): Promise<Simulation> {
  const simulation = new Simulation({ ...plainCircumstances, onDeleteKeeper, backups: true });
  await simulation.start();
  for (const process of simulation.processes) process.crash('was uninstalled', forEver);
  simulation.moco.stop({ otherReplica: false });
  await simulation.clock.runUntil(() => false, 5_000);
  simulation.moco.start();
  await simulation.clock.runUntil(() => false, 5_000);
  return simulation;
}

function strategy({ server }: Simulation): unknown {
  const set = server.store.get(statefulSets, soleNamespace, prefixedName(clusterName));
  return record(record(set?.['spec'])['updateStrategy'])['type'];
}

const minutes = 60_000;

/** The program stops, moco-controller restarts, and then something happens; a rollout follows at the end. */
function alone(onDeleteKeeper: OnDeleteKeeper, what: Happening): Scenario {
  const all: Together['all'] = [
    { afterMilliseconds: 0, what: { kind: 'programStopped', forMilliseconds: 10 * minutes } },
    { afterMilliseconds: 1_000, what: { kind: 'stopMoco', otherReplica: true, forMilliseconds: 5_000 } },
    { afterMilliseconds: 2 * minutes, what },
  ];
  return {
    circumstances: { ...plainCircumstances, onDeleteKeeper },
    plan: [
      { atMilliseconds: 0, what: { kind: 'together', all } },
      { atMilliseconds: 9 * minutes, what: { kind: 'rollOut', image: 'mysql:8.4.9' } },
    ],
  };
}

const asks: Readonly<Record<string, Happening>> = {
  failover: { kind: 'kill', ordinal: 0, container: mysqldContainer, forMilliseconds: 7 * minutes },
  switchover: { kind: 'foreignDemote', ordinal: 0, forMilliseconds: 7 * minutes },
};

describe('I13, while the program is down,', () => {
  for (const [what, happening] of Object.entries(asks)) {
    it(`finds the ${what} that a webhook which fails closed costs`, async () => {
      const { violations } = await run(alone('failingWebhook', happening));
      const found = violations.filter(({ law }) => law === 'I13').map(({ text }) => text);
      expect(found).to.have.lengthOf(1);
      expect(found[0]).to.match(new RegExp(`^no ${what} of member 0 for \\d`));
    });

    for (const keeper of ['policy', 'webhook'] as const) {
      it(`objects to nothing about a ${what} beside the ${keeper}`, async () => {
        const { violations, stuck, situations } = await run(alone(keeper, happening));
        expect({ violations, stuck }).to.deep.equal({ violations: [], stuck: null });
        expect(situations).to.include.members(['mocoRestartsAlone', 'failsOverAlone']);
      });
    }
  }
});

describe('a failover whose candidate has received more than it has applied', () => {
  it('ends while the program is down, once that is applied', async () => {
    const { violations, situations, measures } = await run({
      circumstances: plainCircumstances,
      plan: [
        { atMilliseconds: 0, what: { kind: 'programStopped', forMilliseconds: 8 * minutes } },
        { atMilliseconds: 1_000, what: { kind: 'backlog', forMilliseconds: 4 * minutes } },
        { atMilliseconds: 2_000, what: { kind: 'loseNode', ordinal: 0, forMilliseconds: 9 * minutes } },
      ],
    });
    expect(violations).to.deep.equal([]);
    expect(situations).to.include('failoverWaitsForApplier');
    expect(measures.switchovers).to.equal(1);
  });
});

describe('moco-controller, restarted while this program is down,', () => {
  for (const keeper of ['policy', 'webhook'] as const) {
    describe(`beside ${keeper === 'policy' ? 'the admission policy' : 'the webhook that is done without'}`, () => {
      it('reconciles: a new template arrives, and the cluster counts as reconciled', async () => {
        const simulation = await withoutUs(keeper);
        setImage(simulation, 'mysql:8.4.9');
        const { server } = simulation;
        await simulation.clock.runUntil(() => false, 5_000);
        const set = server.store.get(statefulSets, soleNamespace, prefixedName(clusterName));
        expect(JSON.stringify(set?.['spec'])).to.contain('mysql:8.4.9');
        expect(strategy(simulation)).to.equal(keeper === 'policy' ? 'OnDelete' : 'RollingUpdate');
        const generation = server.store.get(clusterKind, soleNamespace, clusterName)?.metadata.generation;
        expect(record(record(simulation.cluster?.['status'])['reconcileInfo'])['generation']).to.equal(generation);
        expect(simulation.isTrue('ReconcileSuccess')).to.equal(true);
      });

      it('closes the budget while a backup runs', async () => {
        const simulation = await withoutUs(keeper);
        beginBackup(simulation, 'schedule');
        const closed = await simulation.clock.runUntil(() => {
          const budget = simulation.server.store.get(podDisruptionBudgets, soleNamespace, prefixedName(clusterName));
          return record(budget?.['spec'])['maxUnavailable'] === 0;
        }, patienceMilliseconds);
        expect(closed).to.equal(true);
      });
    });
  }
});
