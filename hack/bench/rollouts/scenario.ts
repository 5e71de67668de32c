import { mysqldContainer } from '../../../src/moco/names.ts';
import type { BenchCluster } from './cluster.ts';
import { isBack, isSettled, isUpdated, type Sight } from './sight.ts';

export const oldImage = 'mysql:8.4.8';
export const newImage = 'mysql:8.4.9';
/** Can't be fetched by the nodes stand-in. */
const badImage = 'mysql:8.4.9-missing';

/** The circumstances of a rollout: half of a row of every table. */
export interface Scenario {
  readonly slug: string;
  readonly title: string;
  readonly explanation: string;
  readonly leastMembers: number;
  /** Of the MySQLCluster, beside what every one has. */
  readonly spec?: Readonly<Record<string, unknown>>;
  /** Done before anything is counted. */
  readonly before?: (cluster: BenchCluster) => Promise<void>;
  /** Prepared after counting starts and before the timed change. */
  readonly first?: (cluster: BenchCluster) => Promise<void>;
  /** Goes on beside the rollout. Resolves to when it held the rollout up by rights; never rejects. */
  readonly meanwhile?: (cluster: BenchCluster) => Promise<Interval>;
}

/** Milliseconds of the monotonic clock. */
export interface Interval {
  readonly from: number;
  readonly to: number;
}

/** A member that no order of updating has at either end. */
const middle = (cluster: BenchCluster): number => Math.floor(cluster.members / 2);
const stateOf = (sight: Sight, ordinal: number): string | undefined =>
  sight.members.find((member) => member.ordinal === ordinal)?.state;
/** How long a bad revision stays before it is corrected, once its first member fails. */
const badMilliseconds = 5000;
/** A backup continues for so long after the first member terminates. */
const backupMilliseconds = 8000;

/** In the order of the rows. */
export const scenarios: readonly Scenario[] = [
  {
    slug: 'healthy',
    title: 'healthy',
    explanation: 'nothing is wrong',
    leastMembers: 1,
  },
  {
    slug: 'down',
    title: 'a stale member is down',
    explanation: 'mysqld of the replica in the middle is in CrashLoopBackOff from the start; a new pod of it works',
    leastMembers: 3,
    before: async (cluster) => {
      cluster.breakContainer(middle(cluster), mysqldContainer);
      await cluster.until('a member to be down', (sight) => stateOf(sight, middle(cluster)) === 'down');
    },
  },
  {
    slug: 'low',
    title: 'member 0 is down',
    explanation: 'mysqld of member 0, the primary, died before and MOCO has failed over; a new pod of it works',
    leastMembers: 3,
    before: async (cluster) => {
      cluster.breakContainer(0, mysqldContainer);
      await cluster.until(
        'MOCO to have failed over from member 0',
        (sight) =>
          sight.primary !== 0 &&
          sight.available &&
          stateOf(sight, 0) === 'down' &&
          sight.members.every((member) => member.ordinal === 0 || isBack(member)),
      );
    },
  },
  {
    slug: 'sidecar',
    title: 'a sidecar is broken',
    explanation: 'container slow-log of the replica in the middle is in CrashLoopBackOff from the start; mysqld serves',
    leastMembers: 3,
    before: async (cluster) => {
      cluster.breakContainer(middle(cluster), 'slow-log');
      await cluster.until('a member to be impaired', (sight) => stateOf(sight, middle(cluster)) === 'impaired');
    },
  },
  {
    slug: 'backup',
    title: 'a backup in the middle',
    explanation: `a backup begins when the first member goes, for ${backupMilliseconds / 1000} s; in the limit as far as nobody is away then`,
    leastMembers: 3,
    spec: { backupPolicyName: 'daily' },
    meanwhile: async (cluster) => {
      await cluster.until('the first member to go', ({ members }) => members.some(({ terminating }) => terminating));
      return cluster.backUp(backupMilliseconds);
    },
  },
  {
    slug: 'bad',
    title: 'a bad revision, corrected',
    explanation: `an image that doesn't exist, corrected ${badMilliseconds / 1000} s after its first member fails; timed from the correction`,
    leastMembers: 1,
    first: async (cluster) => {
      await cluster.setImage(badImage);
      await cluster.until('a member to fail at the bad revision', (sight) =>
        sight.members.some((member) => isUpdated(member, sight) && member.state === 'down'),
      );
      await cluster.pass(badMilliseconds);
    },
  },
];

/** Every member is at a revision other than `before`, and MOCO has finished with them all. */
export function isDone(sight: Sight, before: string): boolean {
  return sight.updateRevision !== before && isSettled(sight) && isWhole(sight);
}

/** Every member is back, and updated. */
export function isWhole(sight: Sight): boolean {
  return sight.members.every((member) => isBack(member) && isUpdated(member, sight));
}
