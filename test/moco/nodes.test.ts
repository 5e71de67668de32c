import { expect } from 'chai';
import type { Json } from '../../src/base/json.ts';
import { matches, refusalsOf, tieOfVolume, tiesOf } from '../../src/moco/nodes.ts';

const node = (spec: object = {}, conditions: Readonly<Record<string, string>> = { Ready: 'True' }): Json => ({
  metadata: { name: 'n-1', labels: { 'kubernetes.io/hostname': 'n-1', zone: 'a', cores: '8' } },
  spec,
  status: { conditions: Object.entries(conditions).map(([type, status]) => ({ type, status })) },
});
const taint = (effect: string, key = 'dedicated', value = 'batch') => ({ key, value, effect });
const exists = (key: string, effect?: string) => ({ key, operator: 'Exists', ...(effect !== undefined && { effect }) });

describe('a node', () => {
  it('accepts pods unless something prevents it', () => {
    expect(refusalsOf(node(), [])).to.deep.equal([]);
    expect(refusalsOf(node({ taints: [taint('PreferNoSchedule')] }), [])).to.deep.equal([]);
  });

  it('accepts none if it is gone, cordoned, drained, tainted, not ready or under pressure', () => {
    expect(refusalsOf(null, [])).to.deep.equal(['is gone']);
    expect(refusalsOf(node({ unschedulable: true }), [])).to.deep.equal(['is cordoned']);
    expect(refusalsOf(node({}, { Ready: 'True', DrainInProgress: 'True' }), [])).to.deep.equal(['is being drained']);
    for (const effect of ['NoSchedule', 'NoExecute']) {
      expect(refusalsOf(node({ taints: [taint(effect)] }), [])).to.deep.equal([
        `has the taint dedicated=batch:${effect}`,
      ]);
    }
    expect(refusalsOf(node({ taints: [taint('NoSchedule', 'alone', '')] }), [])).to.deep.equal([
      'has the taint alone:NoSchedule',
    ]);
    expect(refusalsOf(node({}, { Ready: 'Unknown' }), [])).to.deep.equal(['is not ready']);
    const pressed = { Ready: 'True', MemoryPressure: 'True', DiskPressure: 'True', PIDPressure: 'True' };
    expect(refusalsOf(node({}, pressed), [])).to.have.length(3);
    expect(refusalsOf(node({}, { Ready: 'True', NetworkUnavailable: 'True' }), [])).to.deep.equal(['has no network']);
    expect(refusalsOf(node({}, {}), []), 'its kubelet has never reported').to.deep.equal(['is not ready']);
    const outOfService = [taint('NoExecute', 'node.kubernetes.io/out-of-service', '')];
    expect(refusalsOf(node({ taints: outOfService }), [])).to.have.length(1);
  });

  it('names a condition once, although the node controller taints the node for it', () => {
    const taints = [taint('NoSchedule', 'node.kubernetes.io/unschedulable', '')];
    expect(refusalsOf(node({ unschedulable: true, taints }), [])).to.deep.equal(['is cordoned']);
  });

  it('accepts a pod that tolerates that', () => {
    const tainted = node({ taints: [taint('NoSchedule')] });
    for (const toleration of [
      { key: 'dedicated', operator: 'Equal', value: 'batch', effect: 'NoSchedule' },
      { key: 'dedicated', value: 'batch' },
      exists('dedicated'),
      exists(''),
    ]) {
      expect(refusalsOf(tainted, [toleration]), JSON.stringify(toleration)).to.deep.equal([]);
    }
    for (const toleration of [
      { key: 'dedicated', value: 'other' },
      exists('dedicated', 'NoExecute'),
      exists('other'),
      { key: '' },
    ]) {
      expect(refusalsOf(tainted, [toleration]), JSON.stringify(toleration)).to.have.length(1);
    }
    const cordoned = node({ unschedulable: true });
    expect(refusalsOf(cordoned, [exists('node.kubernetes.io/unschedulable', 'NoSchedule')])).to.deep.equal([]);
    // Kubernetes gives it to every pod, for 300 s, and it is about pods that run.
    expect(
      refusalsOf(node({}, { Ready: 'False' }), [exists('node.kubernetes.io/not-ready', 'NoExecute')]),
    ).to.deep.equal(['is not ready']);
  });
});

describe('what ties a pod to nodes', () => {
  const term = (key: string, operator: string, ...values: readonly string[]) => ({
    matchExpressions: [{ key, operator, values }],
  });
  const affinity = (...nodeSelectorTerms: readonly object[]) => ({
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
  });
  const allows = (spec: object): boolean => tiesOf({ spec }).every((tie) => matches(tie, node()));

  it('is nothing without a constraint', () => {
    expect(tiesOf({ spec: {} })).to.deep.equal([]);
    expect(
      tiesOf({ spec: { affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } } } }),
    ).to.deep.equal([]);
  });

  it('is its nodeSelector, its nodeName and its required node affinity', () => {
    expect(
      tiesOf({ spec: { nodeSelector: { a: 'b' }, nodeName: 'n', affinity: affinity() } }).map(({ what }) => what),
    ).to.deep.equal(['the nodeSelector', 'the nodeName', 'the node affinity']);
    expect(allows({ nodeSelector: { zone: 'a' } })).to.equal(true);
    expect(allows({ nodeSelector: { zone: 'a', disk: 'ssd' } })).to.equal(false);
    expect(allows({ nodeName: 'n-1' })).to.equal(true);
    expect(allows({ nodeName: 'n-2' })).to.equal(false);
  });

  it('needs one of the terms, with all its expressions', () => {
    for (const [given, expected] of [
      [term('zone', 'In', 'a', 'b'), true],
      [term('zone', 'In', 'b'), false],
      [term('zone', 'NotIn', 'b'), true],
      [term('zone', 'NotIn', 'a'), false],
      [term('none', 'NotIn', 'a'), true],
      [term('zone', 'Exists'), true],
      [term('none', 'Exists'), false],
      [term('none', 'DoesNotExist'), true],
      [term('zone', 'DoesNotExist'), false],
      [term('cores', 'Gt', '4'), true],
      [term('cores', 'Gt', '8'), false],
      [term('cores', 'Lt', '9'), true],
      [term('cores', 'Lt', '8'), false],
      [term('zone', 'Like', 'a'), false],
      [{}, false],
      [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n-1'] }] }, true],
      [{ matchFields: [{ key: 'metadata.uid', operator: 'In', values: ['n-1'] }] }, false],
    ] as const) {
      expect(allows({ affinity: affinity(given) }), JSON.stringify(given)).to.equal(expected);
    }
    expect(allows({ affinity: affinity(term('zone', 'In', 'b'), term('zone', 'In', 'a')) })).to.equal(true);
    expect(allows({ affinity: affinity() })).to.equal(false);
  });

  it('is the node affinity of its volume', () => {
    const required = { nodeSelectorTerms: [term('kubernetes.io/hostname', 'In', 'n-2')] };
    const tie = tieOfVolume({ metadata: { name: 'pvc-1' }, spec: { nodeAffinity: { required } } });
    expect(tie?.what).to.equal('the volume pvc-1');
    expect(tie && matches(tie, node())).to.equal(false);
    expect(tieOfVolume({ metadata: { name: 'pvc-1' }, spec: {} })).to.equal(null);
  });
});
