import type { Chance } from './chance.ts';
import type { NodeMaintenance } from './circumstances.ts';
import type { Planned } from './happening.ts';

/** The settings about nodes that are being taken out of service, and an upgrade of the nodes. */
interface Drawn {
  readonly setting: NodeMaintenance;
  readonly upgrades: Planned;
}

/** Always with the theme `nodeMaintenance`; in one of ten runs whose themes are drawn at random. Otherwise `null`. */
export function drawNodeMaintenance(chance: Chance, given: readonly string[]): Drawn | null {
  const isDrawn = given.length === 0 ? chance.happens(0.1) : given.includes('nodeMaintenance');
  if (!isDrawn) return null;
  return {
    setting: {
      nodeMaintenance: chance.pick(['Ignore', 'Switchover', 'Evacuate', 'Evacuate', 'Evacuate'] as const),
      rolloutsDuringMaintenance: chance.pick(['Proceed', 'Wait', 'Wait'] as const),
    },
    upgrades: {
      // Before the rollout, or in the middle of it.
      atMilliseconds: chance.span(-5, 60),
      what: {
        kind: 'upgradeNodes',
        noticeMilliseconds: chance.span(5, 150),
        bootMilliseconds: chance.span(5, 120),
        forMilliseconds: chance.span(300, 1200),
      },
    },
  };
}
