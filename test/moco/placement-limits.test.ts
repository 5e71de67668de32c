import { expect } from 'chai';
import type { Json } from '../../src/base/json.ts';
import { type PodConstraints, unjudgedPlacement } from '../../src/moco/placement-limits.ts';

const many = <One>(count: number, one: (index: number) => One): readonly One[] =>
  Array.from({ length: count }, (_, index) => one(index));
const map = (count: number): Json => Object.fromEntries(many(count, (index) => [`key-${index}`, 'value']));
const texts = (count: number): readonly string[] => many(count, String);
const required = (value: unknown): Json => ({ requiredDuringSchedulingIgnoredDuringExecution: value });
const nodeAffinity = (terms: readonly Json[]): Json => ({
  affinity: { nodeAffinity: required({ nodeSelectorTerms: terms }) },
});
const apart = (...terms: readonly Json[]): Json => ({ affinity: { podAntiAffinity: required(terms) } });
const spread = (...constraints: readonly Json[]): Json => ({ topologySpreadConstraints: constraints });
const exists = (count: number): readonly Json[] =>
  many(count, (index) => ({ key: `key-${index}`, operator: 'Exists' }));

interface Line {
  readonly most: number;
  /** The spec of a template with this many constraints of the kind. */
  readonly spec?: (count: number) => Json;
  readonly pod?: (count: number) => Partial<PodConstraints>;
}

const selectors =
  'requirements in the label selectors of podAntiAffinity and topologySpreadConstraints in the pod template';
const values = 'values and namespaces in the affinity and topologySpreadConstraints of the pod template';

/** The keys are the words for people. To test a kind twice, its second key has trailing blanks. */
const lines: Readonly<Record<string, Line>> = {
  'tolerations in the pod template': {
    most: 64,
    spec: (count) => ({ tolerations: many(count, () => ({ operator: 'Exists' })) }),
  },
  'tolerations in the pod': { most: 64, pod: (tolerations) => ({ tolerations }) },
  'volumes with a claim in the pod': { most: 64, pod: (volumes) => ({ volumes }) },
  'labels in the nodeSelector of the pod template': { most: 64, spec: (count) => ({ nodeSelector: map(count) }) },
  'required nodeSelectorTerms in the pod template': {
    most: 64,
    spec: (count) => nodeAffinity(many(count, () => ({}))),
  },
  'required node affinity expressions in the pod template': {
    most: 64,
    spec: (count) => nodeAffinity([{ matchExpressions: exists(60) }, { matchFields: exists(count - 60) }]),
  },
  'required podAntiAffinity terms in the pod template': {
    most: 64,
    spec: (count) => apart(...many(count, () => ({ topologyKey: 'zone' }))),
  },
  'topologySpreadConstraints in the pod template': {
    most: 64,
    spec: (count) => spread(...many(count, () => ({ topologyKey: 'zone' }))),
  },
  [selectors]: {
    most: 64,
    spec: (count) => ({
      ...apart({ labelSelector: { matchLabels: map(30) }, mismatchLabelKeys: texts(2) }),
      ...spread({ labelSelector: { matchExpressions: exists(30) }, matchLabelKeys: texts(count - 62) }),
    }),
  },
  [values]: {
    most: 256,
    spec: (count) => ({
      ...apart({ namespaces: texts(100) }),
      ...spread({ labelSelector: { matchExpressions: [{ key: 'a', operator: 'In', values: texts(count - 100) }] } }),
    }),
  },
  [`${values} `]: {
    most: 256,
    spec: (count) => nodeAffinity([{ matchExpressions: [{ key: 'a', operator: 'In', values: texts(count) }] }]),
  },
};

describe('the constraints of a next pod', () => {
  it('are judged up to the limit, and not beyond it', () => {
    for (const [what, { most, spec = () => ({}), pod = () => ({}) }] of Object.entries(lines)) {
      const judge = (count: number) =>
        unjudgedPlacement({ spec: spec(count) }, { tolerations: 0, volumes: 0, ...pod(count) });
      expect(judge(most), what).to.equal(null);
      expect(judge(most + 1), what).to.deep.equal({ what: what.trim(), most, got: most + 1 });
    }
  });

  it('are judged without any', () => {
    expect(unjudgedPlacement({}, { tolerations: 0, volumes: 0 })).to.equal(null);
  });
});
