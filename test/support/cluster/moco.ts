import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { stringify } from 'yaml';
import { goTool } from '../go-tools/build.ts';
import { mocoChart, realMocoFiles } from '../real-moco/build.ts';
import { startCertificates } from './certificates.ts';
import type { Cluster } from './cluster.ts';

/** As MOCO's manifests name it, with the tag that its releases have. */
export const mocoImage = { name: 'ghcr.io/cybozu-go/moco', tag: '0.36.0' } as const;
const run = promisify(execFile);
const namespace = 'moco-system';

/**
 * Installs MOCO in a cluster from its own `config/default`, or from its own chart. Its images have to be there. Resolves
 * once its webhooks answer, to what stands in for cert-manager until it is stopped.
 */
export async function installMoco(
  cluster: Cluster,
  { from = 'manifests' }: { readonly from?: 'manifests' | 'chart' } = {},
): Promise<{ stop(): Promise<void> }> {
  const { configuration } = await realMocoFiles();
  const certificates = await startCertificates(cluster, configuration);
  try {
    await (from === 'chart' ? installChart(cluster) : applyManifests(cluster, configuration));
    await cluster.kubectl(
      'rollout',
      'status',
      '--namespace',
      namespace,
      'deployment/moco-controller',
      '--timeout=120s',
    );
  } catch (error) {
    await certificates.stop();
    throw error;
  }
  return certificates;
}

async function applyManifests(cluster: Cluster, configuration: string): Promise<void> {
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
}

async function installChart(cluster: Cluster): Promise<void> {
  const place = ['--namespace', namespace, '--create-namespace', '--kubeconfig', cluster.kubeconfig];
  // The chart of a source tree names the release before.
  const values = ['--set', `image.tag=${mocoImage.tag}`];
  const env = { ...process.env, HOME: cluster.directory };
  await run(await goTool('helm'), ['install', 'moco', await mocoChart(), ...place, ...values], { env });
}
