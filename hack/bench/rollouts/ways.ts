import { type Json } from '../../../src/base/json.ts';
import { forceRollingUpdateAnnotation, mysqldContainer } from '../../../src/moco/names.ts';
import { withContainerFault } from '../../../test/support/nodes/fault-script.ts';
import {
  annotateFor,
  beginBackup,
  completeBackup,
  podName,
  setImage,
} from '../../../test/verification/simulation/acts-of-people.ts';
import type { Circumstances } from '../../../test/verification/simulation/circumstances.ts';
import { type Simulation, soleNamespace } from '../../../test/verification/simulation/simulation.ts';

// The methods of updating a StatefulSet, and the circumstances in which they are compared.

const second = 1000;
export const newImage = 'mysql:8.4.9';
const badImage = 'mysql:8.4.8-missing';
const longerThanAny = 24 * 3600 * second;
const badMilliseconds = 5 * second;
/** Longer than the restart of a member, so that the rollout has to wait. */
export const backupMilliseconds = 30 * second;

/** A method of updating a StatefulSet. Each table has a column for it. */
export interface Way {
  readonly title: string;
  readonly mode: Circumstances['mode'];
  /** Settings of the MySQLRollout. */
  readonly settings?: Json;
  /** The fewest members with which this method differs from the previous one. */
  readonly leastMembers: number;
  readonly before?: (simulation: Simulation) => void;
}

/** The methods in the order of the columns. */
export const ways: readonly Way[] = [
  {
    title: 'native',
    mode: 'MOCO',
    leastMembers: 1,
    before: (simulation) => void annotateFor(simulation, forceRollingUpdateAnnotation, longerThanAny),
  },
  { title: "MOCO's", mode: 'MOCO', leastMembers: 1 },
  { title: 'own partitions', mode: 'Partition', leastMembers: 1 },
  { title: 'OnDelete', mode: 'OnDelete', leastMembers: 1 },
  { title: 'OnDelete, 2', mode: 'OnDelete', settings: { maxUnavailable: 2 }, leastMembers: 5 },
];

/** The circumstances of a rollout. Each table has a row for them. */
export interface Scenario {
  readonly title: string;
  /** Runs before anything is counted. Resolves once the circumstances have been created. */
  readonly before?: (play: Playing) => Promise<void>;
  /** Runs right before the measured change. The time for which members are unavailable is already counted. */
  readonly first?: (play: Playing) => Promise<void>;
  /** Called as soon as a member is terminating. */
  readonly whenOneGoes?: (play: Playing) => void;
}

/** A rollout in a running simulation. */
export interface Playing {
  readonly simulation: Simulation;
  readonly until: (sentence: string, condition: () => boolean) => Promise<void>;
  /** The ordinals of members that do not participate. */
  readonly away: () => readonly number[];
  readonly primary: () => number;
  readonly isUpdated: (ordinal: number) => boolean;
}

function breaks(ordinal: number, container: string): (play: Playing) => void {
  return ({ simulation: { kubelets } }) =>
    void kubelets.fault(soleNamespace, podName(ordinal), withContainerFault(container, 'crashLoop'));
}

const pass = ({ simulation: { clock } }: Playing, milliseconds: number): Promise<boolean> =>
  clock.runUntil(() => false, milliseconds);

export const healthy: Scenario = { title: 'healthy' };

/**
 * The circumstances in the order of the rows. Member 1 of three or five is a replica that no method updates first or
 * last.
 */
export const failures: readonly Scenario[] = [
  {
    title: 'a stale member is down',
    before: async (play) => {
      breaks(1, mysqldContainer)(play);
      await play.until('member 1 to be down', () => play.away().includes(1));
    },
  },
  {
    title: 'member 0 is down',
    before: async (play) => {
      breaks(0, mysqldContainer)(play);
      await play.until('MOCO to fail over from member 0', () => {
        const { moco } = play.simulation;
        return play.primary() !== 0 && moco.acceptsCommits && play.away().join() === '0';
      });
    },
  },
  {
    title: 'a sidecar is broken',
    before: async (play) => {
      breaks(1, 'slow-log')(play);
      // A sidecar counts as broken after a minute.
      await pass(play, 90 * second);
    },
  },
  {
    title: 'a backup in the middle',
    whenOneGoes: ({ simulation }) => {
      const job = beginBackup(simulation, 'schedule');
      simulation.clock.after(backupMilliseconds, () => completeBackup(simulation, job ?? ''));
    },
  },
  {
    title: 'a bad revision, corrected',
    first: async (play) => {
      setImage(play.simulation, badImage);
      await play.until('a member to be away at the bad revision', () => play.away().some(play.isUpdated));
      await pass(play, badMilliseconds);
    },
  },
];
