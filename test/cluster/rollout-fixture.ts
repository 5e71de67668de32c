import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import PQueue from 'p-queue';
import {
  type ControlPlane,
  type ControlPlaneOptions,
  startControlPlane,
} from '../support/control-plane/control-plane.ts';
import { atEndOfRun } from '../support/end-of-run.ts';
import { Stage, type StageOptions } from '../support/stage/stage.ts';
import { useControlPlane } from './control-plane-fixture.ts';
import { type ClusterOptions, RolloutCluster } from './rollout-cluster.ts';
import { History } from './rollout-history.ts';

/** How many clusters of a file are rolled out side by side: what one test waits for, another one computes in. */
const scenariosAtOnce = 6;

/** What the controller runs with unless a test needs otherwise. */
export const sharedFlags = ['--min-ready-seconds=0'];

export interface Shared {
  readonly stage: Stage;
  readonly history: History;
}

/** A stage with one controller. What ends it is handed on, to be called in reverse order. */
export async function openStage(
  controlPlane: ControlPlane,
  atEnd: (close: () => Promise<unknown>) => void,
  options: StageOptions = {},
  flags: readonly string[] = [],
): Promise<Shared> {
  const stage = await Stage.open(controlPlane, options);
  atEnd(() => stage.close());
  const history = await History.start(stage.client);
  atEnd(() => history.stop());
  await stage.startController([...sharedFlags, ...flags]);
  return { stage, history };
}

/** The one stage of the run, with the one controller that all tests share which don't kill theirs. */
let shared: Promise<Shared> | null = null;

export interface Rollouts {
  /** For use in tests and hooks. */
  readonly stage: () => Stage;
  /** A cluster in a namespace of its own, not made yet. */
  readonly newCluster: () => RolloutCluster;
  /**
   * A test with a cluster of its own, which the controller finds nothing to do about. Several of a file go on
   * side by side. At its end the invariants are asked for, and its story is printed where it failed.
   */
  readonly scenario: (sentence: string, options: ClusterOptions, play: Play) => void;
}

type Play = (cluster: RolloutCluster) => Promise<void>;

/** Plays something with a cluster, then holds what was done to it against the invariants. A failure tells its story. */
export async function judged(cluster: RolloutCluster, play: () => Promise<void>): Promise<void> {
  try {
    await play();
    const found = await cluster.violations();
    expect(found, found.join('\n')).to.deep.equal([]);
  } catch (error) {
    throw new Error(`${String(error)}\n${await cluster.report()}`, { cause: error });
  }
}

/** Where clusters are rolled out, and how one looks that nothing is to be done about. */
export interface Scene {
  /** For use in a `describe`. */
  readonly use: () => () => Promise<Shared>;
  readonly atRest: (cluster: RolloutCluster) => Promise<void>;
}

/** Under OnDelete, on the control plane and the stage that every file shares. */
const underOnDelete: Scene = {
  use: () => {
    const controlPlane = useControlPlane();
    return () => (shared ??= openStage(controlPlane(), atEndOfRun));
  },
  atRest: (cluster) => cluster.isTaken(),
};

/** A control plane and a stage for one file alone, with the controller that its flags make. */
export function ownScene(
  options: StageOptions,
  flags: readonly string[],
  atRest: (cluster: RolloutCluster) => Promise<void>,
  controlPlaneOptions: ControlPlaneOptions = {},
): Scene {
  const use = (): (() => Promise<Shared>) => {
    const closers: (() => Promise<unknown>)[] = [];
    after(async () => {
      for (const close of closers.toReversed()) await close();
    });
    return async () => {
      const controlPlane = await startControlPlane(controlPlaneOptions);
      closers.push(() => controlPlane.stop());
      return openStage(controlPlane, (close) => closers.push(close), options, flags);
    };
  };
  return { use, atRest };
}

/** For use in a `describe`. */
export function useRollouts(scene: Scene = underOnDelete): Rollouts {
  const { use, atRest } = scene;
  const open = use();
  const plays: (() => Promise<void>)[] = [];
  let running: readonly Promise<void>[] = [];
  let here: Shared | null = null;
  before(async () => {
    here = await open();
  });

  function present(): Shared {
    if (here === null) throw new Error('Expected the stage to be asked for in a test or a hook, it was before');
    return here;
  }

  function newCluster(): RolloutCluster {
    const { stage, history } = present();
    return new RolloutCluster(stage, history, `rollout-${randomBytes(4).toString('hex')}`);
  }

  /** The first test begins all of the file, as many at a time as may be. */
  async function played(place: number): Promise<void> {
    if (running.length === 0) {
      const queue = new PQueue({ concurrency: scenariosAtOnce });
      running = plays.map((play) => queue.add(play));
      for (const result of running) result.catch(() => undefined);
    }
    await running[place];
  }

  function scenario(sentence: string, options: ClusterOptions, play: Play): void {
    const place = plays.length;
    plays.push(() => {
      const cluster = newCluster();
      return judged(cluster, async () => {
        await cluster.create(options);
        await atRest(cluster);
        await cluster.begin();
        await play(cluster);
      });
    });
    it(sentence, async () => {
      await played(place);
    });
  }

  return { stage: () => present().stage, newCluster, scenario };
}
