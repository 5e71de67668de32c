import type { mocoAway } from '../../../src/core/rules/moco.ts';
import { stale } from '../cluster-builder.ts';
import { when } from '../table.ts';
import { type Examples, held, next } from './example.ts';

const lease = { lease: 'moco-system/moco', holder: 'moco-controller-a' } as const;

export const examples: Examples<keyof typeof mocoAway> = {
  MocoNotAsked: {
    applies: held(stale().mocoLease({ ageSeconds: 10 }), {}),
    says: 'waiting for the Lease of moco-controller to be read',
    justDoesNot: when(stale().mocoLease({ ageSeconds: 9 }), next),
  },
  MocoUnavailable: {
    applies: held(stale().mocoLease({ renewedForSeconds: 30 }), { ...lease, cause: 'notRenewed' }, {}, 2),
    says: 'moco-controller does not renew its Lease moco-system/moco, which moco-controller-a holds',
    justDoesNot: when(stale().mocoLease({ renewedForSeconds: 29 }), next),
    alsoSays: [
      { ...lease, cause: 'missing' },
      'there is no Lease moco-system/moco: moco-controller does not run, or uses another Lease',
      { ...lease, cause: 'free' },
      'no instance of moco-controller leads: its Lease moco-system/moco is free',
      { ...lease, cause: 'unseen' },
      'moco-controller has not been seen to renew its Lease moco-system/moco',
    ],
  },
};
