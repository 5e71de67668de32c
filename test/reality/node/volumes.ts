import { chown, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Pod } from '../../support/nodes/objects.ts';
import { containerUser } from './container-process.ts';
import type { Content, ObjectsOfPods } from './objects-of-pods.ts';
import { type FileSource, specOf, type Volume } from './pod-spec.ts';

/** Where the volumes of a pod are on this machine, by their names. */
export type VolumePaths = ReadonlyMap<string, string>;

export interface VolumesOptions {
  readonly pod: Pod;
  /** Of the pod alone; goes with it. */
  readonly directory: string;
  /** Where claims are kept, a directory each. */
  readonly claims: string;
  readonly objects: ObjectsOfPods;
  /** The content that a file of a ConfigMap is to have instead. */
  readonly fileOfConfigMap: (name: string, content: Buffer) => Buffer;
}

/** Makes a pod's volumes. Rejects while a Secret or a ConfigMap is missing; what was made stays. */
export async function makeVolumes(options: VolumesOptions): Promise<VolumePaths> {
  const paths = new Map<string, string>();
  for (const volume of specOf(options.pod).volumes ?? []) paths.set(volume.name, await makeVolume(volume, options));
  return paths;
}

/** The directory behind a claim. */
export function claimDirectory(claims: string, namespace: string, name: string): string {
  return join(claims, `${namespace}_${name}`);
}

async function makeVolume(volume: Volume, options: VolumesOptions): Promise<string> {
  const { pod, claims, directory, objects, fileOfConfigMap } = options;
  const { namespace } = pod.metadata;
  const { persistentVolumeClaim, configMap, secret, projected, emptyDir } = volume;
  if (persistentVolumeClaim !== undefined) {
    return owned(claimDirectory(claims, namespace, persistentVolumeClaim.claimName));
  }
  const path = await owned(join(directory, volume.name));
  const fromConfigMap = async (source: FileSource): Promise<void> => {
    const content = await objects.configMap(namespace, source.name ?? '', source.optional);
    const changed = Object.entries(content).map(([name, bytes]) => [name, fileOfConfigMap(name, bytes)]);
    await put(path, Object.fromEntries(changed) as Content, source);
  };
  const fromSecret = async (source: FileSource): Promise<void> =>
    put(path, await objects.secret(namespace, source.secretName ?? source.name ?? '', source.optional), source);
  if (configMap !== undefined) await fromConfigMap(configMap);
  else if (secret !== undefined) await fromSecret(secret);
  else if (projected !== undefined) {
    for (const source of projected.sources ?? []) {
      if (source.configMap !== undefined) await fromConfigMap(source.configMap);
      if (source.secret !== undefined) await fromSecret(source.secret);
    }
  } else if (emptyDir === undefined) {
    throw new Error(`Expected a kind of volume that MOCO's pods have, got ${JSON.stringify(volume)}`);
  }
  return path;
}

/** Every key as a file, or those of `items` under their paths. */
async function put(directory: string, content: Content, { items }: FileSource): Promise<void> {
  const wanted = items ?? Object.keys(content).map((key) => ({ key, path: key }));
  for (const { key, path } of wanted) {
    const bytes = content[key];
    if (bytes === undefined)
      throw new Error(`Expected a key ${key}, found ${Object.keys(content).join(', ') || 'none'}`);
    const file = join(directory, path);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, bytes);
    await chown(file, containerUser, containerUser);
  }
}

async function owned(path: string): Promise<string> {
  await mkdir(path, { recursive: true });
  await chown(path, containerUser, containerUser);
  return path;
}

/** Leaves the directory of a claim empty, as a new volume is. */
export async function emptyClaim(claims: string, namespace: string, name: string): Promise<void> {
  const path = await owned(claimDirectory(claims, namespace, name));
  for (const entry of await readdir(path)) await rm(join(path, entry), { recursive: true, force: true });
}
