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

/** Everything that a rollout needs, running. */
export interface DemoStage {
  readonly controlPlane: ControlPlane;
  readonly stage: Stage;
  /** Rejects if a signal comes first or a required process ends. `work` continues regardless. */
  readonly race: <T>(work: Promise<T>) => Promise<T>;
}

export interface DemoStageSettings {
  readonly restartMilliseconds: number;
  readonly say: Say;
  readonly interruption: Interruption;
}

/**
 * Builds what is missing, starts everything, and stops it again no matter how `use` ends. A signal takes effect between
 * two parts, or immediately while Go builds.
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

/** `ends` receives what has to be stopped as soon as it is started; the last one is stopped first. */
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

/** Only this project's reaction time is measured, not the delays of the stand-ins. */
const attentive = { notice: 5, healthyTrue: 20 };

/**
 * A restart takes the sum of these plus what the API server, the StatefulSet controller and probes need: about an
 * eighth of a second here, which is subtracted.
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
      new Error(`the controller ended by itself. The end of its log:\n${controller.log.slice(-logTailCharacters)}`),
    );
  }, controllerLookMilliseconds);
  return async () => clearInterval(timer);
}
