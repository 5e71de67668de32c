import { expect } from 'chai';
import { playChaos } from '../verification/chaos/chaos.ts';
import type { Act } from '../verification/chaos/plan.ts';

const deadlineMilliseconds = 8 * 60_000;
const kill = { kind: 'kill' } as const;

/** `make chaos` plays many more, and draws what happens to them. */
const acts: readonly Act[] = [
  {
    driver: 'own',
    elects: true,
    flipsGate: false,
    plans: [
      {
        name: 'chaos-of-three',
        replicas: 3,
        strategy: 'OnDelete',
        rollouts: [
          {
            task: { kind: 'flip', image: 'mysql:8.4.9', to: 'Partition' },
            points: [
              { request: 'intent', nth: 1, side: 'after', mishap: kill },
              { request: 'setPartition', nth: 1, side: 'after', mishap: { kind: 'reset' } },
            ],
          },
        ],
      },
      {
        name: 'chaos-of-five',
        replicas: 5,
        strategy: 'OnDelete',
        rollouts: [
          {
            task: { kind: 'imageWithDead', image: 'mysql:8.4.9', ordinal: 3 },
            points: [
              { request: 'delete', nth: 1, side: 'after', mishap: kill },
              {
                request: 'confirmed',
                nth: 3,
                side: 'after',
                mishap: { kind: 'answer', status: 500, retryAfterSeconds: null },
              },
            ],
          },
        ],
      },
    ],
  },
];

describe('rollouts whose controller is killed between two requests', () => {
  it('all end, and no member is disrupted against the rules', async function killed() {
    this.timeout(deadlineMilliseconds);
    const lines: string[] = [];
    const tally = await playChaos({
      seed: 'test',
      acts,
      disturbs: false,
      restartsMoco: false,
      sideBySide: 2,
      milliseconds: deadlineMilliseconds,
      onLine: (line) => lines.push(line),
    });
    const { rollouts, kills, points, lost, violations, disruptions, needless, defects, flips } = tally;
    expect(
      { rollouts, kills, points, lost, violations, disruptions, needless, defects, flips },
      lines.join('\n'),
    ).to.deep.equal({
      rollouts: 2,
      kills: 2,
      points: 4,
      lost: 0,
      violations: 0,
      disruptions: 8,
      needless: 0,
      defects: [],
      flips: 1,
    });
  });

  it('all end while moco-controller is killed and restarted, alone and together with every process', async function restarted() {
    this.timeout(deadlineMilliseconds);
    const lines: string[] = [];
    const plan = (name: string): Act['plans'][number] => ({
      name,
      replicas: 3,
      strategy: 'OnDelete',
      rollouts: ['mysql:8.4.9', 'mysql:8.4.10'].map((image) => ({ task: { kind: 'image', image }, points: [] })),
    });
    const tally = await playChaos({
      seed: 'restarts',
      acts: [{ driver: 'moco', elects: true, flipsGate: false, plans: [plan('chaos-a'), plan('chaos-b')] }],
      disturbs: false,
      restartsMoco: true,
      sideBySide: 2,
      milliseconds: deadlineMilliseconds,
      onLine: (line) => lines.push(line),
    });
    const { rollouts, lost, violations, disruptions, needless, defects } = tally;
    expect({ rollouts, lost, violations, disruptions, needless, defects }, lines.join('\n')).to.deep.equal({
      rollouts: 4,
      lost: 0,
      violations: 0,
      disruptions: 12,
      needless: 0,
      defects: [],
    });
    expect(tally.mocoRestarts).to.be.greaterThan(1);
    expect(tally.restartsTogether).to.be.greaterThan(0);
    expect(tally.kills).to.be.greaterThan(0);
  });
});
