import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseAllDocuments } from 'yaml';

export const configDirectory = fileURLToPath(new URL('../../config', import.meta.url));
export const chartDirectory = join(configDirectory, 'helm/moco-rollout');

const ofKustomize = ['Kustomization', 'ReplacementTransformer', 'PatchTransformer'];

export interface Manifest {
  /** Below `config`. */
  readonly file: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly annotations?: Record<string, string>;
  };
  readonly [field: string]: unknown;
}

/** Every object in the YAML files below `config`, what only kustomize reads left out. Rejects for YAML that can't be parsed. */
export async function readManifests(directory = ''): Promise<readonly Manifest[]> {
  const found = await readdir(join(configDirectory, directory), { recursive: true, withFileTypes: true });
  const files = found.filter((entry) => entry.isFile() && extname(entry.name) === '.yaml' && !isTemplated(entry));
  const manifests = await Promise.all(files.map((entry) => parseFile(join(entry.parentPath, entry.name))));
  return manifests.flat().filter(({ kind }) => !ofKustomize.includes(kind));
}

/** The chart for Helm is no YAML before it is rendered, and says nothing of its own. */
function isTemplated({ parentPath }: { parentPath: string }): boolean {
  return parentPath.startsWith(join(configDirectory, 'helm'));
}

/** What a program has rendered. */
export function parseManifests(text: string): readonly Manifest[] {
  const documents = parseAllDocuments(text);
  if ('empty' in documents) return [];
  return documents.map((document) => document.toJS() as Manifest | null).filter((manifest) => manifest !== null);
}

/** Such as `Service moco-rollout-system/moco-rollout-webhook`. */
export function nameOf({ kind, metadata }: Pick<Manifest, 'kind' | 'metadata'>): string {
  return `${kind} ${metadata.namespace ?? ''}/${metadata.name}`;
}

async function parseFile(path: string): Promise<readonly Manifest[]> {
  const documents = parseAllDocuments(await readFile(path, 'utf8'), { uniqueKeys: true, strict: true });
  if ('empty' in documents) return [];
  return documents.map((document) => {
    for (const error of [...document.errors, ...document.warnings]) throw new Error(`${path}: ${error.message}`);
    return { ...(document.toJS() as Manifest), file: path.slice(configDirectory.length + 1) };
  });
}

/** Helm creates a hook when its time comes, and deletes it afterwards. */
export function isHook({ metadata }: Pick<Manifest, 'metadata'>): boolean {
  return metadata.annotations?.['helm.sh/hook'] !== undefined;
}

/** The one object of a kind, or of a kind and a name, whatever else there is. */
export async function readOne(kind: string, directory = '', name?: string): Promise<Manifest> {
  const manifests = (await readManifests(directory)).filter(
    (manifest) => manifest.kind === kind && (name === undefined || manifest.metadata.name === name),
  );
  const [manifest] = manifests;
  if (manifest === undefined || manifests.length > 1) throw new Error(`Expected one ${kind}, got ${manifests.length}`);
  return manifest;
}
