import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import {
  mutatingAdmissionPolicies,
  mutatingAdmissionPolicyBindings,
  type ResourceKind,
} from '../../../src/kube/resource.ts';
import type { ServerOptions } from '../control-plane/server-flags.ts';
import type { ObjectClient } from '../object-client.ts';

const directory = fileURLToPath(new URL('../../../config/admission-policy/', import.meta.url));
const files = [
  { kind: mutatingAdmissionPolicies, file: 'mutating-admission-policy.yaml' },
  { kind: mutatingAdmissionPolicyBindings, file: 'binding.yaml' },
];
const { group } = mutatingAdmissionPolicies;

interface PolicyManifest {
  readonly metadata: { readonly name: string };
}

/** The version of MutatingAdmissionPolicies in an API server: v1 since 1.36; `null` if it has none. */
export async function admissionPolicyVersion(client: ObjectClient): Promise<'v1' | 'v1beta1' | null> {
  const { versions } = await client.call<{ versions: { version: string }[] }>({
    method: 'GET',
    path: `/apis/${group}`,
  });
  for (const version of ['v1', 'v1beta1'] as const) {
    if (!versions.some((served) => served.version === version)) continue;
    const { resources } = await client.call<{ resources: { kind: string }[] }>({
      method: 'GET',
      path: `/apis/${group}/${version}`,
    });
    if (resources.some(({ kind }) => kind === 'MutatingAdmissionPolicy')) return version;
  }
  return null;
}

/** Writes the policy and its binding of `config/admission-policy`, in the version that the API server has. */
export async function installAdmissionPolicy(client: ObjectClient): Promise<void> {
  for (const { kind, manifest } of await admissionPolicy(client)) await client.apply(kind, manifest, 'stage');
}

export async function removeAdmissionPolicy(client: ObjectClient): Promise<void> {
  for (const { kind, manifest } of (await admissionPolicy(client)).toReversed()) {
    await client.remove(kind, { name: manifest.metadata.name });
  }
}

async function admissionPolicy(
  client: ObjectClient,
): Promise<readonly { kind: ResourceKind; manifest: PolicyManifest }[]> {
  const version = await admissionPolicyVersion(client);
  if (version === null) throw new Error('Expected an API server with MutatingAdmissionPolicies, got one without');
  return Promise.all(
    files.map(async ({ kind, file }) => ({
      kind: { ...kind, version },
      manifest: parse(await readFile(directory + file, 'utf8')) as PolicyManifest,
    })),
  );
}

/** What a control plane of that version is started with to have MutatingAdmissionPolicies; from 1.36 on nothing. */
export function admissionPolicyFlags({ KUBERNETES: version }: NodeJS.ProcessEnv): Partial<ServerOptions> {
  if (version !== '1.35') return {};
  return { featureGates: { MutatingAdmissionPolicy: true }, runtimeConfig: { [`${group}/v1beta1`]: true } };
}
