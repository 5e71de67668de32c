import { basename, join } from 'node:path';
import { expect } from 'chai';
import manifest from '../../package.json' with { type: 'json' };
import { narrowed } from './additive-crd.ts';
import { configDirectory } from './manifests.ts';
import {
  type Definition,
  previousDefinitions,
  previousVersion,
  readDefinition,
  type Schema,
} from './previous-release.ts';

const minor = (version: string): string => version.split('.').slice(0, 2).join('.');

/** A CRD with one schema for its one version. */
function definition(schema: Schema): Definition {
  const versions = [{ name: 'v1', served: true, schema: { openAPIV3Schema: schema }, subresources: { status: {} } }];
  return { metadata: { name: 'things' }, spec: { scope: 'Namespaced', names: { kind: 'Thing' }, versions } };
}

const object = (properties: Record<string, Schema>, more: object = {}): Schema => ({
  type: 'object',
  properties,
  ...more,
});
const text = (more: object = {}): Schema => ({ type: 'string', ...more });

describe('the CRDs', () => {
  it('have all that those of the previous release had, and nothing that is narrower', async () => {
    const paths = await previousDefinitions();
    expect(paths).to.have.length(2);
    for (const path of paths) {
      const after = await readDefinition(join(configDirectory, 'crd', basename(path)));
      expect(narrowed(await readDefinition(path), after), basename(path)).to.deep.equal([]);
    }
  });

  it('are held against a release that is this one or the one before', async () => {
    const before = await previousVersion();
    expect([minor(before), `${minor(before).split('.')[0]}.${Number(minor(before).split('.')[1]) + 1}`]).to.include(
      minor(manifest.version),
    );
  });

  const narrower: Readonly<Record<string, readonly [before: Schema, after: Schema]>> = {
    'a field that is gone': [object({ a: text() }), object({})],
    'one deep inside': [
      object({ a: { type: 'array', items: object({ b: text() }) } }),
      object({ a: { type: 'array', items: object({}) } }),
    ],
    'one of a map': [
      object({}, { additionalProperties: object({ b: text() }) }),
      object({}, { additionalProperties: object({}) }),
    ],
    'another type': [object({ a: text() }), object({ a: { type: 'integer' } })],
    'a field that is required from now on': [object({ a: text() }), object({ a: text() }, { required: ['a'] })],
    'a value that is no longer allowed': [
      object({ a: text({ enum: ['x', 'y'] }) }),
      object({ a: text({ enum: ['x'] }) }),
    ],
    'values where any was allowed': [object({ a: text() }), object({ a: text({ enum: ['x'] }) })],
    'a lower limit': [object({ a: text({ maxLength: 9 }) }), object({ a: text({ maxLength: 8 }) })],
    'a limit where there was none': [object({ a: text() }), object({ a: text({ minLength: 1 }) })],
    'another pattern': [object({ a: text({ pattern: 'x' }) }), object({ a: text({ pattern: 'y' }) })],
    'one more rule': [object({}), object({}, { 'x-kubernetes-validations': [{ rule: 'false' }] })],
  };
  for (const [what, [before, after]] of Object.entries(narrower)) {
    it(`would be found to be narrower by ${what}`, () => {
      expect(narrowed(definition(before), definition(after))).to.have.length(1);
      expect(narrowed(definition(before), definition(before))).to.deep.equal([]);
    });
  }

  it('would be found to be narrower by a version that is not served any more, or by other names', () => {
    const before = definition(object({}));
    const [version] = before.spec.versions;
    const unserved = { ...before, spec: { ...before.spec, versions: [{ ...version, served: false }] } } as Definition;
    expect(narrowed(before, unserved)).to.deep.equal(['v1 is no longer served']);
    expect(narrowed(before, { ...before, spec: { ...before.spec, scope: 'Cluster' } })).to.have.length(1);
  });

  it('may have more fields, more values and wider limits', () => {
    const before = object({ a: text({ enum: ['x'] }), b: text({ maxLength: 1 }) }, { required: ['a'] });
    const after = object({ a: text({ enum: ['x', 'y'] }), b: text({ maxLength: 2 }), c: text() });
    expect(narrowed(definition(before), definition(after))).to.deep.equal([]);
  });
});
