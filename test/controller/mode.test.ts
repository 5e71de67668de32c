import { expect } from 'chai';
import { inForce, modeOf, type PartitionDriver, wishesWithoutEffect } from '../../src/controller/mode.ts';
import { policyInForce } from '../../src/controller/policy-in-force.ts';
import { type Wishes, wishesOf } from '../../src/controller/wishes.ts';
import { defaultPolicy, type RolloutPolicy } from '../../src/core/policy.ts';

type Mode = RolloutPolicy['mode'];
type Given = readonly [
  gate: boolean,
  driver: PartitionDriver,
  wish: 'OnDelete' | 'Partition' | null,
  labelled: boolean,
];

describe('how a cluster is updated', () => {
  const cases: Readonly<Record<string, readonly [Given, Mode]>> = {
    'by this program, with the gate on': [[true, 'moco', 'OnDelete', false], 'OnDelete'],
    'by MOCO with the gate off, whatever is wished': [[false, 'moco', 'OnDelete', true], 'Observe'],
    'by MOCO where that is wished': [[true, 'moco', 'Partition', true], 'Observe'],
    "by this program's partitions where that is wished and the flag says so": [
      [true, 'own', 'Partition', false],
      'Partition',
    ],
    'by partitions with the gate off, where the flag says so': [[false, 'own', 'OnDelete', false], 'Partition'],
    'as it is, where the wish can not be known: at OnDelete': [[true, 'moco', null, true], 'OnDelete'],
    'as it is, where the wish can not be known: by partitions': [[true, 'own', null, false], 'Partition'],
    'by partitions, where the wish can not be known and the gate is off': [[false, 'own', null, true], 'Partition'],
  };
  for (const [sentence, [[onDeleteEnabled, partitionDriver, wish, labelled], mode]] of Object.entries(cases)) {
    it(sentence, () => expect(modeOf({ onDeleteEnabled, partitionDriver }, wish, labelled)).to.equal(mode));
  }
});

const cluster = { namespace: 'default', labels: {}, namespaceLabels: {} };
const wished = (spec: object): Wishes =>
  wishesOf({ rollout: spec, policies: [], cluster }, { policy: defaultPolicy, strategy: 'OnDelete' }, 0);
const without = (mode: Mode, onDeleteEnabled: boolean, spec: object): readonly string[] =>
  wishesWithoutEffect(mode, { onDeleteEnabled, partitionDriver: 'moco' }, wished(spec).sources);

const everything = {
  strategy: 'OnDelete',
  paused: true,
  repairWhilePaused: true,
  maxUnavailable: 2,
  partition: 1,
  minReadySeconds: 7,
  progressDeadlineSeconds: 700,
  switchoverTimeoutSeconds: 60,
  failoverGraceSeconds: 200,
  primaryUpdatePolicy: 'Manual',
  approvedRevision: 'r',
  heldMembers: [{ ordinal: 1, reason: 'why not' }],
  overrides: [{ rule: 'BackupRunning', until: '2026-01-01T00:00:00Z', reason: 'why not' }],
};

describe('wishes without effect', () => {
  it('are none under OnDelete, and none that nobody has', () => {
    expect(without('OnDelete', true, everything)).to.deep.equal([]);
    expect(without('Observe', false, {})).to.deep.equal([]);
  });

  it('are those that MOCO does not know, where it drives, and a strategy that takes the gate', () => {
    expect(without('Observe', false, everything)).to.deep.equal([
      'approvedRevision',
      'heldMembers',
      'maxUnavailable',
      'minReadySeconds',
      'overrides',
      'partition',
      'paused',
      'primaryUpdatePolicy',
      'repairWhilePaused',
      'strategy',
      'switchoverTimeoutSeconds',
    ]);
    expect(without('Observe', true, { strategy: 'Partition' })).to.deep.equal([]);
  });

  it('are those of the other mode, where this program lowers partitions', () => {
    expect(without('Partition', true, { ...everything, strategy: 'Partition' })).to.deep.equal([
      'maxUnavailable',
      'repairWhilePaused',
      'switchoverTimeoutSeconds',
    ]);
  });

  it('do not reach the decision where MOCO drives', () => {
    const { policy } = wished(everything);
    expect(inForce(policy, 'Observe', defaultPolicy)).to.deep.equal({
      ...defaultPolicy,
      mode: 'Observe',
      progressDeadlineSeconds: 700,
      failoverGraceSeconds: 200,
    });
    expect(inForce(policy, 'Partition', defaultPolicy)).to.deep.equal({ ...policy, mode: 'Partition' });
  });
});

describe('condition PolicyInForce', () => {
  const said = (mode: Mode, spec: object) =>
    policyInForce({
      wishes: wished(spec),
      withoutEffect: without(mode, true, spec),
      policy: { ...defaultPolicy, mode },
    });
  it('is True where everything is done as it is wished', () => {
    expect(said('OnDelete', everything)).to.deep.equal({ status: 'True', reason: 'InForce', message: '' });
  });
  it('names what is not', () => {
    expect(said('Observe', { strategy: 'Partition', paused: true })).to.deep.equal({
      status: 'False',
      reason: 'MOCODrives',
      message: "paused has no effect while MOCO's own partition controller lowers the partition",
    });
    expect(said('Partition', { strategy: 'Partition', maxUnavailable: 2, repairWhilePaused: true })).to.deep.equal({
      status: 'False',
      reason: 'PartitionMode',
      message: 'maxUnavailable, repairWhilePaused have no effect while the StatefulSet replaces its pods by partitions',
    });
  });
  it('says what can not be read', () => {
    const { status, reason, message } = said('OnDelete', { partition: -1 });
    expect([status, reason]).to.deep.equal(['False', 'PolicyUnknown']);
    expect(message).to.contain('spec.partition');
  });
});
