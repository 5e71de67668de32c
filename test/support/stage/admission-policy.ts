import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { path, type ResourceKind } from '../../../src/kube/resource.ts';
import type { ServerOptions } from '../control-plane/server-flags.ts';
import type { ObjectClient } from '../object-client.ts';

const directory = fileURLToPath(new URL('../../../config/admission-policy/', import.meta.url));
const files = ['mutating-admission-policy.yaml', 'binding.yaml'];
const group = 'admissionregistration.k8s.io';
const plurals: Readonly<Record<string, string>> = {
  MutatingAdmissionPolicy: 'mutatingadmissionpolicies',
  MutatingAdmissionPolicyBinding: 'mutatingadmissionpolicybindings',
};

interface PolicyManifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string };
}

/** The version of MutatingAdmissionPolicies in an API server: v1 since 1.36; `null` if it has none. */
export async function admissionPolicyVersion(client: ObjectClient): Promise<'v1' | 'v1beta1' | null> {
  const { versions } = await client.call<{ versions: { version: string }[] }>({
    method: 'GET',
    path: `/apis/${group}`,
    priority: 'read',
  });
  for (const version of ['v1', 'v1beta1'] as const) {
    if (!versions.some((served) => served.version === version)) continue;
    const { resources } = await client.call<{ resources: { kind: string }[] }>({
      method: 'GET',
      path: `/apis/${group}/${version}`,
      priority: 'read',
    });
    if (resources.some(({ kind }) => kind === 'MutatingAdmissionPolicy')) return version;
  }
  return null;
}

/** Writes the policy and its binding of `config/admission-policy`, in the version that the API server has. */
export async function installAdmissionPolicy(client: ObjectClient): Promise<void> {
  for (const { manifest, target } of await admissionPolicy(client)) {
    await client.call({
      method: 'PATCH',
      path: target,
      query: { fieldManager: 'stage', force: true },
      contentType: 'application/apply-patch+yaml',
      body: manifest,
      priority: 'disrupt',
    });
  }
}

export async function removeAdmissionPolicy(client: ObjectClient): Promise<void> {
  for (const { target } of (await admissionPolicy(client)).toReversed()) {
    await client.call({ method: 'DELETE', path: target, priority: 'disrupt' });
  }
}

async function admissionPolicy(client: ObjectClient): Promise<readonly { manifest: PolicyManifest; target: string }[]> {
  const version = await admissionPolicyVersion(client);
  if (version === null) throw new Error('Expected an API server with MutatingAdmissionPolicies, got one without');
  const manifests = await Promise.all(files.map(async (file) => parse(await readFile(directory + file, 'utf8'))));
  return manifests.map((manifest: PolicyManifest) => {
    const kind: ResourceKind = {
      group,
      version,
      plural: plurals[manifest.kind] ?? '',
      kind: manifest.kind,
      namespaced: false,
    };
    return {
      manifest: { ...manifest, apiVersion: `${group}/${version}` },
      target: path(kind, { name: manifest.metadata.name }),
    };
  });
}

/** What a control plane of that version is started with to have MutatingAdmissionPolicies; from 1.36 on nothing. */
export function admissionPolicyFlags({ KUBERNETES: version }: NodeJS.ProcessEnv): Partial<ServerOptions> {
  if (version !== '1.35') return {};
  return { featureGates: { MutatingAdmissionPolicy: true }, runtimeConfig: { [`${group}/v1beta1`]: true } };
}
