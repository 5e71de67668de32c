import { expect } from 'chai';
import type { Intent } from '../../../src/api/rollout-status.ts';
import { intentOf, invalidate, sameStep } from '../../../src/controller/disrupt/intent.ts';
import type { Step, Target } from '../../../src/core/decision.ts';
import { type DisruptiveStep, isDisruptive, ruleOf } from '../../../src/core/step.ts';
import { ApiClient } from '../../../src/kube/api-client.ts';
import { pods, statefulSets } from '../../../src/kube/resource.ts';
import { ClusterApi } from '../../../src/objects/cluster-client.ts';
import type { ApiAnswer } from '../../support/api-server/api-answer.ts';
import { Bench, member } from '../bench.ts';

const target = (ordinal: number, uid = `uid-${ordinal}`, resourceVersion = '1'): Target => ({
  ordinal,
  name: member(ordinal),
  uid,
  resourceVersion,
});
const statefulSet = { name: 'moco-test', uid: 'uid-s', resourceVersion: '7', updateRevision: 'r' };
const lower = (partition: number, ...targets: readonly Target[]): DisruptiveStep => ({
  kind: 'setPartition',
  rule: targets.length > 0 ? 'ReplicaHealthy' : 'AlreadyUpdated',
  partition,
  targets,
});
const evict = (one: Target): DisruptiveStep => ({ kind: 'evict', rule: 'ReplicaHealthy', targets: [one] });
const remove = (...targets: readonly Target[]): DisruptiveStep => ({ kind: 'delete', rule: 'MemberDown', targets });

describe('comparing two decisions', () => {
  it('treats them as the same step if only the resourceVersions of the pods differ', () => {
    expect(sameStep(evict(target(2)), evict(target(2, 'uid-2', '9')))).to.equal(true);
    expect(
      sameStep({ kind: 'setStrategy', newPods: 'UpdateRevision' }, { kind: 'setStrategy', newPods: 'UpdateRevision' }),
    ).to.equal(true);
  });

  const differing: Readonly<Record<string, readonly [Step, Step]>> = {
    'the kind': [evict(target(2)), { ...evict(target(2)), kind: 'delete' } as Step],
    'the rule': [remove(target(2)), { kind: 'delete', rule: 'MemberImpaired', targets: [target(2)] }],
    'the pod': [evict(target(2)), evict(target(1))],
    'the uid of the pod, which has been replaced': [evict(target(2)), evict(target(2, 'another'))],
    'one pod more': [remove(target(2)), remove(target(2), target(1))],
    'the reason of a take-back': [
      { kind: 'undemote', targets: [target(0)], reason: 'TimedOut', demoted: true },
      { kind: 'undemote', targets: [target(0)], reason: 'Paused', demoted: true },
    ],
    'the partition': [lower(2), lower(1)],
    'that one of them is none': [evict(target(2)), { kind: 'none' }],
  };
  for (const [what, [a, b]] of Object.entries(differing)) {
    it(`treats them as different steps if they differ in ${what}`, () => {
      expect(sameStep(a, b)).to.equal(false);
      expect(sameStep(b, a)).to.equal(false);
    });
  }
});

describe('an intent', () => {
  it('names the step, its rule and the exact version of every pod', () => {
    expect(intentOf(remove(target(2), target(1)), ['stops'], statefulSet, 'an-id', 'me', 'now')).to.deep.equal({
      effects: ['stops'],
      id: 'an-id',
      holder: 'me',
      step: 'delete',
      rule: 'MemberDown',
      revision: 'r',
      at: 'now',
      pods: [
        { name: member(2), uid: 'uid-2', resourceVersion: '1' },
        { name: member(1), uid: 'uid-1', resourceVersion: '1' },
      ],
    });
  });

  it('of a lower partition names the StatefulSet', () => {
    expect(intentOf(lower(2, target(2)), [], statefulSet, 'an-id', 'me', 'now')).to.deep.include({
      partition: 2,
      statefulSet: { name: 'moco-test', uid: 'uid-s', resourceVersion: '7' },
      pods: [{ name: member(2), uid: 'uid-2', resourceVersion: '1' }],
    });
  });

  it('is written to cancel a demotion, with the reason, but not to clean up a stale annotation', () => {
    const takeBack: Step = { kind: 'undemote', targets: [target(0)], reason: 'TimedOut', demoted: true };
    expect(isDisruptive(takeBack) && ruleOf(takeBack)).to.equal('TimedOut');
    expect(isDisruptive({ ...takeBack, reason: 'MarkWithoutDemote', demoted: false })).to.equal(false);
  });
});

