import { expect } from 'chai';
import {
  modeOf,
  type PartitionDriver,
  policyForMode,
  settingsWithoutEffect,
} from '../../../src/controller/facts/mode.ts';
import { policyInForce } from '../../../src/controller/facts/policy-in-force.ts';
import { type Settings, settingsOf } from '../../../src/controller/facts/settings-in-force.ts';
import { defaultPolicy, type RolloutPolicy } from '../../../src/core/policy.ts';

type Mode = RolloutPolicy['mode'];
type Given = readonly [
  gate: boolean,
  driver: PartitionDriver,
  setting: 'OnDelete' | 'Partition' | null,
  labelled: boolean,
];

describe('how a cluster is updated', () => {
  const cases: Readonly<Record<string, readonly [Given, Mode]>> = {
    'by this program, with the gate on': [[true, 'moco', 'OnDelete', false], 'OnDelete'],
    'by MOCO with the gate off, whatever is wished': [[false, 'moco', 'OnDelete', true], 'MOCO'],
    'by MOCO if set so': [[true, 'moco', 'Partition', true], 'MOCO'],
    "by this program's partitions where that is wished and the flag says so": [
      [true, 'own', 'Partition', false],
      'Partition',
    ],
    'by partitions with the gate off, if the flag is set so': [[false, 'own', 'OnDelete', false], 'Partition'],
    'unchanged if the setting is unknown: at OnDelete': [[true, 'moco', null, true], 'OnDelete'],
    'unchanged if the setting is unknown: by partitions': [[true, 'own', null, false], 'Partition'],
    'by partitions if the setting is unknown and the gate is off': [[false, 'own', null, true], 'Partition'],
  };
  for (const [sentence, [[onDeleteEnabled, partitionDriver, setting, labelled], mode]] of Object.entries(cases)) {
    it(sentence, () => expect(modeOf({ onDeleteEnabled, partitionDriver }, setting, labelled)).to.equal(mode));
  }
});

const cluster = { namespace: 'default', labels: {}, namespaceLabels: {} };
const configured = (spec: object): Settings =>
  settingsOf({ rollout: spec, policies: [], cluster }, { policy: defaultPolicy, strategy: 'OnDelete' }, 0);
const allOn = {
  onDeleteEnabled: true,
  partitionDriver: 'moco',
  inPlaceEnabled: true,
  nodeMaintenanceEnabled: true,
} as const;
/** With their gates. */
const gated = (mode: Mode, onDeleteEnabled: boolean, spec: object, isAdopted = mode === 'OnDelete') =>
  settingsWithoutEffect(mode, { ...allOn, onDeleteEnabled }, configured(spec).sources, isAdopted, true);
const without = (...of: Parameters<typeof gated>) => gated(...of).map(({ field }) => field);

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
  maxReplicaDelaySeconds: 3,
  replicaDelayGraceSeconds: 40,
  primaryUpdatePolicy: 'Manual',
  nodeMaintenance: 'Evacuate',
  rolloutsDuringMaintenance: 'Wait',
  lostMembers: 'KeepRevision',
  inPlace: { mode: 'IfPossible' },
  approvedRevision: 'r',
  pinnedMembers: [{ ordinal: 1, reason: 'why not' }],
  restore: { revision: 'r', members: [2] },
  overrides: [{ rule: 'BackupRunning', until: '1970-01-02T00:00:00Z', reason: 'why not' }],
};

