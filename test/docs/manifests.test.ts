import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse, parseAllDocuments } from 'yaml';
import { documents, fencesOf, root } from './markdown.ts';

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
  readonly items?: Schema;
}

interface Definition {
  readonly spec: {
    readonly names: { readonly kind: string };
    readonly versions: readonly { readonly schema: { readonly openAPIV3Schema: Schema } }[];
  };
}

/** The schema of the newest version, by kind. */
async function schemas(): Promise<ReadonlyMap<string, Schema>> {
  const found = new Map<string, Schema>();
  for await (const path of glob('config/crd/*.yaml', { cwd: root })) {
    const { spec }: Definition = parse(await readFile(join(root, path), 'utf8'));
    const schema = spec.versions.at(-1)?.schema.openAPIV3Schema;
    if (schema !== undefined) found.set(spec.names.kind, schema);
  }
  return found;
}

/** Paths of the fields of a value that its schema does not declare. */
function undeclared(value: unknown, schema: Schema | undefined, path: string): readonly string[] {
  if (schema === undefined) return [path];
  if (Array.isArray(value)) return value.flatMap((one, index) => undeclared(one, schema.items, `${path}[${index}]`));
  if (typeof value !== 'object' || value === null) return [];
  // An object without declared fields, such as metadata, takes any.
  if (schema.properties === undefined && schema.additionalProperties === undefined) return [];
  return Object.entries(value).flatMap(([field, inner]) =>
    undeclared(inner, schema.properties?.[field] ?? schema.additionalProperties, `${path}.${field}`),
  );
}

interface Manifest {
  readonly apiVersion?: unknown;
  readonly kind?: string;
}

describe('a manifest in a document', () => {
  it('has only fields that its CRD declares', async () => {
    const byKind = await schemas();
    const found: string[] = [];
    let count = 0;
    for (const { path, text } of await documents()) {
      const blocks = fencesOf(text).filter(({ language }) => language === 'yaml');
      const manifests = blocks.flatMap(({ lines }) => parseAllDocuments(lines.join('\n')).map((one) => one.toJS()));
      for (const manifest of manifests as readonly (Manifest | null)[]) {
        if (!String(manifest?.apiVersion).startsWith('moco-rollout.io/')) continue;
        count += 1;
        const kind = manifest?.kind ?? '';
        found.push(...undeclared(manifest, byKind.get(kind), `${path}: ${kind}`));
      }
    }
    expect(found).to.deep.equal([]);
    expect(count).to.be.greaterThan(5);
  });
});
