import type { preflightRunning, refusedOnNodes } from '../../../src/core/rules/preflight.ts';
import { stale } from '../cluster-builder.ts';
import { member } from '../member-builder.ts';
import { deletes, when } from '../table.ts';
import { type Examples, held, next } from './example.ts';

const refusedNode = { nodeName: 'n-1', members: [2], message: 'not found.', againInSeconds: 60 } as const;

export const examples: Examples<keyof typeof refusedOnNodes | keyof typeof preflightRunning> = {
  ImageUnavailable: {
    applies: held(
      stale().preflight({ refusals: [{ ...refusedNode, result: 'ImageUnavailable' }] }),
      { nodeName: 'n-1', message: 'not found.', others: 0 },
      {},
      60,
    ),
    says: 'node n-1 cannot get an image of the update revision: not found',
    justDoesNot: when(stale().preflight(), next),
    alsoSays: [
      { nodeName: 'n-1', message: 'mysql:8: not found', others: 2 },
      'node n-1 (and 2 more) cannot get an image of the update revision: mysql:8: not found',
    ],
  },
  ConfigurationRefused: {
    applies: held(
      stale().preflight({ refusals: [{ ...refusedNode, result: 'ConfigurationRefused', againInSeconds: 0 }] }),
      { nodeName: 'n-1', message: 'not found.', others: 0 },
      {},
      5,
    ),
    says: 'the mysqld of the update revision rejects its configuration on node n-1: not found',
    justDoesNot: when(
      stale()
        .members(member(2).stale().down('CrashLoopBackOff'))
        .preflight({ refusals: [{ ...refusedNode, result: 'ConfigurationRefused' }] }),
      deletes('MemberDown', 2),
    ),
  },
  PreflightRunning: {
    applies: held(
      stale().preflight({ awaited: [{ about: 'images', nodeName: 'n-1', forSeconds: 299, message: null }] }),
      { nodes: ['n-1'], checking: null, message: null, limitSeconds: 300 },
      {},
      1,
    ),
    says: 'node n-1 is fetching the images of the update revision, for at most 300 s',
    justDoesNot: when(
      stale().preflight({ awaited: [{ about: 'images', nodeName: 'n-1', forSeconds: 300, message: null }] }),
      next,
    ),
    alsoSays: [
      { nodes: ['n-1', 'n-2'], checking: 'n-1', message: '0/3 nodes are available.', limitSeconds: 300 },
      'nodes n-1, n-2 are fetching the images of the update revision, and the new mysqld is checking its configuration on node n-1, for at most 300 s (0/3 nodes are available)',
      { nodes: [], checking: 'n-1', message: null, limitSeconds: 300 },
      'the new mysqld is checking its configuration on node n-1, for at most 300 s',
    ],
  },
};
