import { expect } from 'chai';
import type { Json } from '../../src/base/json.ts';
import { neverInPlace } from '../../src/core/in-place-changes.ts';
import { alteredFields } from '../../src/moco/applied-fields.ts';
import { compare } from '../../src/moco/in-place/compare.ts';
import { barriersOf } from '../../src/moco/placement.ts';
import { unjudgedPlacement } from '../../src/moco/placement-limits.ts';
import { templateDifferences } from '../../src/moco/template-changes.ts';
import { podOf } from './in-place/live-pod.ts';

// Counts how often code reads fields of the largest objects that it may get from a tenant. Code that reads each part of
// an object for every other part could block the process. Times are not measured, because they depend on the machine.

/** Counts the reads of fields. */
class Reads {
  count = 0;

  /** The object, with each read of one of its fields counted. */
  of(fields: Json): Json {
    return new Proxy(fields, {
      get: (target, name) => {
        this.count += 1;
        return Reflect.get(target, name) as unknown;
      },
    });
  }
}

const many = <One>(count: number, one: (index: number) => One): readonly One[] =>
  Array.from({ length: count }, (_, index) => one(index));
const map = (count: number, value: string): Json => Object.fromEntries(many(count, (index) => [`key-${index}`, value]));
const required = (value: unknown): Json => ({ requiredDuringSchedulingIgnoredDuringExecution: value });

const [constraints, nodes] = [64, 500];

/** A template with the maximum number of constraints that are compared with nodes. */
const constrained = (nodeSelector: Json): Json => ({
  spec: {
    nodeSelector,
    tolerations: many(constraints, () => ({ key: 'a', operator: 'Exists' })),
    affinity: { podAntiAffinity: required(many(constraints, (index) => ({ topologyKey: `key-${index % 9}` }))) },
    topologySpreadConstraints: many(constraints, (index) => ({
      topologyKey: `key-${index % 9}`,
      whenUnsatisfiable: 'DoNotSchedule',
      nodeTaintsPolicy: 'Honor',
    })),
  },
});

function place(template: Json, labels: (index: number) => Json): void {
  const all = many(nodes, (index) => ({ metadata: { name: `n-${index}`, labels: labels(index) } }));
  const others = many(24, (index) => ({ name: `p-${index}`, node: `n-${index}`, labels: {}, terminating: false }));
  const barriers = barriersOf(template, 'new', 'default', others, all);
  for (const node of all) for (const { allows } of barriers) allows(node);
}

const nested = (depth: number, leaf: Json): Json => (depth === 0 ? leaf : { a: nested(depth - 1, leaf) });

interface Line {
  readonly work: (reads: Reads) => unknown;
  readonly most: number;
}

const variables = 2_000;

const lines: Readonly<Record<string, Line>> = {
  'the labels of nodes, for each constraint of the next pod': {
    work: (reads) => place(constrained(map(constraints, 'v')), () => reads.of(map(constraints, 'v'))),
    // The node selector, the domains that count, and whether each constraint of both kinds allows the node.
    most: nodes * constraints * 4 + 24 * constraints * 2,
  },
  'the node selector of a template, for each constraint and node': {
    work: (reads) => place(constrained(reads.of(map(constraints, 'v'))), () => map(constraints, 'v')),
    most: constraints * 2,
  },
  'the variables of a container, for each that MOCO owns': {
    work: (reads) => {
      const env = (): readonly Json[] => many(variables, (index) => reads.of({ name: `n-${index}` }));
      const spec = (): Json => ({ containers: [{ name: 'side', env: env() }] });
      const ofEnv = Object.fromEntries(
        many(variables, (index) => [`k:${JSON.stringify({ name: `n-${index}` })}`, { 'f:name': {} }]),
      );
      const owned = { 'f:containers': { 'k:{"name":"side"}': { 'f:env': ofEnv } } };
      const fieldsV1 = { 'f:spec': { 'f:template': { 'f:spec': owned } } };
      const managedFields = [{ manager: 'moco-controller', operation: 'Apply', fieldsV1 }];
      const statefulSet = { metadata: { managedFields }, spec: { template: { spec: spec() } } };
      expect(alteredFields({ spec: { podTemplate: { spec: spec() } } }, statefulSet)).to.deep.equal([]);
    },
    most: variables * 6,
  },
  'the spec of a pod, for each annotation that changes': {
    work: (reads) => {
      const env = [{ name: 'a', valueFrom: { fieldRef: reads.of({ fieldPath: 'spec.nodeName' }) } }];
      const template = (value: string): Json => ({
        metadata: { labels: {}, annotations: map(256, value) },
        spec: { containers: [{ name: 'mysqld', image: 'mysql:1', env }] },
      });
      const [before, after] = [template('a'), template('b')];
      const settings = { ...neverInPlace, metadata: ['key-*'] };
      expect(compare(podOf(template('a')), { before, after }, settings).kind).to.equal('possible');
    },
    most: 20,
  },
  'a value deep in a template, for each level above it': {
    work: (reads) => templateDifferences(nested(500, reads.of({ a: 1 })), nested(500, reads.of({ a: 2 }))),
    most: 200,
  },
};

describe('the work for the largest objects of a tenant', () => {
  it('is proportional to its size', () => {
    for (const [what, { work, most }] of Object.entries(lines)) {
      const reads = new Reads();
      work(reads);
      expect(reads.count, what).to.be.greaterThan(0).and.at.most(most);
    }
  });

  it('is measured on templates that are compared with nodes', () => {
    expect(unjudgedPlacement(constrained(map(constraints, 'v')), { tolerations: 64, volumes: 64 })).to.equal(null);
  });
});
