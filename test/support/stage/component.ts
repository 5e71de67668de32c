import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import type { Stage } from './stage.ts';

interface Component {
  readonly resources: readonly string[];
  readonly patches: readonly {
    readonly target: { readonly kind: string; readonly name: string };
    readonly patch: string;
  }[];
}

/** The patches apply once. */
const installed = new WeakMap<Stage['controlPlane'], Set<string>>();

/** Installs a component of `config` beside what is installed already. */
export async function installComponent({ controlPlane }: Pick<Stage, 'controlPlane'>, name: string): Promise<void> {
  const names = installed.get(controlPlane) ?? new Set();
  installed.set(controlPlane, names);
  if (names.has(name)) return;
  names.add(name);
  const directory = fileURLToPath(new URL(`../../../config/${name}`, import.meta.url));
  const { resources, patches } = parse(await readFile(join(directory, 'Kustomization'), 'utf8')) as Component;
  await controlPlane.apply(...resources.map((file) => join(directory, file)));
  for (const { target, patch } of patches) {
    await controlPlane.kubectl('patch', target.kind, target.name, '--type=json', '-p', JSON.stringify(parse(patch)));
  }
}
