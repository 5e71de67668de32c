import { expect } from 'chai';
import type { Json } from '../../src/base/json.ts';
import { barriersOf } from '../../src/moco/placement.ts';
import { unjudgedPlacement } from '../../src/moco/placement-limits.ts';

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

/** A template with as many constraints as are compared with nodes. */
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

interface Line {
  readonly work: (reads: Reads) => unknown;
  readonly most: number;
}

const lines: Readonly<Record<string, Line>> = {
  'the labels of nodes, for each constraint of the next pod': {
    work: (reads) => place(constrained(map(constraints, 'v')), () => reads.of(map(constraints, 'v'))),
    // The node selector, the domains that count, and whether each of both kinds of constraints allows the node.
    most: nodes * constraints * 4 + 24 * constraints * 2,
  },
  'the node selector of a template, for each constraint and node': {
    work: (reads) => place(constrained(reads.of(map(constraints, 'v'))), () => map(constraints, 'v')),
    most: constraints * 2,
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

  it('is that of templates which are compared with nodes', () => {
    expect(unjudgedPlacement(constrained(map(constraints, 'v')), { tolerations: 64, volumes: 64 })).to.equal(null);
  });
});
