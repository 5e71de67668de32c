import { expect } from 'chai';
import { Chance } from '../../verification/simulation/chance.ts';
import { drawVictim } from './victim.ts';

const containers = ['mysqld', 'agent'].map((container) => ({ namespace: 'soak-1', pod: 'moco-test-0', container }));

describe('the process that is killed next', () => {
  it('is any of them sooner or later', () => {
    const chance = new Chance('any');
    const drawn = Array.from({ length: 200 }, () => JSON.stringify(drawVictim(chance, containers)));
    expect(new Set(drawn)).to.deep.equal(
      new Set(
        [
          ...containers.map((container) => ({ kind: 'container', ...container })),
          { kind: 'moco-controller' },
          { kind: 'moco-rollout' },
        ].map((victim) => JSON.stringify(victim)),
      ),
    );
  });

  it('is the same for the same seed', () => {
    const draw = (): readonly string[] => {
      const chance = new Chance('same');
      return Array.from({ length: 20 }, () => JSON.stringify(drawVictim(chance, containers)));
    };
    expect(draw()).to.deep.equal(draw());
  });

  it('is a controller while no server runs', () => {
    const chance = new Chance('none');
    const kinds = Array.from({ length: 50 }, () => drawVictim(chance, []).kind);
    expect([...new Set(kinds)].toSorted()).to.deep.equal(['moco-controller', 'moco-rollout']);
  });
});
