import type { recreatable, unread } from '../../../src/core/rules/recreatable.ts';
import { lastOne, stale } from '../cluster-builder.ts';
import { member } from '../member-builder.ts';
import { deletes, demotes, when } from '../table.ts';
import { type Examples, held, next } from './example.ts';

const tooMany = { what: 'topologySpreadConstraints in the pod template', most: 64, got: 1000 };

export const examples: Examples<keyof typeof recreatable | keyof typeof unread> = {
  ClaimTerminating: {
    applies: held(
      stale().members(member(2).stale().claimEnds()),
      { member: 2, claims: [{ name: 'mysql-data-moco-test-2', state: 'terminating' }], uncloneable: null },
      {},
      60,
    ),
    says: 'deleting moco-test-2 would destroy its data: its claim mysql-data-moco-test-2 is being deleted and will disappear with the pod',
    justDoesNot: when(stale().members(member(1).stale().claimEnds()), next),
    alsoSays: [
      { member: 2, claims: [{ name: 'mysql-data-moco-test-2', state: 'unread' }], uncloneable: null },
      'deleting moco-test-2 may destroy its data: it mounts more than 32 claims, among them mysql-data-moco-test-2, so they are not checked',
      {
        member: 2,
        claims: [
          { name: 'mysql-data-moco-test-2', state: 'missing' },
          { name: 'logs-moco-test-2', state: 'terminating' },
        ],
        uncloneable: null,
      },
      'deleting moco-test-2 would destroy its data: its claim mysql-data-moco-test-2 no longer exists; its claim logs-moco-test-2 is being deleted and will disappear with the pod',
      {
        member: 2,
        claims: [{ name: 'mysql-data-moco-test-2', state: 'missing' }],
        uncloneable: { donor: '8.4.8', mysqld: '9.7.4' },
      },
      'deleting moco-test-2 would destroy its data: its claim mysql-data-moco-test-2 no longer exists; mysqld 9.7.4 cannot clone the primary, which runs 8.4.8',
    ],
  },
  NodeTakesNoPods: {
    applies: held(
      lastOne().members(member(0).stale().tiedToCordonedNode()),
      { member: 0, nodeName: 'n-0', refusals: ['is cordoned'], ties: ['the volume pvc-0'] },
      {},
      60,
    ),
    says: 'a new pod of moco-test-0 would stay Pending: its node n-0 is cordoned, and the volume pvc-0 rules out every other node that accepts pods',
    justDoesNot: when(lastOne().members(member(0).stale().onCordonedNode()), demotes(0)),
    alsoSays: [
      {
        member: 2,
        nodeName: 'n-1',
        refusals: ['is not ready', 'is short of memory'],
        ties: ['the volume pvc-1', 'the nodeSelector'],
      },
      'a new pod of moco-test-2 would stay Pending: its node n-1 is not ready and is short of memory, and the volume pvc-1 and the nodeSelector rule out every other node that accepts pods',
      { member: 2, nodeName: 'n-1', refusals: ['is gone'], ties: [] },
      'a new pod of moco-test-2 would stay Pending: its node n-1 is gone, and no other node accepts pods',
    ],
  },
  PlacementUnknown: {
    applies: held(
      stale().members(member(2).stale().recreatable({ unjudged: tooMany })),
      { member: 2, ...tooMany },
      {},
      60,
    ),
    says: 'it is unknown which nodes can run a new pod of moco-test-2: expected at most 64 topologySpreadConstraints in the pod template, got 1000; remove some',
    justDoesNot: when(
      stale().members(member(2).stale().down('CrashLoopBackOff').recreatable({ unjudged: tooMany })),
      deletes('MemberDown', 2),
    ),
  },
  SuccessorRefused: {
    applies: held(
      stale().members(member(2).stale().recreatable({ refusal: 'exceeded quota.' })),
      { member: 2, message: 'exceeded quota.' },
      {},
      60,
    ),
    says: 'the API server would not admit a new pod of moco-test-2: exceeded quota',
    justDoesNot: when(
      stale().members(member(2).stale().down('CrashLoopBackOff').recreatable({ refusal: 'exceeded quota.' })),
      deletes('MemberDown', 2),
    ),
  },
  RecreationUnknown: {
    applies: held(stale().members(member(2).stale().recreatable({ ageSeconds: 60 })), { members: [2] }),
    says: 'checking whether moco-test-2 can be recreated',
    justDoesNot: when(stale().members(member(2).stale().recreatable({ ageSeconds: 59 })), next),
    alsoSays: [{ members: [1, 2] }, 'checking whether moco-test-1, moco-test-2 can be recreated'],
  },
};
