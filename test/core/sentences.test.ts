import { expect } from 'chai';
import type { Step, StepKind, Target } from '../../src/core/decision.ts';
import type { ContainerResources, InPlaceChange } from '../../src/core/in-place-changes.ts';
import type { Evidence } from '../../src/core/member.ts';
import {
  durationText,
  explainEvidence,
  explainRecreated,
  explainStep,
  pointedOut,
  type Recreated,
  timeText,
} from '../../src/core/sentences.ts';
import type { StepRule } from '../../src/core/step.ts';
import { changeOf, resourcesOf, revisionAfter } from './member-builder.ts';
import { expectSentences, type Forms } from './sentence-forms.ts';

describe('a time of a fleet', () => {
  it('is written as everywhere in Kubernetes', () => {
    expect(timeText(Date.UTC(2028, 1, 29, 23, 59, 59) / 1000)).to.equal('2028-02-29T23:59:59Z');
  });

  it('is rounded up, so that it never names a moment at which nothing has changed yet', () => {
    expect(timeText(0.001)).to.equal('1970-01-01T00:00:01Z');
  });
});

describe('a duration of a fleet', () => {
  const texts: readonly (readonly [number, string])[] = [
    [0, '0s'],
    [90, '1m30s'],
    [3600, '1h'],
    [86_401, '24h1s'],
  ];
  for (const [seconds, text] of texts)
    it(`of ${seconds} s is ${text}`, () => expect(durationText(seconds)).to.equal(text));
});

describe('the sentence for the revision at which a member comes back', () => {
  const taken = 'another client deleted its pod';
  const forms: Forms<Recreated> = [
    { as: 'before', because: { rule: 'Paused' } },
    `${taken}; it comes back at its previous revision: Paused holds`,
    { as: 'before', because: 'pinned' },
    `${taken}; it comes back at its previous revision: it is pinned`,
    { as: 'updated', because: null },
    `${taken}; it comes back updated: the revision works, and nothing holds the rollout`,
    { as: 'updated', because: 'partition', despite: 'created' },
    `${taken}, and it is updated although it is below the partition: it was created before moco-rollout could act`,
    { as: 'updated', because: 'unverified', despite: 'started' },
    `${taken}, and it is updated although no member has shown that the update revision works: it was created before moco-rollout could act, and its mysqld has started, so it is left alone`,
    { as: 'updated', because: 'setting', despite: 'setsBack' },
    `${taken}, and it is updated although lostMembers is KeepRevision: new pods would start at a revision that is older than the data of a member`,
    { as: 'updated', because: 'pinned', despite: 'admission' },
    `${taken}, and it is updated although it is pinned: admission does not keep new pods at the current revision`,
    { as: 'updated', because: 'pinned', despite: 'data' },
    `${taken}, and it is updated although it is pinned: it is unknown which mysqld has started on its data`,
    { as: 'before', because: 'unverified', restored: true },
    'moco-rollout deleted its pod to restore its previous revision',
    { as: 'updated', because: 'unverified', despite: 'setsBack', restored: true },
    'moco-rollout deleted its pod to restore its previous revision, but it comes back updated: new pods would start at a revision that is older than the data of a member',
  ];

  it('has one for each case', () => expectSentences(forms, explainRecreated));
});

