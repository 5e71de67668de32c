import { expect } from 'chai';
import type { Act } from '../verification/chaos/acts.ts';
import { playChaos } from '../verification/chaos/chaos.ts';

const deadlineMilliseconds = 8 * 60_000;

async function endWell(act: Act, disruptions: number): Promise<void> {
  const lines: string[] = [];
  const onLine = (line: string): number => lines.push(line);
  const tally = await playChaos({
    seed: 'test',
    acts: [act],
    sideBySide: 2,
    milliseconds: deadlineMilliseconds,
    onLine,
  });
  const { lost, violations, needless, defects } = tally;
  expect({ lost, violations, disruptions: tally.disruptions, needless, defects }, lines.join('\n')).to.deep.equal({
    lost: 0,
    violations: 0,
    disruptions,
    needless: 0,
    defects: [],
  });
  expect(tally.disturbances).to.be.greaterThan(0);
  expect(tally.restartsTogether).to.be.greaterThan(0);
  expect(tally.kills).to.be.greaterThan(0);
}

describe('rollouts whose controller is killed, frozen and cut off while moco-controller restarts', function suite() {
  const plan = (name: string, replicas: 3 | 5, ...images: readonly string[]) => ({ name, replicas, images });

  it('all end at OnDelete, and no member is disrupted against the rules', async () => {
    const plans = ['chaos-a', 'chaos-b'].map((name) => plan(name, 3, 'mysql:8.4.9', 'mysql:8.4.10'));
    await endWell({ driver: 'moco', elects: true, plans }, 12);
  });

  it('end at OnDelete while both replicas act, all the time', async () => {
    await endWell({ driver: 'moco', elects: false, plans: [plan('chaos-of-two', 3, 'mysql:8.4.9')] }, 3);
  });

  it('end by the partitions of this program', async () => {
    const plans = [plan('chaos-of-three', 3, 'mysql:8.4.9'), plan('chaos-of-five', 5, 'mysql:8.4.9')];
    await endWell({ driver: 'own', elects: true, plans }, 8);
  });
});
