import { expect } from 'chai';
import { Deadlines } from '../../src/core/deadlines.ts';
import {
  canAcknowledge,
  classify,
  crashLoop,
  type Evidence,
  isParticipating,
  type MemberState,
  provenForSeconds,
} from '../../src/core/member.ts';
import type { MemberFacts } from '../../src/core/snapshot.ts';
import { stale } from './cluster-builder.ts';
import { type MemberBuilder, member } from './member-builder.ts';
import { decideCase } from './table.ts';

const factsOf = (builder: MemberBuilder) => builder.facts(0, 'revision');
const look = (builder: MemberBuilder) => {
  const deadlines = new Deadlines();
  return { ...classify(factsOf(builder), builder.isErrant, deadlines), requeueAfterSeconds: deadlines.soonestSeconds };
};

interface Line {
  readonly given: MemberBuilder;
  readonly state: MemberState;
  readonly evidence?: Evidence;
  readonly requeueAfterSeconds?: number;
}

const waiting = (container: string, reason: string, restarts: number): Evidence => ({
  kind: 'waiting',
  container,
  reason,
  restarts,
});

const states: Readonly<Record<string, Line>> = {
  'a member that serves participates': { given: member(1), state: 'participating' },
  'one with a deletionTimestamp is terminating': { given: member(1).terminating(), state: 'terminating' },
  'one that is down and terminating is terminating': {
    given: member(1).down('CrashLoopBackOff').terminating(),
    state: 'terminating',
  },
  'one that is not Ready while all its containers are is unreachable': {
    given: member(1).unreachable(),
    state: 'unreachable',
  },
  'one that is not Ready for a readiness gate participates': {
    given: member(1).but({ ready: false, readinessGateClosed: true }),
    state: 'participating',
  },
  'one whose sidecar is no more ready than its pod is reachable': {
    given: member(1).sidecarNotReady('slow-log', 1),
    state: 'participating',
    requeueAfterSeconds: 59,
  },
  'one whose init container that keeps running as a sidecar is not ready is reachable': {
    given: member(1).initContainer('proxy', { state: 'running', reason: null, ready: false }).but({ ready: false }),
    state: 'participating',
  },
  'one whose kubelet has never spoken about its init containers can be unreachable': {
    given: member(1).initContainer('moco-init', { state: 'waiting', reason: null, ready: false }).unreachable(),
    state: 'unreachable',
  },
  'one that has a single container can be unreachable': {
    given: member(1)
      .unreachable()
      .but({ containers: factsOf(member(1)).containers.slice(0, 1) }),
    state: 'unreachable',
  },
  'one with an init container that runs on as a sidecar and is ready can be unreachable': {
    given: member(1).initContainer('proxy', { state: 'running', reason: null, ready: true }).unreachable(),
    state: 'unreachable',
  },
  'one with an init container that is behind it can be unreachable, whether that is ready or not': {
    given: member(1).initContainer('moco-init', { ready: false, reason: 'Completed' }).unreachable(),
    state: 'unreachable',
  },
  'one that has not begun to run is simply not ready': {
    given: member(1).unreachable().but({ phase: 'Pending' }),
    state: 'participating',
  },
  'one whose init container was terminated does not wait, whatever the reason': {
    given: member(1).creating(1).initContainer('moco-init', { state: 'terminated', reason: 'CrashLoopBackOff' }),
    state: 'running',
    requeueAfterSeconds: 59,
  },
  'one without any container status is not unreachable': {
    given: member(1).but({ containers: [], ready: false }),
    state: 'running',
    requeueAfterSeconds: 60,
  },
  'one that MOCO lists as errant runs': { given: member(1).errant(), state: 'running', evidence: { kind: 'errant' } },
  'one whose mysqld lags behind runs': { given: member(1).lagging(), state: 'running' },
  'one whose agent is dead runs': { given: member(1).agentDead(), state: 'running' },
  'one between two attempts to start runs': { given: member(1).crashLooping(), state: 'running' },
  'one whose containers are being created runs': {
    given: member(1).creating(59.5),
    state: 'running',
    requeueAfterSeconds: 0.5,
  },
  'one whose mysqld has not been running for a minute is down': {
    given: member(1).creating(60),
    state: 'down',
    evidence: { kind: 'idle' },
  },
  'one that hangs in an init container is down after a minute': {
    given: member(1).creating(61).initContainer('moco-init', { state: 'running', reason: null, ready: false }),
    state: 'down',
    evidence: { kind: 'idle' },
  },
  'one that no node accepts is down': {
    given: member(1).unschedulable('0/3 nodes are available'),
    state: 'down',
    evidence: { kind: 'unschedulable', message: '0/3 nodes are available' },
  },
  'one whose pod has failed is down, whatever its container statuses say': {
    given: member(1).but({ phase: 'Failed' }),
    state: 'down',
    evidence: { kind: 'failed', reason: null },
  },
  'one whose pod has failed is down': {
    given: member(1).failed(),
    state: 'down',
    evidence: { kind: 'failed', reason: null },
  },
  'one whose init container crashes is down': {
    given: member(1)
      .creating(1)
      .initContainer('moco-init', { state: 'waiting', reason: 'CrashLoopBackOff', ready: false, restarts: 2 }),
    state: 'down',
    evidence: waiting('moco-init', 'CrashLoopBackOff', 2),
  },
  'one whose mysqld runs is not down for an init container that keeps running as a sidecar': {
    given: member(1).lagging().initContainer('proxy', { state: 'waiting', reason: 'CrashLoopBackOff', ready: false }),
    state: 'running',
  },
  'one that participates is impaired by an init container that keeps running as a sidecar': {
    given: member(1)
      .initContainer('proxy', { state: 'waiting', reason: 'CrashLoopBackOff', ready: false, restarts: 3 })
      .but({ ready: false }),
    state: 'impaired',
    evidence: waiting('proxy', 'CrashLoopBackOff', 3),
  },
  'one whose sidecar is stuck is impaired': {
    given: member(1).impaired('slow-log'),
    state: 'impaired',
    evidence: waiting('slow-log', 'CrashLoopBackOff', 4),
  },
  'one whose agent is stuck while mysqld is still ready is impaired': {
    given: member(1).impaired('agent', 'ErrImagePull'),
    state: 'impaired',
    evidence: waiting('agent', 'ErrImagePull', 4),
  },
  'one whose sidecar restarts for a second participates': {
    given: member(1)
      .container('slow-log', { state: 'terminated', reason: 'Error', ready: false, restarts: 1, notReadyForSeconds: 1 })
      .but({ ready: false }),
    state: 'participating',
    requeueAfterSeconds: 59,
  },
  'one whose sidecar has not been ready for a minute is impaired': {
    given: member(1).sidecarNotReady('mysqld-exporter', 60),
    state: 'impaired',
    evidence: { kind: 'notReady', container: 'mysqld-exporter' },
  },
};

