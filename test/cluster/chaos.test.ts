import { expect } from 'chai';
import { playChaos } from '../../hack/chaos/chaos.ts';
import type { ClusterPlan } from '../../hack/chaos/plan.ts';
import { startControlPlane } from '../../hack/control-plane/control-plane.ts';

const deadlineMilliseconds = 8 * 60_000;
const kill = { kind: 'kill' } as const;

/** `make chaos` plays many more, and draws what happens to them. */
const plans: readonly ClusterPlan[] = [
  {
    name: 'chaos-of-three',
    replicas: 3,
    rollouts: [
      {
        task: { kind: 'image', image: 'mysql:8.4.9' },
        points: [
          { request: 'intent', nth: 1, side: 'after', mishap: kill },
          { request: 'evict', nth: 2, side: 'after', mishap: { kind: 'reset' } },
        ],
      },
    ],
  },
  {
    name: 'chaos-of-five',
    replicas: 5,
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
];

describe('rollouts whose controller is killed between two requests', () => {
  it('all end, and nobody is taken who may not be', async function killed() {
    this.timeout(deadlineMilliseconds);
    const controlPlane = await startControlPlane();
    const lines: string[] = [];
    try {
      const tally = await playChaos(controlPlane, {
        seed: 'test',
        acts: [{ elect: true, plans }],
        disturbs: false,
        sideBySide: plans.length,
        milliseconds: deadlineMilliseconds,
        onLine: (line) => lines.push(line),
      });
      const { rollouts, kills, points, lost, violations, disruptions, needless, defects } = tally;
      expect(
        { rollouts, kills, points, lost, violations, disruptions, needless, defects },
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
      });
    } finally {
      await controlPlane.stop();
    }
  });
});
