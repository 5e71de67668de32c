import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { UsageError } from '../../failure.ts';
import type { KubeconfigChoice } from '../../kube/kubeconfig.ts';
import type { Host } from '../host.ts';

/**
 * Uses the same order as kubectl: `--kubeconfig`, the files in KUBECONFIG, ~/.kube/config, the ServiceAccount of the
 * pod. Several files are merged; of those that KUBECONFIG lists, some may be missing.
 */
export function chooseKubeconfig(
  { kubeconfig, context }: { readonly kubeconfig: string | undefined; readonly context: string | undefined },
  { env, home }: Pick<Host, 'env' | 'home'>,
): KubeconfigChoice {
  const standard = join(home, '.kube/config');
  const files = filesOf(kubeconfig, env['KUBECONFIG'], standard);
  if (files.length === 0 && env['KUBERNETES_SERVICE_HOST']) {
    if (context !== undefined) throw new UsageError(`expected a kubeconfig with context ${context}, got none`);
    return { kubeconfigPath: null };
  }
  // The error is reported when the connection reads the file.
  const kubeconfigPath = files.length === 0 ? standard : files;
  return { kubeconfigPath, environment: env, ...(context !== undefined && { context }) };
}

function filesOf(flag: string | undefined, variable: string | undefined, standard: string): readonly string[] {
  if (flag !== undefined) return [flag];
  const named = (variable ?? '').split(delimiter).filter((path) => path !== '');
  if (named.length === 1) return named;
  return (named.length > 1 ? named : [standard]).filter((path) => existsSync(path));
}
