import { expect } from 'chai';
import { lookAtPodsSeconds, type Preflight, retryAfterSeconds } from '../../src/core/on-demand-facts.ts';
import { stale, three } from './cluster-builder.ts';
import { member } from './member-builder.ts';
import { deletes, evicts, holds, play, updatesInPlace, when } from './table.ts';

const missing = {
  nodeName: 'n-1',
  members: [2],
  result: 'ImageUnavailable',
  message: 'not found',
  againInSeconds: 40,
} as const satisfies Preflight['refusals'][number];
const waiting = { about: 'images', nodeName: 'n-2', forSeconds: 12, message: null } as const;
const refused = { refusals: [{ ...missing, result: 'ConfigurationRefused' as const }] };

const next = evicts('ReplicaHealthy', 2);
const runsOn = (...nodes: readonly string[]) =>
  holds({ rule: 'PreflightRunning', nodes, checking: null, message: null, limitSeconds: 300 });
const unavailable = (others = 0) => holds({ rule: 'ImageUnavailable', nodeName: 'n-1', message: 'not found', others });
const configurationRefused = holds({ rule: 'ConfigurationRefused', nodeName: 'n-1', message: 'not found', others: 0 });
const notHealthy = holds({ rule: 'ClusterNotHealthy', healthy: false, synced: 3, replicas: 3 });
const ifPossible = updatesInPlace('IfPossible');
const twoNodes = () =>
  stale().preflight({
    awaited: [
      { ...waiting, forSeconds: 300 },
      { ...waiting, nodeName: 'n-3' },
    ],
  });
const twoRefusals = () => stale().preflight({ refusals: [missing, { ...missing, nodeName: 'n-3' }] });
/** It does not participate. */
const errant = () => stale().members(member(2).stale().errant());

describe('the preflight of a revision', () => {
  play({
    'replaces no member while a node has no result': when(
      stale().preflight({ awaited: [waiting] }),
      runsOn('n-2'),
      {},
      2,
    ),
    'names the nodes that it waits for, and why the first of them waits': when(
      stale().preflight({
        awaited: [
          waiting,
          { ...waiting, nodeName: 'n-3', forSeconds: 100, message: 'no room' },
          { ...waiting, about: 'configuration', forSeconds: 20 },
        ],
      }),
      holds({
        rule: 'PreflightRunning',
        nodes: ['n-2', 'n-3'],
        checking: 'n-2',
        message: 'no room',
        limitSeconds: 300,
      }),
      {},
      2,
    ),
    'continues after its limit': when(stale().preflight({ awaited: [{ ...waiting, forSeconds: 300 }] }), next),
    'is looked at when its limit is over, whatever else holds the rollout': when(
      stale()
        .unhealthy()
        .preflight({ awaited: [{ ...waiting, forSeconds: 290 }] }),
      notHealthy,
      {},
      10,
    ),
    'waits for a node that was asked last until its own time is over': when(twoNodes(), runsOn('n-3')),
    'waits for no node after the limit of the user': when(twoNodes(), next, { preflightTimeoutSeconds: 12 }),
    'holds for an image that a node cannot pull, however long it lasts': when(twoRefusals(), unavailable(1), {}, 40),
    'is looked at again when it is tried again': when(
      stale().preflight({ refusals: [{ ...missing, againInSeconds: 1 }] }),
      unavailable(),
      {},
      1,
    ),
    'does not once a user overrides it': when(twoRefusals(), next, {
      overrides: [{ rule: 'ImageUnavailable', remainingSeconds: 600 }],
    }),
    'holds a switchover': when(three(member(0).stale()).preflight(refused), configurationRefused),
    'holds a container that would restart in place': when(
      stale().members(member(2).stale().changeable('agent')).preflight(refused),
      configurationRefused,
      ifPossible,
    ),
    'holds no member that is down': when(
      stale()
        .members(member(2).stale().down('CrashLoopBackOff'))
        .preflight({ awaited: [waiting], refusals: [missing] }),
      deletes('MemberDown', 2),
    ),
    'keeps no member from being replaced that does not participate': when(
      errant().preflight({ awaited: [waiting], refusals: [{ ...missing, members: [1] }] }),
      deletes('MemberNotParticipating', 2),
    ),
    'does on a node that refuses': when(errant().preflight({ refusals: [missing] }), unavailable()),
    'is asked about only once nothing else holds the step': when(
      stale()
        .unhealthy()
        .preflight({ awaited: [waiting] }),
      notHealthy,
    ),
    'is asked about before the checks': when(
      stale()
        .preflight({ awaited: [waiting] })
        .check('errant', null),
      runsOn('n-2'),
    ),
  });

  it('is tried again after a minute, then after twice as long each time, at most ten minutes later', () => {
    const tries = [0];
    while ((tries.at(-1) ?? 0) < 3000) tries.push((tries.at(-1) ?? 0) + retryAfterSeconds(tries.at(-1) ?? 0));
    expect(tries).to.deep.equal([0, 60, 120, 240, 480, 960, 1560, 2160, 2760, 3360]);
  });

  it('checks its pods less often the longer it lasts', () => {
    expect([0, 9, 10, 59, 60, 300].map(lookAtPodsSeconds)).to.deep.equal([1, 1, 2, 2, 5, 5]);
  });
});
