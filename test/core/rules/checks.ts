import type { checks } from '../../../src/core/rules/checks.ts';
import { stale } from '../cluster-builder.ts';
import { when } from '../table.ts';
import { type Examples, held, next } from './example.ts';

const failing = { kind: 'failing', series: { labels: {}, value: '1', others: 0 } } as const;

export const examples: Examples<keyof typeof checks> = {
  CheckFailing: {
    applies: held(
      stale().check('errant', failing, { ageSeconds: 29 }),
      { checks: [{ check: 'errant', labels: {}, value: '1', others: 0 }] },
      {},
      1,
    ),
    says: 'the check errant fails: {} is 1',
    justDoesNot: when(stale().check('errant', { kind: 'passing' }, { ageSeconds: 4 }), next),
    alsoSays: [
      {
        checks: [
          {
            check: 'replication-delay',
            labels: { __name__: 'mysql_slave_lag_seconds', pod: 'moco-test-1', note: 'a "b"' },
            value: '41.5',
            others: 2,
          },
          { check: 'alerts', labels: {}, value: '+Inf', others: 0 },
          { check: 'up', labels: { __name__: 'up' }, value: '0', others: 0 },
          { check: 'lag', labels: {}, value: '', others: 0, missing: 'lag{name="test"}' },
        ],
      },
      String.raw`the check replication-delay fails: mysql_slave_lag_seconds{pod="moco-test-1", note="a \"b\""} is 41.5 (and 2 more series); the check alerts fails: {} is +Inf; the check up fails: up is 0; the check lag fails: there is no series of lag{name="test"}`,
    ],
  },
  CheckPending: {
    applies: held(stale().check('errant', null), { checks: ['errant'] }),
    says: 'waiting for Prometheus to answer the check errant',
    justDoesNot: when(stale().check('errant', { kind: 'passing' }), next),
    alsoSays: [{ checks: ['errant', 'lag'] }, 'waiting for Prometheus to answer the checks errant, lag'],
  },
  CheckUnavailable: {
    applies: held(
      stale().check('errant', { kind: 'unknown', message: 'no route' }, { ageSeconds: 29 }),
      { checks: [{ check: 'errant', message: 'no route' }] },
      {},
      1,
    ),
    says: 'Prometheus returned no usable result for the check errant (no route)',
    justDoesNot: when(stale().check('errant', { kind: 'passing' }, { ageSeconds: 4 }), next),
    alsoSays: [
      {
        checks: [
          { check: 'errant', message: 'https://prometheus.example: ECONNREFUSED.' },
          { check: 'errors', message: 'https://prometheus.example: ECONNREFUSED.' },
        ],
      },
      'Prometheus returned no usable result for the checks errant, errors (https://prometheus.example: ECONNREFUSED)',
    ],
  },
};