describe('invalidating an intent', () => {
  const signal = new AbortController().signal;
  const apiOf = ({ world }: Bench) => new ClusterApi(new ApiClient({ world, qps: 1e6, burst: 1e6 }), signal);
  const intended = (step: DisruptiveStep, of = statefulSet): Intent =>
    intentOf(step, [], of, 'an-id', 'somebody', 'then');
  /** A pod as it is now. */
  const present = ({ server }: Bench, ordinal: number): Target => {
    const { uid, resourceVersion } = server.get(pods, member(ordinal)).metadata;
    return target(ordinal, uid, resourceVersion);
  };
  const problemOf = (outcome: Promise<unknown>): Promise<unknown> =>
    outcome.then(
      () => null,
      (error: unknown) => error,
    );

  /** An intent about the pods as they are, then whatever happens to them, then it is made void. */
  async function invalidated(
    ordinals: readonly number[],
    happens: (bench: Bench) => void,
  ): Promise<[Bench, Intent, boolean, readonly number[]]> {
    const bench = new Bench();
    const intent = intended(remove(...ordinals.map((ordinal) => present(bench, ordinal))));
    happens(bench);
    const { staysDemoted, spared } = await invalidate(intent, 'default', apiOf(bench));
    return [bench, intent, staysDemoted, spared];
  }

  /** What comes of the write that its author may still send. */
  async function lateWrite(bench: Bench, { pods: [pod] }: Intent): Promise<number> {
    if (!pod) throw new Error('expected an intent about a pod');
    const { name, uid, resourceVersion } = pod;
    const { status } = await bench.server.exchange({
      method: 'DELETE',
      path: `/api/v1/namespaces/default/pods/${name}`,
      headers: {},
      body: JSON.stringify({ preconditions: { uid, resourceVersion } }),
      signal,
      pool: 'call',
    });
    return status;
  }

  it('reports the members that it has not disrupted: those that still have their pods', async () => {
    const [, , , spared] = await invalidated([2, 1, 0], (bench) => {
      bench.replace(1);
      bench.changePod(0, { metadata: { deletionTimestamp: bench.now, deletionGracePeriodSeconds: 30 } });
    });
    expect(spared).to.deep.equal([2]);
  });

  it('changes the resourceVersion of each unchanged pod, so that a late write fails', async () => {
    const [bench, intent] = await invalidated([2, 1], () => {});
    expect(bench.steps).to.have.members(['void 2', 'void 1']);
    expect(bench.server.get(pods, member(2)).metadata.annotations).to.deep.equal({
      'moco-rollout.io/invalidated-intent': 'an-id',
    });
    expect(await lateWrite(bench, intent)).to.equal(409);
  });

  const harmless: Readonly<Record<string, readonly [happens: (bench: Bench) => void, lateAnswer: number]>> = {
    'has changed': [(bench) => bench.changePod(2, { metadata: { labels: { x: 'y' } } }), 409],
    'has been replaced': [(bench) => bench.replace(2), 409],
    'was deleted': [(bench) => bench.server.remove(pods, member(2)), 404],
    'is terminating': [(bench) => bench.changePod(2, { metadata: { deletionTimestamp: '2026-07-01T12:05:00Z' } }), 409],
  };
  for (const [what, [happens, lateAnswer]] of Object.entries(harmless)) {
    it(`leaves a pod alone that ${what}, since the late write fails anyway`, async () => {
      const [bench, intent] = await invalidated([2], happens);
      expect(bench.steps).to.deep.equal([]);
      expect(await lateWrite(bench, intent)).to.equal(lateAnswer);
    });
  }

  describe('of an eviction, which the API server does in two writes', () => {
    /** An eviction of member 2 and its intent; `happens` may do the first of its writes. Resolves to the late answer. */
    async function lateEviction(
      happens: (bench: Bench, firstWrite: () => void) => void,
    ): Promise<readonly [Bench, ApiAnswer]> {
      const bench = new Bench();
      const pod = present(bench, 2);
      const intent = intended(evict(pod));
      const begin = (): ReturnType<typeof bench.server.beginEviction> => bench.server.beginEviction(member(2), pod);
      let rest: ReturnType<typeof begin> | null = null;
      happens(bench, () => {
        rest = begin();
      });
      await invalidate(intent, 'default', apiOf(bench));
      const late = rest ?? begin();
      return [bench, typeof late === 'function' ? late() : late];
    }

    const moments: Readonly<Record<string, (bench: Bench, firstWrite: () => void) => void>> = {
      'before both': () => {},
      'between both': (_, firstWrite) => firstWrite(),
      'between both, the first of which comes after the pod was read': (bench, firstWrite) =>
        bench.server.before('PATCH', /pods/, firstWrite),
      'between both, and another conflict': (bench, firstWrite) => {
        firstWrite();
        bench.server.before('PATCH', /pods/, () => bench.changePod(2, { metadata: { labels: { x: 'y' } } }));
      },
      'before both, and another changes the pod': (bench) => bench.changePod(2, { metadata: { labels: { x: 'y' } } }),
    };
    for (const [moment, happens] of Object.entries(moments)) {
      it(`refuses what is left of it: ${moment}`, async () => {
        const [bench, { code }] = await lateEviction(happens);
        expect(code).to.equal(409);
        expect(bench.server.get(pods, member(2)).metadata).not.to.have.property('deletionTimestamp');
      });
    }

    it('leaves a pod alone that both have reached', async () => {
      const bench = new Bench();
      const pod = present(bench, 2);
      await apiOf(bench).evictPod('default', pod);
      const writes = bench.server.writes.length;
      await invalidate(intended(evict(pod)), 'default', apiOf(bench));
      expect(bench.server.writes).to.have.lengthOf(writes);
    });

    it('rejects if the pod changes again and again, since the rest may still arrive', async () => {
      let changes = 0;
      const change = (bench: Bench): void => {
        changes += 1;
        bench.changePod(2, { metadata: { labels: { x: String(changes) } } });
      };
      const evicted = lateEviction((bench, firstWrite) => {
        firstWrite();
        bench.server.always('PATCH', /pods/, (_, carryOut) => {
          change(bench);
          return carryOut();
        });
      });
      expect(await problemOf(evicted)).to.include({ status: 409 });
    });
  });

  it('about a lower partition changes the StatefulSet and no pod, so that a late write fails', async () => {
    const bench = new Bench();
    const { uid, resourceVersion } = bench.server.get(statefulSets, 'moco-test').metadata;
    const pod = present(bench, 2);
    await invalidate(intended(lower(2, pod), { ...statefulSet, uid, resourceVersion }), 'default', apiOf(bench));
    expect(present(bench, 2)).to.deep.equal(pod);
    const after = bench.server.get(statefulSets, 'moco-test').metadata;
    expect(after.resourceVersion).not.to.equal(resourceVersion);
    expect(after.annotations).to.deep.include({ 'moco-rollout.io/invalidated-intent': 'an-id' });
  });

  it('succeeds if the pod changes or is deleted in the meantime', async () => {
    for (const [happens, answered] of [
      [(bench: Bench) => bench.changePod(2, { metadata: { labels: { x: 'y' } } }), 409],
      [(bench: Bench) => bench.server.remove(pods, member(2)), 404],
    ] as const) {
      const [bench] = await invalidated([2], (given) => given.server.before('PATCH', /pods/, () => happens(given)));
      expect(bench.server.writes.map(({ status }) => status)).to.deep.equal([answered]);
    }
  });

  const marked = (demote: string | null, revision: string) => ({
    metadata: { annotations: { 'moco.cybozu.com/demote': demote, 'moco-rollout.io/demoted-for': revision } },
  });
  const left: Readonly<Record<string, readonly [happens: (bench: Bench) => void, isLeft: boolean]>> = {
    'has a demotion of ours for its revision': [(bench) => bench.changePod(2, marked('true', 'r')), true],
    'gets one meanwhile': [
      (bench) => bench.server.before('PATCH', /pods/, () => bench.changePod(2, marked('true', 'r'))),
      true,
    ],
    'has none': [() => {}, false],
    'has one for another revision': [(bench) => bench.changePod(2, marked('true', 'another')), false],
    'has the mark alone': [(bench) => bench.changePod(2, marked(null, 'r')), false],
    'has been replaced by one that has it': [
      (bench) => {
        bench.replace(2);
        bench.changePod(2, marked('true', 'r'));
      },
      false,
    ],
    'was deleted': [(bench) => bench.server.remove(pods, member(2)), false],
  };
  for (const [what, [happens, isLeft]] of Object.entries(left)) {
    it(`reports ${isLeft ? 'a' : 'no'} remaining demotion if a pod ${what}`, async () => {
      const [, , stays] = await invalidated([2], happens);
      expect(stays).to.equal(isLeft);
    });
  }

  it('rejects if the API server refuses, since the late write may still arrive', async () => {
    const refused = invalidated([2], ({ server }) => server.refuse('PATCH', /pods/, 403, 'Forbidden'));
    expect(await problemOf(refused)).to.include({ status: 403 });
  });
});
