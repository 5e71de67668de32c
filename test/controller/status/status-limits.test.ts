import { expect } from 'chai';
import { type HistoryEntry, mostHeldFor, type RolloutProgress } from '../../../src/api/rollout-progress.ts';
import { type Condition, type RolloutStatus } from '../../../src/api/rollout-status.ts';
import { type SettingsInForce } from '../../../src/api/settings-in-force.ts';
import { statusLimits, withinLimits } from '../../../src/controller/status/status-limits.ts';

const at = '2026-01-02T03:04:05.678Z';
/** As long as a label's value may be, which a pod's revision is. */
const revision = 'r'.repeat(63);
const long = 'One sentence that another client has written. '.repeat(100);
const ordinals = Array.from({ length: 9 }, (_, ordinal) => ordinal);
const ofEach = <T>(value: T): readonly ({ ordinal: number } & T)[] =>
  ordinals.map((ordinal) => ({ ordinal, ...value }));
const uid = '5a0b4b4e-3f0e-4a76-9f53-1de8a2b0c7f1';
const pod = (ordinal: number) => ({ name: `${revision.slice(2)}-${ordinal}`, uid, resourceVersion: '1234567890' });
const condition = (type: string): Condition => ({
  type,
  status: 'False',
  reason: 'UpdatedMemberNotParticipating',
  message: long,
  lastTransitionTime: at,
  observedGeneration: 4711,
});
const ended = (changes?: HistoryEntry['changes']): HistoryEntry => ({
  revision,
  startedAt: at,
  finishedAt: at,
  disruptions: 9,
  switchovers: 1,
  outcome: 'Superseded',
  memberDurations: ofEach({ seconds: 12_345 }),
  from: revision,
  ...(changes && { changes }),
});
/** As many rules as are kept, under the longest of their names. */
const heldFor = Array.from({ length: mostHeldFor }, (_, index) => ({
  rule: `UpdatedMemberNotParticip${index}`,
  seconds: 123_456,
}));
const change = (index: number) => ({ path: `spec.containers[${index}].image.${long}`, from: long, to: long });

const rolling: RolloutProgress = {
  revision,
  startedAt: at,
  lastProgressAt: at,
  verified: true,
  takenDown: ordinals,
  disruptions: 9,
  switchovers: 1,
  switchoverSeconds: 12_345,
  heldFor,
};

const source = `MySQLRolloutPolicy/${'p'.repeat(100)}`;
const inForce: SettingsInForce = {
  strategy: { value: 'OnDelete', source },
  paused: { value: false, source },
  repairWhilePaused: { value: false, source },
  maxUnavailable: { value: '100%', source },
  partition: { value: 0, source },
  minReadySeconds: { value: 3600, source },
  progressDeadlineSeconds: { value: 3600, source },
  switchoverTimeoutSeconds: { value: 3600, source },
  failoverGraceSeconds: { value: 3600, source },
  maxReplicaDelaySeconds: { value: 3600, source },
  replicaDelayGraceSeconds: { value: 86_400, source },
  primaryUpdatePolicy: { value: 'Automatic', source },
  lostMembers: { value: 'UpdateOnceVerified', source },
  approvedRevision: { value: revision, source },
  pinnedMembers: { value: ordinals, source },
  restore: { value: { revision, members: ordinals }, source },
  overrides: { value: [{ rule: 'BackupRunning', until: at }], source },
};

/** Everything at once that nine members can have, with texts longer than anybody needs. */
const whole: RolloutStatus = {
  observedGeneration: 4711,
  observedClusterGeneration: 4711,
  phase: 'Progressing',
  strategy: 'OnDelete',
  updateRevision: revision,
  currentRevision: revision,
  replicas: 9,
  updatedReplicas: 9,
  participatingReplicas: 9,
  readyReplicas: 9,
  currentReplicas: 9,
  primary: 8,
  hold: { rule: 'UpdatedMemberNotParticipating', message: long, since: at },
  members: ofEach({
    role: 'replica',
    revision,
    updated: false,
    state: 'participating',
    verdict: 'UpdatedOutOfBand',
    rule: 'UpdatedMemberNotParticipating',
    message: long,
    updatedAt: at,
  } as const),
  intent: {
    id: uid,
    holder: `moco-rollout-controller-${uid}`,
    step: 'delete',
    rule: 'MemberDown',
    revision,
    at,
    pods: ordinals.map(pod),
  },
  lastStep: { step: 'delete', rule: 'MemberDown', pods: ordinals.map((o) => pod(o).name), at, result: long },
  rollout: {
    ...rolling,
    tries: { count: 3, lastEndedAt: at, askedAt: at, pod: { name: pod(0).name, uid } },
    memberDurations: ofEach({ seconds: 12_345 }),
    // No member is in both.
    unavailableMembers: ofEach({ since: at, uid }).slice(0, 4),
    createdWhileHeld: ofEach({ started: false }).slice(4),
    failing: { ordinal: 8, message: 'x'.repeat(1000) },
    waiting: ordinals,
    updatedOutOfBand: ordinals,
    from: revision,
    changes: Array.from({ length: 20 }, (_, index) => change(index)),
  },
  history: Array.from({ length: 10 }, () => ended([change(0), change(1)])),
  settings: inForce,
  conditions: ['Ready', 'Reconciling', 'Stalled', 'PolicyInForce'].map(condition),
};

const bytes = (status: RolloutStatus): number => Buffer.byteLength(JSON.stringify(status));

