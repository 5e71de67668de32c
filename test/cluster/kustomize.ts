import { mkdtemp, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { stringify } from 'yaml';
import { configDirectory, type Manifest, parseManifests } from '../config/manifests.ts';
import type { ControlPlane } from '../support/control-plane/control-plane.ts';

/** Names of directories in `config`, and what an overlay says beside them. */
export interface Overlay {
  readonly resources: readonly string[];
  readonly components?: readonly string[];
  readonly transformers?: readonly string[];
  readonly namespace?: string;
}

/** What kustomize builds of a directory in `config`, or of an overlay of several. */
export async function kustomize(controlPlane: ControlPlane, what: string | Overlay): Promise<readonly Manifest[]> {
  if (typeof what === 'string')
    return parseManifests(await controlPlane.kubectl('kustomize', join(configDirectory, what)));
  const place = await mkdtemp(join(controlPlane.directory, 'overlay-'));
  const { resources, components = [], transformers = [], ...more } = what;
  const from = (names: readonly string[]): readonly string[] =>
    names.map((name) => relative(place, join(configDirectory, name)));
  const overlay = {
    ...more,
    resources: from(resources),
    components: from(components),
    transformers: from(transformers),
  };
  await writeFile(join(place, 'kustomization.yaml'), stringify(overlay));
  return parseManifests(await controlPlane.kubectl('kustomize', place));
}
