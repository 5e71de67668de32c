import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { nodes } from '../../../src/kube/resource.ts';
import { nodeNames } from '../nodes/cluster-objects.ts';
import type { Stage } from './stage.ts';

export const inPlaceFlag = '--feature-gates=UpdateStrategyOnDelete=true,InPlaceUpdate=true';

const directory = fileURLToPath(new URL('../../../config/in-place', import.meta.url));
/** The patches apply once. */
const installed = new WeakSet<Stage['controlPlane']>();

/** Installs config/in-place beside what is installed already: the right to nodes, and the policy that allows images. */
export async function installInPlace({ controlPlane }: Pick<Stage, 'controlPlane'>): Promise<void> {
  if (installed.has(controlPlane)) return;
  installed.add(controlPlane);
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

/** Every node reports that it has these images, and no others. */
export async function pull({ client }: Pick<Stage, 'client'>, ...images: readonly string[]): Promise<void> {
  for (const name of nodeNames) {
    const body = { status: { images: images.map((image) => ({ names: [image] })) } };
    await client.merge(nodes, { name, subresource: 'status' }, body);
  }
}
