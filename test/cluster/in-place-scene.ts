import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { nodes } from '../../src/kube/resource.ts';
import { configDirectory } from '../config/manifests.ts';
import { nodeNames } from '../support/nodes/cluster-objects.ts';
import type { Stage } from '../support/stage/stage.ts';

export const inPlaceFlag = '--feature-gates=UpdateStrategyOnDelete=true,InPlaceUpdate=true';

/** Installs config/in-place beside what a stage has installed: the right to nodes, and the policy that allows images. */
export async function installInPlace({ controlPlane }: Stage): Promise<void> {
  const directory = join(configDirectory, 'in-place');
  await controlPlane.apply(join(directory, 'cluster-role.yaml'), join(directory, 'cluster-role-binding.yaml'));
  const { patches } = parse(await readFile(join(directory, 'Kustomization'), 'utf8')) as {
    readonly patches: readonly {
      readonly target: { readonly kind: string; readonly name: string };
      readonly patch: string;
    }[];
  };
  for (const { target, patch } of patches) {
    await controlPlane.kubectl('patch', target.kind, target.name, '--type=json', '-p', JSON.stringify(parse(patch)));
  }
}

/** Every node reports that it has the image. */
export async function pull({ client }: Stage, image: string): Promise<void> {
  for (const name of nodeNames) {
    const body = { status: { images: [{ names: [image] }] } };
    await client.patch(nodes, { name, subresource: 'status' }, 'application/merge-patch+json', body, {
      priority: 'disrupt',
    });
  }
}
