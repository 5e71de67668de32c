import { expect } from 'chai';
import type { Json } from '../../src/base/json.ts';
import { leavingReason, usualSigns } from '../../src/moco/node-maintenance.ts';
import { refusalsOf } from '../../src/moco/nodes.ts';

const node = (
  spec: object = {},
  conditions: Readonly<Record<string, string>> = {},
  annotations: Readonly<Record<string, string>> = {},
): Json => ({
  metadata: { name: 'n-1', annotations },
  spec,
  status: { conditions: Object.entries({ Ready: 'True', ...conditions }).map(([type, status]) => ({ type, status })) },
});
const tainted = (key: string, effect = 'NoSchedule'): Json => node({ taints: [{ key, effect }] });

describe('a node that is being taken out of service', () => {
  const leaving: readonly (readonly [what: string, node: Json, why: string])[] = [
    ['cordoned', node({ unschedulable: true }), 'is cordoned'],
    ['disrupted by Karpenter', tainted('karpenter.sh/disrupted'), 'has the taint karpenter.sh/disrupted'],
    [
      'removed by Cluster Autoscaler',
      tainted('ToBeDeletedByClusterAutoscaler'),
      'has the taint ToBeDeletedByClusterAutoscaler',
    ],
    [
      'out of service',
      tainted('node.kubernetes.io/out-of-service', 'NoExecute'),
      'has the taint node.kubernetes.io/out-of-service',
    ],
    ['about to be maintained', node({}, { MaintenancePlanned: 'True' }), 'is about to be maintained'],
    ['under maintenance', node({}, { MaintenanceInProgress: 'True' }), 'is under maintenance'],
    ['being drained', node({}, { DrainInProgress: 'True' }), 'is being drained'],
    ['shutting down', node({}, { GracefulNodeShutdownInProgress: 'True' }), 'is shutting down'],
    ['drained', node({}, { Drained: 'True' }), 'is drained'],
    [
      'drained, by a condition that counts more than a cordon',
      node({ unschedulable: true }, { DrainInProgress: 'True' }),
      'is being drained',
    ],
  ];
  for (const [what, one, why] of leaving) {
    it(`is ${what}`, () => expect(leavingReason(one, usualSigns)).to.equal(why));
  }

  const staying: readonly (readonly [what: string, node: Json | null])[] = [
    ['fine', node()],
    ['gone', null],
    ['not ready', node({}, { Ready: 'False' })],
    ['without network', node({}, { NetworkUnavailable: 'True' })],
    ['under pressure', node({}, { DiskPressure: 'True', MemoryPressure: 'True' })],
    ['unreachable', tainted('node.kubernetes.io/unreachable', 'NoExecute')],
    ['a candidate of Cluster Autoscaler', tainted('DeletionCandidateOfClusterAutoscaler', 'PreferNoSchedule')],
    ['no longer being drained', node({}, { DrainInProgress: 'False' })],
    ['uncordoned', node({ unschedulable: false })],
  ];
  for (const [what, one] of staying) {
    it(`is none that is ${what}`, () => expect(leavingReason(one, usualSigns)).to.equal(null));
  }

  it('has a taint or an annotation from the lists', () => {
    const signs = { taints: ['example.com/leaving'], annotations: ['example.com/drain', 'example.com/state=drain'] };
    expect(leavingReason(tainted('example.com/leaving'), signs)).to.equal('has the taint example.com/leaving');
    expect(leavingReason(tainted('karpenter.sh/disrupted'), signs)).to.equal(null);
    const annotated = (annotations: Readonly<Record<string, string>>) =>
      leavingReason(node({}, {}, annotations), signs);
    expect(annotated({ 'example.com/drain': '' })).to.equal('has the annotation example.com/drain');
    expect(annotated({ 'example.com/state': 'drain' })).to.equal('has the annotation example.com/state=drain');
    expect(annotated({ 'example.com/state': 'idle' })).to.equal(null);
  });

  it('is described with at most 100 characters of the key', () => {
    const key = 'k'.repeat(317);
    expect(leavingReason(tainted(key), { taints: [key], annotations: [] })).to.equal(
      `has the taint ${'k'.repeat(99)}…`,
    );
  });

  it('still takes pods while maintenance is only planned', () => {
    expect(refusalsOf(node({}, { MaintenancePlanned: 'True' }), [])).to.deep.equal([]);
  });
});
