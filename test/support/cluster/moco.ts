import { mkdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { stringify } from 'yaml';
import { realMocoFiles } from '../real-moco/build.ts';
import { startCertificates } from './certificates.ts';
import type { Cluster } from './cluster.ts';

/** As MOCO's manifests name it, with the tag that its releases have. */
export const mocoImage = { name: 'ghcr.io/cybozu-go/moco', tag: '0.36.0' } as const;
const namespace = 'moco-system';

/**
 * Installs MOCO in a cluster from its own `config/default`. Its images have to be there. Resolves once its webhooks
 * answer, to what stands in for cert-manager until it is stopped.
 */
export async function installMoco(cluster: Cluster): Promise<{ stop(): Promise<void> }> {
  const { configuration } = await realMocoFiles();
  const certificates = await startCertificates(cluster, configuration);
  const directory = join(cluster.directory, 'moco');
  await mkdir(directory);
  const kustomization = {
    // Kustomize refuses absolute paths.
    resources: [relative(directory, join(configuration, 'default'))],
    // The manifests name the newest, which would be pulled.
    images: [{ name: mocoImage.name, newTag: mocoImage.tag }],
  };
  await writeFile(join(directory, 'kustomization.yaml'), stringify(kustomization));
  const manifests = join(cluster.directory, 'moco.yaml');
  await writeFile(manifests, await cluster.kubectl('kustomize', directory));
  await cluster.apply(manifests);
  await cluster.kubectl('rollout', 'status', '--namespace', namespace, 'deployment/moco-controller', '--timeout=120s');
  return certificates;
}
