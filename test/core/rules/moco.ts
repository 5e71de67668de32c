import type { mocoAway } from '../../../src/core/rules/moco.ts';
import { stale } from '../cluster-builder.ts';
import { when } from '../table.ts';
import { type Examples, held, next } from './example.ts';

const lease = { lease: 'moco-system/moco', holder: 'moco-controller-a' } as const;

export const examples: Examples<keyof typeof mocoAway> = {
  MocoNotAsked: {
    applies: held(stale().mocoLease({ ageSeconds: 10 }), {}),
    says: 'waiting to read the Lease of moco-controller',
    justDoesNot: when(stale().mocoLease({ ageSeconds: 9 }), next),
  },
  MocoUnavailable: {
    applies: held(stale().mocoLease({ renewedForSeconds: 30 }), { ...lease, cause: 'notRenewed' }, {}, 2),
    says: 'moco-controller is not renewing its Lease moco-system/moco, which moco-controller-a holds',
    justDoesNot: when(stale().mocoLease({ renewedForSeconds: 29 }), next),
    alsoSays: [
      { ...lease, cause: 'missing' },
      'there is no Lease moco-system/moco: moco-controller is not running, or uses a different Lease',
      { ...lease, cause: 'free' },
      'no instance of moco-controller is the leader: its Lease moco-system/moco is free',
      { ...lease, cause: 'unseen' },
      'moco-controller has not been seen to renew its Lease moco-system/moco',
    ],
  },
};
