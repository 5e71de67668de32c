import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import * as fc from 'fast-check';
import { type Json, object, objects } from '../../../src/base/json.ts';
import { neverInPlace } from '../../../src/core/in-place-changes.ts';
import { type Comparison, compare } from '../../../src/moco/in-place/compare.ts';
import { withPodDefaults } from '../../../src/moco/in-place/pod-defaults.ts';
import { at, changed, put, sample } from '../../support/pod-template/edit.ts';
import {
  type Field,
  fieldsOf,
  fieldsWithin,
  newIn137,
  type Path,
  podTemplate,
} from '../../support/pod-template/fields.ts';
import { propertyParameters } from '../../support/property-parameters.ts';
import { podOf } from './live-pod.ts';

const container = (name: string, image: string): Json => ({
  name,
  image: `example/${image}`,
  resources: { limits: { cpu: '1' }, requests: { cpu: '500m', memory: '1Gi' } },
});

const template: Json = {
  metadata: { labels: { one: 'a' }, annotations: { one: 'a' } },
  spec: {
    initContainers: [container('copy', 'agent:1'), container('init', 'init:1')],
    containers: [container('agent', 'agent:1'), container('mysqld', 'mysql:1'), container('slow-log', 'slow:1')],
    volumes: [{ name: 'data' }, { name: 'run' }],
  },
};

/** The first container is one that may restart with another image. */
const settings = { ...neverInPlace, metadata: ['one'] };
const fields = fieldsWithin(podTemplate).filter(({ path }) => path.length > 0);

function updateOf(before: Json, after: Json): Comparison {
  return compare(podOf(before), { before: withPodDefaults(before), after: withPodDefaults(after) }, settings);
}

/** What is changed in place makes the old pod what the new template would have created; or the pod is replaced. */
function expectTrue(before: Json, after: Json): Comparison {
  const update = updateOf(before, after);
  if (update.kind === 'possible') {
    expect(changed(withPodDefaults(before), update.change)).to.deep.equal(withPodDefaults(after));
  }
  return update;
}

const given = (base: Json, path: Path, value: unknown): Json => object(put(base, path, value));

/** Pairs of templates that differ by one field. */
const pairs: Readonly<Record<string, (field: Field) => readonly [before: Json, after: Json] | null>> = {
  'has another value': ({ path, type }) => [
    given(template, path, sample(type, 0)),
    given(template, path, sample(type, 1)),
  ],
  'is new': ({ path, type }) => [given(template, path, undefined), given(template, path, sample(type, 0))],
  'is empty': ({ path, type }) => {
    if (type.kind === 'text' || type.kind === 'number' || type.kind === 'boolean') return null;
    return [given(template, path, undefined), given(template, path, type.kind === 'list' ? [] : {})];
  },
  'has another order': ({ path, type }) => {
    if (type.kind !== 'list') return null;
    const items = [sample(type.of, 0), sample(type.of, 1)];
    return [given(template, path, items), given(template, path, items.toReversed())];
  },
  'has an unknown field': ({ path, type }) => {
    const before = given(template, path, at(template, path) ?? sample(type, 0));
    return type.kind === 'object' ? [before, given(before, [...path, 'ofALaterKubernetes'], true)] : null;
  },
};

/** The fields of which it is enough to change the running pod, or that say nothing. */
const inPlace: Readonly<Record<string, readonly string[]>> = {
  'has another value': [
    'metadata.annotations',
    'metadata.annotations.one',
    'metadata.labels',
    'metadata.labels.one',
    'spec.containers.0.image',
  ],
  'is new': [
    'metadata.annotations',
    'metadata.annotations.one',
    'metadata.labels',
    'metadata.labels.one',
    // The sample is the default.
    'spec.enableServiceLinks',
  ],
  'is empty': [
    'metadata',
    'metadata.annotations',
    'metadata.labels',
    'spec',
    'spec.containers',
    ...['containers', 'initContainers'].flatMap((list) => [
      ...(list === 'containers' ? [] : [`spec.${list}`]),
      ...['env', 'ports', 'resources', 'resources.limits', 'resources.requests'].map((one) => `spec.${list}.0.${one}`),
    ]),
    'spec.securityContext',
    'spec.volumes',
    'spec.volumes.0.projected.sources',
  ],
};

describe('a field of a pod template', () => {
  it('of Kubernetes 1.37 that client-node does not know is listed in a table', () => {
    for (const [type, names] of Object.entries(newIn137)) {
      expect(fieldsOf(type), `drop what client-node knows from the table: ${type}`).not.to.have.any.keys(names);
    }
    expect(fields.length).to.be.greaterThan(1300);
  });

  for (const [what, pairOf] of Object.entries(pairs)) {
    it(`that ${what} needs another pod, or the change in place makes the pod of the new template`, () => {
      const possible: string[] = [];
      for (const field of fields) {
        const [before, after] = pairOf(field) ?? [];
        if (before === undefined || after === undefined || isDeepStrictEqual(before, after)) continue;
        if (expectTrue(before, after).kind === 'possible') possible.push(field.path.join('.'));
      }
      expect(possible).to.deep.equal(inPlace[what] ?? []);
    });
  }
});

/** Without a value the list there is reversed. */
interface Edit {
  readonly path: Path;
  readonly value?: unknown;
}

const anyPut: fc.Arbitrary<Edit> = fc
  .tuple(fc.constantFrom(...fields), fc.nat(3))
  .map(([{ path, type }, number]) => ({ path, value: number === 0 ? undefined : sample(type, number) }));

const anyReversal: fc.Arbitrary<Edit> = fc
  .constantFrom(...fields.filter(({ type }) => type.kind === 'list'))
  .map(({ path }) => ({ path }));

function edited(base: Json, edits: readonly Edit[]): Json {
  return edits.reduce((one, { path, ...edit }) => {
    if ('value' in edit) return given(one, path, edit.value);
    const list = at(one, path);
    return Array.isArray(list) ? given(one, path, list.toReversed()) : one;
  }, base);
}

const namesContainers = ({ spec }: Json): boolean =>
  ['containers', 'initContainers'].every((list) =>
    objects(object(spec)[list]).every(({ name }) => typeof name === 'string'),
  );

const changeable: readonly Path[] = [
  ...[0, 1, 2].flatMap((index) => [
    ['spec', 'containers', index, 'image'],
    ['spec', 'containers', index, 'resources', 'limits', 'cpu'],
    ['spec', 'containers', index, 'resources', 'requests', 'memory'],
    ['spec', 'initContainers', Math.min(index, 1), 'image'],
  ]),
  ['metadata', 'labels', 'one'],
  ['metadata', 'annotations', 'other'],
];

const anyChange: fc.Arbitrary<Edit> = fc
  .tuple(fc.constantFrom(...changeable), fc.constantFrom('example/agent:1', 'example/agent:2', '2', '4'))
  .map(([path, value]) => ({ path, value }));

describe('two pod templates', () => {
  it('are as far apart as another pod, or the change in place makes the pod of the second one', () => {
    let changes = 0;
    fc.assert(
      fc.property(
        fc.array(anyPut, { maxLength: 8 }),
        fc.array(fc.oneof(anyChange, anyReversal, { weight: 1, arbitrary: anyPut }), { minLength: 1, maxLength: 3 }),
        (first, then) => {
          const before = edited(template, first);
          const after = edited(before, then);
          // The API server takes no container without a name.
          fc.pre([before, after].every(namesContainers));
          if (expectTrue(before, after).kind === 'possible') changes++;
        },
      ),
      propertyParameters(2000),
    );
    expect(changes).to.be.greaterThan(100);
  });
});
