import { fileURLToPath } from 'node:url';
import { controlPlaneBinaries, kubernetesVersion } from '../../test/support/control-plane/build.ts';
import { type ControlPlane, startControlPlane } from '../../test/support/control-plane/control-plane.ts';
import { clusterDefinitionFile } from '../../test/support/moco/install.ts';
import type { NodesSettings } from '../../test/support/nodes/settings.ts';
import type { ControllerProcess } from '../../test/support/stage/controller-process.ts';
import { Stage } from '../../test/support/stage/stage.ts';
import type { Interruption } from '../program/interruption.ts';
import { progressing, type Say } from '../program/progress.ts';

// Starts and stops what a demo on a real control plane needs.

const ownDefinitions = fileURLToPath(new URL('../../config/crd', import.meta.url));
const controllerLookMilliseconds = 250;
const logTailCharacters = 2000;

/** Everything that a rollout needs, already running. */
export interface DemoStage {
  readonly controlPlane: ControlPlane;
  readonly stage: Stage;
  /**
   * Settles like `work`, unless a signal comes or a required process ends first: then it rejects, and `work` continues.
   */
  readonly race: <T>(work: Promise<T>) => Promise<T>;
}

export interface DemoStageSettings {
  readonly restartMilliseconds: number;
  readonly say: Say;
  readonly interruption: Interruption;
}

/**
 * Builds what is missing, starts everything, runs `use`, and stops everything again, even if `use` fails. A signal
 * takes effect before the next program starts, or at once while Go builds.
 */
export async function withDemoStage<T>(settings: DemoStageSettings, use: (stage: DemoStage) => Promise<T>): Promise<T> {
  const ends: (() => Promise<unknown>)[] = [];
  try {
    return await use(await open(settings, ends));
  } finally {
    if (ends.length > 0) {
      await progressing(settings.say, 'Cleaning up', async () => {
        for (const end of ends.toReversed()) await end();
      });
    }
  }
}

/**
 * Starts everything. Each part that must be stopped is added to `ends` as soon as it has started; the last one is
 * stopped first.
 */
async function open(
  { restartMilliseconds, say, interruption }: DemoStageSettings,
  ends: (() => Promise<unknown>)[],
): Promise<DemoStage> {
  const { signal } = interruption;
  const { promise: broken, reject } = Promise.withResolvers<never>();
  broken.catch(() => undefined);
  await controlPlaneBinaries({ signal });
  signal.throwIfAborted();
  const controlPlane = await progressing(
    say,
    `Starting etcd and Kubernetes ${await kubernetesVersion()} on 127.0.0.1`,
    () =>
      startControlPlane({
        manifests: [clusterDefinitionFile, ownDefinitions],
        audit: true,
        onUnexpectedExit: (explanation) => reject(new Error(explanation)),
      }),
  );
  ends.push(() => controlPlane.stop());
  signal.throwIfAborted();
  const stage = await progressing(say, 'Installing config/ and starting the stand-ins for MOCO and nodes', () =>
    Stage.open(controlPlane, { nodes: nodesSettings(restartMilliseconds), clustering: attentive }),
  );
  ends.push(() => stage.close());
  signal.throwIfAborted();
  const controller = await progressing(say, 'Starting the controller under its ServiceAccount, gate on', () =>
    stage.startController(['--min-ready-seconds=0']),
  );
  ends.push(endOfWatching(controller, reject));
  signal.throwIfAborted();
  return { controlPlane, stage, race: (work) => interruption.race(Promise.race([work, broken])) };
}

/** The stand-ins react fast, because only this project's reaction time is measured. */
const attentive = { notice: 5, healthyTrue: 20 };

/**
 * A restart takes the sum of these delays, plus what the API server, the StatefulSet controller and the probes need:
 * about an eighth of a second here, which is subtracted.
 */
function nodesSettings(restartMilliseconds: number): Partial<NodesSettings> {
  return {
    stopMilliseconds: 0.35 * restartMilliseconds,
    startMilliseconds: 0.5 * restartMilliseconds,
    startupMilliseconds: 0.1 * restartMilliseconds,
  };
}

function endOfWatching(controller: ControllerProcess, reject: (error: Error) => void): () => Promise<void> {
  const timer = setInterval(() => {
    if (controller.running) return;
    clearInterval(timer);
    reject(
      new Error(`the controller ended unexpectedly. The end of its log:\n${controller.log.slice(-logTailCharacters)}`),
    );
  }, controllerLookMilliseconds);
  return async () => clearInterval(timer);
}
