import type { MocoLease } from '../../core/on-demand-facts.ts';
import type { ClusterSnapshot } from '../../core/snapshot.ts';
import type { Row } from './asking.ts';
import type { SeenLease } from './moco-lease.ts';

export const moco: Row<'moco', SeenLease | null, Pick<ClusterSnapshot, 'moco'>> = {
  asks: 'the API server: the Lease by which moco-controller elects its leader',
  lasts: '10 s',
  silence: 'no step in this pass; without the right to read the Lease, nothing is held',
  initial: null,
  ask: (_, { api, sources }) => sources.moco.read(api),
  facts: (seen, { nowMilliseconds }) => {
    if (seen === null) return { moco: unread };
    const { atMilliseconds, renewedAtMilliseconds, ...read } = seen;
    const renewedForSeconds = renewedAtMilliseconds === null ? null : (nowMilliseconds - renewedAtMilliseconds) / 1000;
    return { moco: { ...read, ageSeconds: (nowMilliseconds - atMilliseconds) / 1000, renewedForSeconds } };
  },
  confirm: {
    order: 'withObjects',
    plan: (_, { sources }) => ({ requests: 1, ask: (api) => sources.moco.read(api) }),
  },
  status: { whileOutstanding: 'the previous hold' },
};

const unread: MocoLease = {
  lease: '',
  state: 'missing',
  holder: '',
  durationSeconds: 0,
  ageSeconds: null,
  renewedForSeconds: null,
};
