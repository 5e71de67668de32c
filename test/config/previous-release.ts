import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import type { RolloutStatus } from '../../src/controller/rollout-resource.ts';

const directory = fileURLToPath(new URL('../cluster/previous-release/', import.meta.url));

export interface Definition {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly scope: string;
    readonly names: Readonly<Record<string, unknown>>;
    readonly versions: readonly {
      readonly name: string;
      readonly served: boolean;
      readonly schema: { readonly openAPIV3Schema: Schema };
      readonly subresources?: Readonly<Record<string, unknown>>;
    }[];
  };
}

/** As much of a CRD's OpenAPI schema as the project's own ones use. */
export interface Schema {
  readonly type?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly [keyword: string]: unknown;
}

/** The version whose directory there is. */
export async function previousVersion(): Promise<string> {
  const versions = (await readdir(directory, { withFileTypes: true })).filter((entry) => entry.isDirectory());
  const [version] = versions;
  if (version === undefined || versions.length > 1) {
    throw new Error(`expected one version in test/cluster/previous-release, got ${versions.length}`);
  }
  return version.name;
}

/** Paths of its CRDs. */
export async function previousDefinitions(): Promise<readonly string[]> {
  const path = `${directory}${await previousVersion()}/`;
  return (await readdir(path)).filter((file) => file.endsWith('.yaml')).map((file) => path + file);
}

/** What it has written into `status`, by what was going on. */
export async function previousStatuses(): Promise<Readonly<Record<string, RolloutStatus>>> {
  return JSON.parse(await readFile(`${directory}${await previousVersion()}/statuses.json`, 'utf8')) as Readonly<
    Record<string, RolloutStatus>
  >;
}

export async function readDefinition(path: string): Promise<Definition> {
  return parse(await readFile(path, 'utf8')) as Definition;
}
