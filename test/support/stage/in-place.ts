import { nodes } from '../../../src/kube/resource.ts';
import { nodeNames } from '../nodes/cluster-objects.ts';
import { installComponent } from './component.ts';
import type { Stage } from './stage.ts';

export const inPlaceFlag = '--feature-gates=UpdateStrategyOnDelete=true,InPlaceUpdate=true';

/** Installs config/in-place beside what is installed already: the right to nodes, and the policy that allows images. */
export const installInPlace = (stage: Pick<Stage, 'controlPlane'>): Promise<void> =>
  installComponent(stage, 'in-place');

/** Every node reports that it has these images, and no others. */
export async function pull({ client }: Pick<Stage, 'client'>, ...images: readonly string[]): Promise<void> {
  for (const name of nodeNames) {
    const body = { status: { images: images.map((image) => ({ names: [image] })) } };
    await client.merge(nodes, { name, subresource: 'status' }, body);
  }
}
