import { existsSync, readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { load as parseYaml } from 'js-yaml';
import { UsageError } from '../../failure.ts';
import type { Host } from '../host.ts';

/** Where to connect to, and the default namespace. */
export interface KubeconfigChoice {
  /** `null`: the ServiceAccount of the pod that the program runs in. */
  readonly path: string | null;
  readonly context: string | undefined;
  readonly namespace: string;
}

const namespaceFile = '/var/run/secrets/kubernetes.io/serviceaccount/namespace';
const defaultNamespace = 'default';

interface Content {
  readonly 'current-context'?: string;
  readonly contexts?: readonly { readonly name?: string; readonly context?: { readonly namespace?: string } }[];
}

/**
 * Uses the same order as kubectl: `--kubeconfig`, the files in KUBECONFIG, ~/.kube/config, the ServiceAccount of the
 * pod. Several files are not merged: the first one with the context is used.
 */
export function chooseKubeconfig(
  { kubeconfig, context }: { readonly kubeconfig: string | undefined; readonly context: string | undefined },
  { env, home }: Pick<Host, 'env' | 'home'>,
): KubeconfigChoice {
  const files = filesOf(kubeconfig, env['KUBECONFIG'], home);
  if (files.length === 0 && env['KUBERNETES_SERVICE_HOST']) {
    if (context !== undefined) throw new UsageError(`expected a kubeconfig with context ${context}, got none`);
    return { path: null, context, namespace: namespaceOfPod() };
  }
  const [first = join(home, '.kube/config'), ...others] = files;
  // The error is reported when the connection reads the file.
  if (others.length === 0) return chosen(first, context, contentOf(first));
  const contents = files.map((path) => ({ path, content: contentOf(path) }));
  const wanted = context ?? contents.map(({ content }) => content?.['current-context']).find(Boolean);
  const file = contents.find(({ content }) => content?.contexts?.some(({ name }) => name === wanted));
  return chosen(file?.path ?? first, wanted, file?.content ?? null);
}

function filesOf(flag: string | undefined, variable: string | undefined, home: string): readonly string[] {
  if (flag !== undefined) return [flag];
  const named = (variable ?? '').split(delimiter).filter((path) => path !== '');
  if (named.length === 1) return named;
  const places = named.length > 1 ? named : [join(home, '.kube/config')];
  return places.filter((path) => existsSync(path));
}

function contentOf(path: string): Content | null {
  try {
    return (parseYaml(readFileSync(path, 'utf8')) as Content | null) ?? null;
  } catch {
    return null;
  }
}

function chosen(path: string, wanted: string | undefined, content: Content | null): KubeconfigChoice {
  const name = wanted ?? content?.['current-context'];
  const entry = content?.contexts?.find((candidate) => candidate.name === name);
  return { path, context: wanted, namespace: entry?.context?.namespace || defaultNamespace };
}

function namespaceOfPod(): string {
  try {
    return readFileSync(namespaceFile, 'utf8').trim() || defaultNamespace;
  } catch {
    return defaultNamespace;
  }
}
