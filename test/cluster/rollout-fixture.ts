import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { Stage } from '../../hack/stage/stage.ts';
import { beforeControlPlaneStops, useControlPlane } from './control-plane-fixture.ts';
import { type ClusterOptions, RolloutCluster } from './rollout-cluster.ts';
import { History } from './rollout-history.ts';

const startDeadlineMilliseconds = 60_000;
export const scenarioDeadlineMilliseconds = 240_000;
/** How many clusters of a file are rolled out side by side: what one test waits for, another one computes in. */
const scenariosAtOnce = 4;

/** What the controller runs with unless a test needs otherwise. */
export const sharedFlags = ['--min-ready-seconds=0'];

interface Shared {
  readonly stage: Stage;
  readonly history: History;
}

let shared: Promise<Shared> | null = null;

/** The one stage of the run, with the one controller that all tests share which don't kill theirs. */
function sharedStage(controlPlane: Parameters<typeof Stage.open>[0]): Promise<Shared> {
  shared ??= (async () => {
    const stage = await Stage.open(controlPlane);
    const history = await History.start(stage.client, stage.world);
    beforeControlPlaneStops(async () => {
      await history.stop();
      await stage.close();
    });
    await stage.startController(sharedFlags);
    return { stage, history };
  })();
  return shared;
}

export interface Rollouts {
  /** For use in tests and hooks. */
  readonly stage: () => Stage;
  /** A cluster in a namespace of its own, not made yet. */
  readonly newCluster: () => RolloutCluster;
  /**
   * A test with a cluster of its own, which the controller has taken and finds nothing to do about. Several of a file go on
   * side by side. At its end the invariants are asked for, and its story is printed where it failed.
   */
  readonly scenario: (sentence: string, options: ClusterOptions, play: Play) => void;
}

type Play = (cluster: RolloutCluster) => Promise<void>;

/** Plays something with a cluster, then holds what was done to it against the invariants. A failure tells its story. */
export async function judged(cluster: RolloutCluster, play: () => Promise<void>): Promise<void> {
  try {
    await play();
    expect(await cluster.violations()).to.deep.equal([]);
  } catch (error) {
    throw new Error(`${String(error)}\n${await cluster.report()}`, { cause: error });
  }
}

/** For use in a `describe`. */
export function useRollouts(): Rollouts {
  const controlPlane = useControlPlane();
  const plays: (() => Promise<void>)[] = [];
  const running: Promise<void>[] = [];
  let here: Shared | null = null;
  before(async function openSharedStage() {
    this.timeout(startDeadlineMilliseconds);
    here = await sharedStage(controlPlane());
  });

  function present(): Shared {
    if (here === null) throw new Error('Expected the stage to be asked for in a test or a hook, it was before');
    return here;
  }

  function newCluster(): RolloutCluster {
    const { stage, history } = present();
    return new RolloutCluster(stage, history, `rollout-${randomBytes(4).toString('hex')}`);
  }

  /** The test at this place, and those that come right after it. */
  async function played(place: number): Promise<void> {
    for (let next = running.length; next < Math.min(place + scenariosAtOnce, plays.length); next++) {
      const result = plays[next]?.() ?? Promise.resolve();
      result.catch(() => undefined);
      running.push(result);
    }
    await running[place];
  }

  function scenario(sentence: string, options: ClusterOptions, play: Play): void {
    const place = plays.length;
    plays.push(() => {
      const cluster = newCluster();
      return judged(cluster, async () => {
        await cluster.create(options);
        await cluster.isTaken();
        await cluster.begin();
        await play(cluster);
      });
    });
    it(sentence, async function runScenario() {
      this.timeout(scenarioDeadlineMilliseconds);
      await played(place);
    });
  }

  return { stage: () => present().stage, newCluster, scenario };
}