describe('settings without effect', () => {
  it('do not exist under OnDelete, nor if no setting is made', () => {
    expect(without('OnDelete', true, everything)).to.deep.equal([]);
    expect(without('MOCO', false, {})).to.deep.equal([]);
  });

  it('are those that MOCO does not know if MOCO drives, and a strategy that needs the gate', () => {
    expect(without('MOCO', false, everything)).to.deep.equal([
      'approvedRevision',
      'inPlace',
      'lostMembers',
      'maxReplicaDelaySeconds',
      'maxUnavailable',
      'minReadySeconds',
      'nodeMaintenance',
      'overrides',
      'partition',
      'paused',
      'pinnedMembers',
      'primaryUpdatePolicy',
      'repairWhilePaused',
      'replicaDelayGraceSeconds',
      'restore',
      'rolloutsDuringMaintenance',
      'strategy',
      'switchoverTimeoutSeconds',
    ]);
    expect(without('MOCO', true, { strategy: 'Partition' })).to.deep.equal([]);
  });

  it('are all that MOCO does not know, and the strategy, if a pause holds the adoption', () => {
    const spec = { strategy: 'OnDelete', paused: true, partition: 1, failoverGraceSeconds: 200 };
    expect(without('OnDelete', true, spec, false)).to.deep.equal(['partition', 'paused', 'strategy']);
    expect(without('OnDelete', true, { ...spec, paused: false }, false)).to.deep.equal([]);
  });

  it('are all but the pause if the pause holds the release', () => {
    const spec = { strategy: 'Partition', paused: true, partition: 1 };
    expect(without('MOCO', true, spec, true)).to.deep.equal(['partition']);
    expect(policyForMode(configured(spec).policy, 'MOCO', true, allOn)).to.include({
      paused: true,
      partition: 0,
    });
  });

  it('are those of the other mode if this program lowers partitions', () => {
    expect(without('Partition', true, { ...everything, strategy: 'Partition' })).to.deep.equal([
      'inPlace',
      'lostMembers',
      'maxUnavailable',
      'nodeMaintenance',
      'repairWhilePaused',
      'restore',
      'rolloutsDuringMaintenance',
      'switchoverTimeoutSeconds',
    ]);
  });

  it('has updates in place while their feature gate is off', () => {
    const { policy, sources } = configured({ inPlace: { mode: 'Only' } });
    const off = { ...allOn, inPlaceEnabled: false };
    expect(settingsWithoutEffect('OnDelete', off, sources, true, true)).to.deep.equal([
      { field: 'inPlace', gate: 'InPlaceUpdate' },
    ]);
    expect(policyForMode(policy, 'OnDelete', true, off).inPlaceUpdates.mode).to.equal('Never');
    expect(policyForMode(policy, 'OnDelete', true, allOn).inPlaceUpdates.mode).to.equal('Only');
    expect(policyForMode(policy, 'Partition', true, allOn).inPlaceUpdates.mode).to.equal('Never');
  });

  it('has what happens on nodes while their feature gate is off', () => {
    const spec = { nodeMaintenance: 'Evacuate', rolloutsDuringMaintenance: 'Wait' };
    const { policy, sources } = configured(spec);
    const off = { ...allOn, nodeMaintenanceEnabled: false };
    expect(settingsWithoutEffect('OnDelete', off, sources, true, true)).to.deep.equal([
      { field: 'nodeMaintenance', gate: 'NodeMaintenance' },
      { field: 'rolloutsDuringMaintenance', gate: 'NodeMaintenance' },
    ]);
    const ignored = { nodeMaintenance: 'Ignore', rolloutsDuringMaintenance: 'Proceed' };
    expect(policyForMode(policy, 'OnDelete', true, off)).to.include(ignored);
    expect(policyForMode(policy, 'OnDelete', true, allOn)).to.include(spec);
    expect(policyForMode(policy, 'Partition', true, allOn)).to.include(ignored);
  });

  it('has waits for long writes while MySQL is not asked', () => {
    const { sources } = configured({ longWriteGraceSeconds: 5, longWritePolicy: 'Hold' });
    expect(settingsWithoutEffect('OnDelete', allOn, sources, true, false)).to.deep.equal([
      { field: 'longWriteGraceSeconds', gate: 'ReplicationFacts' },
      { field: 'longWritePolicy', gate: 'ReplicationFacts' },
    ]);
    expect(settingsWithoutEffect('OnDelete', allOn, sources, true, true)).to.deep.equal([]);
  });

  it('do not reach the decision if MOCO drives', () => {
    const { policy } = configured(everything);
    expect(policyForMode(policy, 'MOCO', false, allOn)).to.deep.equal({
      ...defaultPolicy,
      mode: 'MOCO',
      progressDeadlineSeconds: 700,
      failoverGraceSeconds: 200,
    });
    expect(policyForMode(policy, 'Partition', false, allOn)).to.deep.equal({
      ...policy,
      mode: 'Partition',
      nodeMaintenance: 'Ignore',
      rolloutsDuringMaintenance: 'Proceed',
      restore: null,
      inPlaceUpdates: defaultPolicy.inPlaceUpdates,
    });
  });
});

describe('condition PolicyInForce', () => {
  const said = (mode: Mode, spec: object, onDeleteEnabled = true) =>
    policyInForce({
      settings: configured(spec),
      withoutEffect: gated(mode, onDeleteEnabled, spec),
      policy: { ...defaultPolicy, mode },
    });
  it('is True if all settings have effect', () => {
    expect(said('OnDelete', everything)).to.deep.equal({ status: 'True', reason: 'InForce', message: '' });
  });
  it('names the settings without effect', () => {
    expect(said('MOCO', { strategy: 'Partition', paused: true })).to.deep.equal({
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
  it('names the feature gate that is off', () => {
    expect(said('MOCO', { strategy: 'OnDelete' }, false)).to.deep.equal({
      status: 'False',
      reason: 'FeatureGateOff',
      message: 'strategy has no effect while the feature gate UpdateStrategyOnDelete is off',
    });
    expect(said('MOCO', { strategy: 'OnDelete', paused: true }, false)).to.deep.equal({
      status: 'False',
      reason: 'MOCODrives',
      message:
        'strategy has no effect while the feature gate UpdateStrategyOnDelete is off; ' +
        "paused has no effect while MOCO's own partition controller lowers the partition",
    });
  });
  it('names what cannot be read', () => {
    const { status, reason, message } = said('OnDelete', { partition: -1 });
    expect([status, reason]).to.deep.equal(['False', 'SettingsInvalid']);
    expect(message).to.contain('spec.partition');
  });
});