describe('the sentence for what a member shows', () => {
  const evidences: Readonly<{
    [Kind in Evidence['kind']]: Forms<Extract<Evidence, { kind: Kind }>>;
  }> = {
    waiting: [
      { kind: 'waiting', container: 'mysqld', reason: 'ErrImagePull', restarts: 0 },
      'container mysqld is waiting (ErrImagePull)',
      { kind: 'waiting', container: 'agent', reason: 'CrashLoopBackOff', restarts: 1 },
      'container agent is waiting (CrashLoopBackOff, 1 restart)',
    ],
    failed: [
      { kind: 'failed', reason: null },
      'the pod has failed',
      { kind: 'failed', reason: 'OutOfcpu' },
      'the pod has failed: OutOfcpu',
    ],
    earlier: [{ kind: 'earlier', message: 'the pod has failed: OutOfcpu' }, 'the pod has failed: OutOfcpu'],
    restored: [{ kind: 'restored' }, 'a person has asked for its previous revision'],
    unschedulable: [
      { kind: 'unschedulable', message: '0/3 nodes are available: 3 Insufficient memory. ' },
      'no node accepts the pod: 0/3 nodes are available: 3 Insufficient memory',
    ],
    idle: [{ kind: 'idle' }, 'mysqld has not been running'],
    notReady: [{ kind: 'notReady', container: 'slow-log' }, 'container slow-log is not ready'],
    crashLooping: [
      { kind: 'crashLooping', container: 'mysqld', restarts: 7 },
      'container mysqld has not been ready since it restarted (7 restarts)',
    ],
    errant: [{ kind: 'errant' }, 'MOCO lists it as errant'],
  };
  for (const [kind, forms] of Object.entries(evidences)) {
    it(`${kind} has one`, () => expectSentences<Evidence>(forms, explainEvidence));
  }
});

const targetOf = (ordinal: number): Target => ({
  ordinal,
  name: `moco-test-${ordinal}`,
  uid: 'uid',
  resourceVersion: '1',
});

