import { expect } from 'chai';
import type { Condition, HistoryEntry, RolloutProgress, RolloutStatus } from '../../src/controller/rollout-resource.ts';
import { statusLimits, withinLimits } from '../../src/controller/status-limits.ts';

const at = '2026-01-02T03:04:05.678Z';
/** As long as a label's value may be, which a pod's revision is. */
const revision = 'r'.repeat(63);
const long = 'One sentence that somebody else has written. '.repeat(100);
const ordinals = Array.from({ length: 9 }, (_, ordinal) => ordinal);
const ofEach = <T>(value: (ordinal: number) => T): Record<string, T> =>
  Object.fromEntries(ordinals.map((ordinal) => [String(ordinal), value(ordinal)]));
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
  memberSeconds: ofEach(() => 12_345.6),
  from: revision,
  ...(changes && { changes }),
});
const change = (index: number) => ({ path: `spec.containers[${index}].image.${long}`, from: long, to: long });

const rolling: RolloutProgress = {
  revision,
  startedAt: at,
  lastProgressAt: at,
  proven: true,
  takenDown: ordinals,
  disruptions: 9,
  switchovers: 1,
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
  members: ofEach(() => ({
    role: 'replica',
    revision,
    updated: false,
    state: 'participating',
    verdict: 'UpdatedOutOfTurn',
    rule: 'UpdatedMemberNotParticipating',
    message: long,
    updatedAt: at,
  })),
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
    memberSeconds: ofEach(() => 12_345.678),
    takenAt: ofEach(() => at),
    waiting: ordinals,
    updatedOutOfTurn: ordinals,
    from: revision,
    changes: Array.from({ length: 20 }, (_, index) => change(index)),
  },
  recentRevisions: Array.from({ length: 8 }, () => ({ revision, firstSeenAt: at })),
  lastCompleted: ended(),
  history: Array.from({ length: 10 }, () => ended([change(0), change(1)])),
  effectivePolicy: Object.fromEntries(
    Array.from({ length: 13 }, (_, index) => [
      `switchoverTimeoutSeconds${index}`,
      { value: index < 2 ? long : '3600', source: 'MySQLRolloutPolicy/production-databases-of-the-whole-company' },
    ]),
  ),
  handedBack: { generation: 4711, at, from: 'moco-rollout hand-back', revision },
  conditions: ['Reconciling', 'Stalled', 'Complete', 'PolicyInForce'].map(condition),
};

const bytes = (status: RolloutStatus): number => Buffer.byteLength(JSON.stringify(status));

describe('the limits of a status', () => {
  it('keep that of nine members under 16 KiB, with everything in it at once', () => {
    expect(bytes(whole)).to.be.above(50_000);
    const cut = withinLimits(whole);
    expect(bytes(cut)).to.be.at.most(16_384);
    expect(cut.history, 'all of this at once').to.have.length(5);
    expect(Object.keys(cut)).to.have.members(Object.keys(whole));
    expect(Object.keys(cut.members ?? {})).to.have.length(9);
    expect(cut.intent).to.deep.equal(whole.intent);
    expect({ ...cut.rollout, changes: whole.rollout?.changes }).to.deep.equal(whole.rollout);
  });

  it('leave a status alone that keeps them', () => {
    const short: RolloutStatus = {
      ...whole,
      hold: { rule: 'Paused', message: 'spec.paused is true', since: at },
      members: { '0': { role: 'primary', updated: true, state: 'participating', verdict: 'Updated' } },
      lastStep: { step: 'evict', rule: 'ReplicaHealthy', pods: ['moco-test-1'], at, result: 'done' },
      history: [ended([{ path: 'spec.containers[mysqld].image', from: 'a', to: 'b' }, { path: 'spec.x' }])],
      effectivePolicy: { paused: { value: 'true', source: 'MySQLRollout' } },
      conditions: [{ ...condition('Stalled'), message: '' }],
    };
    const small = { ...short, rollout: { ...rolling, changes: [{ path: 'spec.x' }] } };
    expect(withinLimits(small)).to.deep.equal(small);
    expect(withinLimits({})).to.deep.equal({});
  });

  it('change nothing the second time, so that comparing with what is stored says what is new', () => {
    expect(withinLimits(withinLimits(whole))).to.deep.equal(withinLimits(whole));
  });

  it('say where a text is cut, and cut no character in two', () => {
    const message = withinLimits({ hold: { rule: 'Paused', message: '🐬'.repeat(600), since: at } }).hold?.message;
    expect(message).to.equal(`${'🐬'.repeat(statusLimits.message - 1)}…`);
  });

  it('keep of what the rollout under way changes what people look at first', () => {
    const one: RolloutStatus = { rollout: { ...rolling, changes: [change(0)] } };
    const [kept] = withinLimits(one).rollout?.changes ?? [];
    expect(kept?.path).to.have.length(statusLimits.changedPath);
    expect(kept?.to).to.have.length(statusLimits.changedValue);
    const many = { rollout: { ...rolling, changes: Array.from({ length: 20 }, (_, index) => change(index)) } };
    expect(withinLimits(many).rollout?.changes).to.have.length(statusLimits.changes);
  });

  it('give up what changed in the oldest rollouts first, then the oldest rollouts', () => {
    const { memberSeconds: _, from: __, ...bare } = ended();
    const filled = (bytesOfTexts: number): RolloutStatus => ({
      recentRevisions: [{ revision: 'x'.repeat(bytesOfTexts), firstSeenAt: at }],
      history: Array.from({ length: 12 }, (_, index) => ({
        ...bare,
        changes: [{ path: 'spec' }],
        revision: `r-${index}`,
      })),
    });
    const kept = (bytesOfTexts: number): readonly string[] =>
      (withinLimits(filled(bytesOfTexts)).history ?? []).map((entry) => entry.revision + (entry.changes ? '+' : ''));
    expect(kept(100)).to.deep.equal(['r-2+', 'r-3+', 'r-4+', 'r-5+', 'r-6+', 'r-7+', 'r-8+', 'r-9+', 'r-10+', 'r-11+']);
    expect(kept(14_600)).to.deep.equal(['r-2', 'r-3', 'r-4', 'r-5', 'r-6', 'r-7+', 'r-8+', 'r-9+', 'r-10+', 'r-11+']);
    expect(kept(15_900)).to.deep.equal(['r-10', 'r-11']);
    expect(kept(20_000)).to.deep.equal([]);
  });

  it('give up for how long members were away before what the rollout under way changes, and that before a rollout', () => {
    const filled = (bytesOfTexts: number): RolloutStatus =>
      withinLimits({
        recentRevisions: [{ revision: 'x'.repeat(bytesOfTexts), firstSeenAt: at }],
        rollout: { ...rolling, changes: [{ path: 'spec' }] },
        history: [ended(), ended()],
      });
    const left = (bytesOfTexts: number): readonly unknown[] => {
      const { rollout, history = [] } = filled(bytesOfTexts);
      return [rollout?.changes?.length ?? 0, ...history.map(({ memberSeconds }) => memberSeconds !== undefined)];
    };
    expect(left(15_000)).to.deep.equal([1, true, true]);
    const wholeBytes = bytes(filled(15_000)) - 15_000;
    expect(left(16_384 - wholeBytes + 1)).to.deep.equal([1, false, true]);
    const timesBytes = bytes({ history: [ended()] }) - bytes({ history: [{ ...ended(), memberSeconds: {} }] });
    expect(left(16_384 - wholeBytes + 2 * timesBytes)).to.deep.equal([0, false, false]);
    expect(left(16_300)).to.deep.equal([0]);
  });
});
