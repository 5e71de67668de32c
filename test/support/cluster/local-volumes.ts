import { chmod, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isAlreadyExists, isNotFound } from '../../../src/kube/api-error.ts';
import { persistentVolumeClaims, persistentVolumes } from '../../../src/kube/resource.ts';
import type { ObjectClient } from '../object-client.ts';
import { ObjectLoop } from './object-loop.ts';
import { type Claim, type Volume, type VolumeStep, volumeSteps } from './volume-steps.ts';

/** A pod decides by its fsGroup who owns what is in it. */
const everybody = 0o777;

/**
 * A provisioner of directories on the node that the scheduler has chosen, as PersistentVolumes that are tied to it.
 *
 * @param directoryOf that of a node
 */
export function localVolumes(
  kubeconfig: string,
  directoryOf: (node: string) => string,
): ObjectLoop<'claims' | 'volumes'> {
  const kinds = { claims: persistentVolumeClaims, volumes: persistentVolumes };
  const volumesOf = (node: string): string => join(directoryOf(node), 'volumes');
  return new ObjectLoop({ kubeconfig, name: 'local-volumes', kinds }, async (loop) => {
    const steps = volumeSteps(
      loop.objects('claims') as readonly Claim[],
      loop.objects('volumes') as readonly Volume[],
      volumesOf,
    );
    for (const step of steps) {
      await perform(loop.client, step).catch((error: unknown) => {
        // Done before, and not yet seen.
        if (!isAlreadyExists(error) && !isNotFound(error)) throw error;
      });
    }
  });
}

async function perform(client: ObjectClient, step: VolumeStep): Promise<void> {
  switch (step.kind) {
    case 'create': {
      const { path: directory } = step.volume.spec.local;
      await mkdir(directory, { recursive: true });
      await chmod(directory, everybody);
      await client.create(persistentVolumes, {}, step.volume);
      return;
    }
    case 'grow': {
      const { storage, claim, volume } = step;
      const capacity = { storage };
      await client.merge(persistentVolumes, { name: volume }, { spec: { capacity } });
      const place = { ...claim, subresource: 'status' };
      await client.merge(persistentVolumeClaims, place, { status: { capacity } });
      return;
    }
    case 'delete':
      await rm(step.directory, { recursive: true, force: true });
      await client.remove(persistentVolumes, { name: step.volume });
  }
}