describe('the state of a member', () => {
  for (const [sentence, { given, state, evidence, requeueAfterSeconds }] of Object.entries(states)) {
    it(sentence, () => {
      expect(look(given)).to.deep.equal({
        state,
        evidence: evidence ?? null,
        requeueAfterSeconds: requeueAfterSeconds ?? null,
      });
    });
  }

  const stopped = [
    'CrashLoopBackOff',
    'ImagePullBackOff',
    'ErrImagePull',
    'InvalidImageName',
    'CreateContainerConfigError',
    'CreateContainerError',
    'RunContainerError',
  ];
  for (const reason of stopped) {
    it(`is down while mysqld waits for ${reason}, and impaired while a sidecar does`, () => {
      expect(look(member(1).down(reason)).state).to.equal('down');
      expect(look(member(1).impaired('slow-log', reason)).state).to.equal('impaired');
    });
  }

  it('is not down while mysqld waits for a reason that passes', () => {
    expect(look(member(1).down('PodInitializing')).state).to.equal('running');
    expect(look(member(1).sidecarNotReady('slow-log', 1).container('slow-log', { state: 'waiting' })).state).to.equal(
      'participating',
    );
  });
});

const stateOf = (builder: MemberBuilder) => look(builder).state;
const loopOf = (builder: MemberBuilder): Evidence | null => crashLoop(factsOf(builder));

describe('how long a member has shown that its revision works', () => {
  const lines: Readonly<Record<string, readonly [MemberBuilder, number | null]>> = {
    'is as long as it has participated': [member(1).participatingFor(7), 7],
    'and not longer than its pod has had the revision': [member(1).participatingFor(7).relabelledFor(3), 3],
    'and not longer than its containers have run since they were restarted for it': [
      member(1).relabelledFor(3).restartedInPlace('agent', 2),
      2,
    ],
    'is nothing while such a container is awaited': [member(1).relabelledFor(3).restartsInPlace('agent'), null],
    'is nothing while it does not participate': [member(1).starting().relabelledFor(3), null],
  };
  for (const [sentence, [given, seconds]] of Object.entries(lines)) {
    it(sentence, () => {
      expect(provenForSeconds(given.facts(0, 'revision'))).to.equal(seconds);
    });
  }
});