describe('the sentence for a step', () => {
  const deletion = (rule: StepRule, ...ordinals: readonly number[]): Step => ({
    kind: 'delete',
    rule,
    targets: ordinals.map(targetOf),
  });
  const updating = (change: InPlaceChange): Step => ({
    kind: 'updateInPlace',
    rule: change.containers.length === 0 ? 'NothingRestarts' : 'ContainersRestart',
    targets: [targetOf(2)],
    revision: revisionAfter,
    change,
  });
  const resizing = (...resources: readonly ContainerResources[]): Step => ({
    kind: 'resizeInPlace',
    rule: resources.some(({ restarts }) => restarts) ? 'ResizeRestartsContainers' : 'ResizeRestartsNothing',
    targets: [targetOf(2)],
    revision: revisionAfter,
    resources,
  });
  const back = (reason: string): Step => ({
    kind: 'undemote',
    targets: [targetOf(0)],
    reason,
    demoted: reason !== 'MarkWithoutDemote',
  });
  const steps: Readonly<Record<StepKind, Forms<Step>>> = {
    none: [{ kind: 'none' }, 'nothing to do'],
    restore: [
      { kind: 'restore', rule: 'UpdatedByOthers', targets: [targetOf(2)] },
      'deleting moco-test-2, which comes back at its previous revision: another client deleted its pod, and its mysqld has not started at the update revision',
      { kind: 'restore', rule: 'RestoreRequested', targets: [targetOf(2)] },
      'deleting moco-test-2, which comes back at its previous revision: a person has requested it',
    ],
    delete: [
      deletion('MemberDown', 2, 1),
      'deleting moco-test-2, moco-test-1: stale and down',
      deletion('MemberUnreachable', 2),
      'deleting moco-test-2: stale, and its node does not answer',
      deletion('MemberNotParticipating', 2),
      'deleting moco-test-2: stale, running and not participating',
      deletion('PrimaryNotParticipating', 0),
      'deleting moco-test-0: stale, primary, and not participating for longer than a failover takes',
      deletion('MemberImpaired', 2),
      'deleting moco-test-2: stale, and one of its sidecars does not work',
    ],
    evict: [
      { kind: 'evict', rule: 'ReplicaHealthy', targets: [targetOf(2)] },
      'evicting moco-test-2',
      { kind: 'evict', rule: 'SingleMember', targets: [targetOf(0)] },
      'evicting moco-test-0',
    ],
    updateInPlace: [
      updating(changeOf()),
      'updating moco-test-2 in place: the revisions do not differ',
      updating({ ...changeOf(), labels: { team: 'a' }, annotations: { note: null } }),
      'updating moco-test-2 in place: only metadata changes (team, note)',
      updating(changeOf('agent', 'slow-log')),
      'updating moco-test-2 in place: the kubelet restarts agent, slow-log',
    ],
    resizeInPlace: [
      resizing(resourcesOf('mysqld'), {
        name: 'agent',
        limits: { cpu: '1' },
        requests: { memory: '1Gi' },
        restarts: true,
      }),
      'resizing moco-test-2 in place: mysqld gets limits.cpu 2; agent gets limits.cpu 1, requests.memory 1Gi, and restarts',
    ],
    demote: [
      { kind: 'demote', rule: 'PrimaryLast', targets: [targetOf(0)], mark: revisionAfter },
      'asking MOCO to move the primary away from moco-test-0',
    ],
    undemote: [
      back('NoLongerPrimary'),
      'taking back the demotion of moco-test-0: it is no longer primary',
      back('NotDue'),
      'taking back the demotion of moco-test-0: it is not due for that revision',
      back('OthersDue'),
      'taking back the demotion of moco-test-0: another member is due before it',
      back('TimedOut'),
      'taking back the demotion of moco-test-0: the switchover timed out',
      back('StrategyChanged'),
      'taking back the demotion of moco-test-0: the update strategy has changed',
      back('Paused'),
      'taking back the demotion of moco-test-0: rule Paused holds',
      back('MarkWithoutDemote'),
      'removing the mark of a finished demotion from moco-test-0',
    ],
    release: [{ kind: 'release' }, 'releasing the StatefulSet to rolling updates by partition'],
    setStrategy: [
      { kind: 'setStrategy', newPods: 'UpdateRevision' },
      'setting the update strategy of the StatefulSet to OnDelete',
      { kind: 'setStrategy', newPods: 'CurrentRevision', lasts: 'whileHeld' },
      'letting lost members come back at their previous revision while the rollout is held',
      { kind: 'setStrategy', newPods: 'CurrentRevision', lasts: 'untilCreated' },
      'letting lost members come back at their previous revision until their pods exist again',
    ],
    setPartition: [
      { kind: 'setPartition', rule: 'ReplicaHealthy', partition: 2, targets: [targetOf(2)] },
      'lowering the partition of the StatefulSet to 2, which updates moco-test-2',
      { kind: 'setPartition', rule: 'AlreadyUpdated', partition: 1, targets: [] },
      'lowering the partition of the StatefulSet to 1',
    ],
    promoteRevision: [
      { kind: 'promoteRevision', revision: revisionAfter, replicas: 3, for: 'end', before: [] },
      `setting the current revision of the StatefulSet to ${revisionAfter}`,
    ],
  };
  for (const [kind, forms] of Object.entries(steps)) {
    it(`${kind} has one`, () => expectSentences(forms, explainStep));
  }
});

describe('a refusal of the API server', () => {
  const webhooks = 'kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations -o yaml';
  const refusals: Readonly<Record<string, string | null>> = {
    'pods "moco-a-2" is forbidden: exceeded quota: small, requested: cpu=1, used: cpu=3, limited: cpu=3':
      'kubectl describe resourcequota small',
    'admission webhook "validate.kyverno.svc-fail" denied the request: no': webhooks,
    'Internal error occurred: failed calling webhook "x.example.com": dial tcp: no route': webhooks,
    "ValidatingAdmissionPolicy 'no-latest' with binding 'all' denied request: no":
      'kubectl get validatingadmissionpolicy no-latest -o yaml',
    'pods "a" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot':
      'kubectl get namespace --show-labels',
    'pods "a" is forbidden: maximum cpu usage per Container is 1, but limit is 2': 'kubectl describe limitrange',
    'the object has been modified': null,
  };
  for (const [message, command] of Object.entries(refusals)) {
    it(`${command === null ? 'is shown as it is' : `points to ${command}`}: ${message.slice(0, 60)}`, () =>
      expect(pointedOut(`${message}.`)).to.equal(command === null ? message : `${message} (see \`${command}\`)`));
  }
});
