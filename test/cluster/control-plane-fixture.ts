import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  type ControlPlane,
  type ControlPlaneOptions,
  startControlPlane,
} from '../support/control-plane/control-plane.ts';
import { atEndOfRun } from '../support/end-of-run.ts';

/** CustomResourceDefinitions that every cluster test may rely on. */
const definitions = ['../../config/crd', '../support/moco/crd'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
);

let shared: Promise<ControlPlane> | null = null;

/**
 * The one control plane of a process of tests. The first file that asks starts it, and it stops at the end of the run.
 * Every test has a namespace of its own in it; whoever kills its API server or needs flags of its own starts another
 * one with `startControlPlane`.
 */
function sharedControlPlane(): Promise<ControlPlane> {
  shared ??= startWithDefinitions().then((controlPlane) => {
    atEndOfRun(() => controlPlane.stop());
    return controlPlane;
  });
  return shared;
}

function startWithDefinitions(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  return startControlPlane({ ...options, manifests: definitions.filter((path) => existsSync(path)) });
}

/**
 * For use in a `describe`: starts the shared control plane before its first test. Returns a function that gives it from
 * then on.
 */
export function useControlPlane(): () => ControlPlane {
  return startedBefore(sharedControlPlane);
}

/** The same with one for a file alone: on the shared one the stand-ins of the rollouts see to every namespace. */
export function useOwnControlPlane(options: ControlPlaneOptions = {}): () => ControlPlane {
  let own: ControlPlane | null = null;
  after(async () => {
    await own?.stop();
  });
  return startedBefore(async () => {
    own = await startWithDefinitions(options);
    return own;
  });
}

function startedBefore(start: () => Promise<ControlPlane>): () => ControlPlane {
  let controlPlane: ControlPlane | null = null;
  before(async () => {
    controlPlane = await start();
  });
  return () => {
    if (controlPlane === null) {
      throw new Error('Expected the control plane to be asked for in a test or a hook, it was while tests are defined');
    }
    return controlPlane;
  };
}

/** Makes a new namespace and returns its name. */
export async function freshNamespace(controlPlane: ControlPlane, prefix = 'test'): Promise<string> {
  const name = `${prefix}-${randomBytes(4).toString('hex')}`;
  await controlPlane.kubectl('create', 'namespace', name);
  return name;
}