describe('a crash loop', () => {
  it('is seen in mysqld, the agent and an init container, whatever they do at the moment', () => {
    expect(loopOf(member(1).crashLooping('mysqld', 3))).to.deep.equal({
      kind: 'crashLooping',
      container: 'mysqld',
      restarts: 3,
    });
    expect(loopOf(member(1).crashLooping('agent', 2))).to.deep.include({ container: 'agent', restarts: 2 });
    const init = member(1).initContainer('moco-init', { ready: false, restarts: 2, readySinceRestart: false });
    expect(loopOf(init)).to.deep.include({ container: 'moco-init' });
  });

  it('is not one after a single restart, as when a node boots, however many came before', () => {
    const booted = { ready: false, readySinceRestart: false, restarts: 9 };
    for (const [name, one] of [
      ['mysqld', member(1).container('mysqld', booted)],
      ['moco-init', member(1).initContainer('moco-init', { ...booted, state: 'running' })],
    ] as const) {
      const facts = one.facts(0, 'revision');
      const once = (all: MemberFacts['containers']) =>
        all.map((container) => (container.name === name ? { ...container, restartsInVain: 1 } : container));
      const after = { ...facts, containers: once(facts.containers), initContainers: once(facts.initContainers) };
      expect(crashLoop(after), name).to.equal(null);
    }
  });

  it('is not one before the first restart, once ready since, or in a sidecar', () => {
    expect(loopOf(member(1).starting())).to.equal(null);
    expect(loopOf(member(1).container('mysqld', { restarts: 5 }))).to.equal(null);
    expect(loopOf(member(1).lagging().container('mysqld', { restarts: 5 }))).to.equal(null);
    expect(loopOf(member(1).impaired('slow-log'))).to.equal(null);
  });
});

describe('who can acknowledge', () => {
  const can = (builder: MemberBuilder, updated = false): boolean =>
    canAcknowledge(
      builder.facts(0, 'revision'),
      look(builder).state,
      updated,
      builder.isErrant,
      loopOf(builder) !== null,
    );

  it('includes a stale member whose mysqld runs, however far behind', () => {
    expect(can(member(1))).to.equal(true);
    expect(can(member(1).lagging())).to.equal(true);
    expect(can(member(1).impaired('slow-log'))).to.equal(true);
  });

  it('includes an updated member only while it participates', () => {
    expect(can(member(1), true)).to.equal(true);
    expect(can(member(1).impaired('slow-log'), true)).to.equal(true);
    expect(can(member(1).lagging(), true)).to.equal(false);
  });

  it('excludes members that are terminating, unreachable, errant, crash-looping or not started', () => {
    expect(can(member(1).terminating())).to.equal(false);
    expect(can(member(1).unreachable())).to.equal(false);
    expect(can(member(1).errant())).to.equal(false);
    expect(can(member(1).crashLooping())).to.equal(false);
    expect(can(member(1).agentDead())).to.equal(false);
    expect(can(member(1).lagging().container('mysqld', { started: false }))).to.equal(false);
    expect(can(member(1).creating(5))).to.equal(false);
  });
});

describe('a member behind a lost kubelet', () => {
  it('does not participate, nor does one that is terminating', () => {
    expect(isParticipating(factsOf(member(1)), false)).to.equal(true);
    expect(isParticipating(factsOf(member(1).unreachable()), false)).to.equal(false);
    expect(isParticipating(factsOf(member(1).terminating()), false)).to.equal(false);
  });
  it('counts as evidence neither for nor against its revision, whatever an init container did', () => {
    const before = { ready: false, readySinceRestart: false, restarts: 2, reason: 'Completed' } as const;
    const { hold } = decideCase({
      given: stale().members(member(2).updated().unreachable().initContainer('moco-init', before)),
    });
    expect(hold?.rule).to.equal('UpdatedMemberNotParticipating');
  });
});

describe('a container', () => {
  it('that is ready does not crash, whatever was before', () => {
    expect(crashLoop(factsOf(member(1).container('mysqld', { restarts: 5, readySinceRestart: false })))).to.equal(null);
  });
  it('that was terminated acknowledges nothing, though it had started', () => {
    const gone = member(1).container('mysqld', { ready: false, state: 'terminated', reason: 'Error', started: true });
    expect(canAcknowledge(factsOf(gone), stateOf(gone), false, false, false)).to.equal(false);
  });
});
