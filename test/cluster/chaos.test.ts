import { expect } from 'chai';
import { playChaos } from '../../hack/chaos/chaos.ts';
import type { Act } from '../../hack/chaos/plan.ts';

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
  it('all end, and nobody is taken who may not be', async function killed() {
    this.timeout(deadlineMilliseconds);
    const lines: string[] = [];
    const tally = await playChaos({
      seed: 'test',
      acts,
      disturbs: false,
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
});