describe('the size limits of a status', () => {
  it('keep a status of nine members with every field below 16 KiB', () => {
    expect(bytes(whole)).to.be.above(50_000);
    const cut = withinLimits(whole);
    expect(bytes(cut)).to.be.at.most(16_384);
    expect(cut.history, 'all of this at once').to.have.length(3);
    expect(Object.keys(cut)).to.have.members(Object.keys(whole));
    expect(cut.members).to.have.length(9);
    expect(cut.intent).to.deep.equal(whole.intent);
    const { changes, failing } = whole.rollout ?? {};
    expect({ ...cut.rollout, changes, failing }).to.deep.equal(whole.rollout);
    expect(cut.rollout?.failing?.message).to.have.length(160);
  });

  it('do not change a status within the limits', () => {
    const short: RolloutStatus = {
      ...whole,
      hold: { rule: 'Paused', message: 'spec.paused is true', since: at },
      members: [{ ordinal: 0, role: 'primary', updated: true, state: 'participating', verdict: 'Updated' }],
      lastStep: { step: 'evict', rule: 'ReplicaHealthy', pods: ['moco-test-1'], at, result: 'done' },
      history: [ended([{ path: 'spec.containers[mysqld].image', from: 'a', to: 'b' }, { path: 'spec.x' }])],
      settings: { paused: { value: true, source: 'MySQLRollout' } },
      conditions: [{ ...condition('Stalled'), message: '' }],
    };
    const small = { ...short, rollout: { ...rolling, changes: [{ path: 'spec.x' }] } };
    expect(withinLimits(small)).to.deep.equal(small);
    expect(withinLimits({})).to.deep.equal({});
  });

  it('change nothing when applied twice, so that a comparison with the stored status shows what is new', () => {
    expect(withinLimits(withinLimits(whole))).to.deep.equal(withinLimits(whole));
  });

  it('mark where a text is cut, and cut no character in two', () => {
    const message = withinLimits({ hold: { rule: 'Paused', message: '🐬'.repeat(600), since: at } }).hold?.message;
    expect(message).to.equal(`${'🐬'.repeat(statusLimits.message - 1)}…`);
  });

  it('keep the most important changes of the current rollout', () => {
    const one: RolloutStatus = { rollout: { ...rolling, changes: [change(0)] } };
    const [kept] = withinLimits(one).rollout?.changes ?? [];
    expect(kept?.path).to.have.length(statusLimits.changedPath);
    expect(kept?.to).to.have.length(statusLimits.changedValue);
    const many = { rollout: { ...rolling, changes: Array.from({ length: 20 }, (_, index) => change(index)) } };
    expect(withinLimits(many).rollout?.changes).to.have.length(statusLimits.changes);
  });

  it('drop the changes of the oldest rollouts first, then the oldest rollouts', () => {
    const { memberDurations: _, from: __, ...bare } = ended();
    const filled = (bytesOfTexts: number): RolloutStatus => ({
      phase: 'x'.repeat(bytesOfTexts),
      history: Array.from({ length: 12 }, (_, index) => ({
        ...bare,
        changes: [{ path: 'spec' }],
        revision: `r-${index}`,
      })),
    });
    const kept = (bytesOfTexts: number): readonly string[] =>
      (withinLimits(filled(bytesOfTexts)).history ?? []).map((entry) => entry.revision + (entry.changes ? '+' : ''));
    expect(kept(100)).to.deep.equal(['r-2+', 'r-3+', 'r-4+', 'r-5+', 'r-6+', 'r-7+', 'r-8+', 'r-9+', 'r-10+', 'r-11+']);
    expect(kept(14_680)).to.deep.equal(['r-2', 'r-3', 'r-4', 'r-5', 'r-6', 'r-7+', 'r-8+', 'r-9+', 'r-10+', 'r-11+']);
    expect(kept(15_960)).to.deep.equal(['r-10', 'r-11']);
    expect(kept(20_000), 'the last one says how it ended').to.deep.equal(['r-11']);
  });

  it('keep the last rollout that has measured members, however many updates in place follow', () => {
    const measured: HistoryEntry = { ...ended(), outcome: 'Complete', startedAt: '2026-01-01T00:00:00Z' };
    const { memberDurations: _, ...unmeasured } = { ...ended(), outcome: 'Complete' };
    const kept = withinLimits({ history: [measured, ...Array.from({ length: 12 }, () => unmeasured)] }).history ?? [];
    expect(kept).to.have.length(statusLimits.historyEntries);
    expect(kept[0]).to.deep.equal(measured);
    expect(withinLimits({ history: kept }).history).to.deep.equal(kept);
  });

  it('drop how long members were unavailable before the changes of the current rollout, and these before a rollout', () => {
    const filled = (bytesOfTexts: number): RolloutStatus =>
      withinLimits({
        phase: 'x'.repeat(bytesOfTexts),
        rollout: { ...rolling, changes: [{ path: 'spec' }] },
        history: [ended(), ended()],
      });
    const left = (bytesOfTexts: number): readonly unknown[] => {
      const { rollout, history = [] } = filled(bytesOfTexts);
      return [rollout?.changes?.length ?? 0, ...history.map(({ memberDurations }) => memberDurations !== undefined)];
    };
    expect(left(14_000)).to.deep.equal([1, true, true]);
    const wholeBytes = bytes(filled(14_000)) - 14_000;
    expect(left(16_384 - wholeBytes + 1)).to.deep.equal([1, false, true]);
    const timesBytes = bytes({ history: [ended()] }) - bytes({ history: [{ ...ended(), memberDurations: [] }] });
    expect(left(16_384 - wholeBytes + 2 * timesBytes)).to.deep.equal([0, false, false]);
    expect(left(16_300)).to.deep.equal([0, false]);
  });
});
