import type { Json } from '../../src/base/json.ts';
import { type EvictionRecord, projectEviction, responderName } from '../../src/evictions/eviction.ts';

/** When the responder of {@link activeEviction} became active. */
export const startedAt = Date.parse('2026-01-02T03:04:05Z');

interface Given {
  readonly state?: string;
  readonly entry?: object;
  readonly conditions?: readonly object[];
  readonly requesters?: readonly object[];
  readonly pod?: object;
}

/** An Eviction as the API server has it, with Kubernetes' own responder beside this program's. */
export function rawEviction(given: Given = {}): Json {
  const { state = 'Active', entry = {}, conditions = [], pod = { name: 'moco-test-0', uid: 'pod-0' } } = given;
  const { requesters = [{ name: 'drain.example.com/node', intent: 'Eviction' }] } = given;
  const evictor = 'imperative-eviction.k8s.io/evictor';
  return {
    metadata: { namespace: 'shop', name: 'pod-1-moco-test-0', uid: 'eviction', resourceVersion: '7' },
    spec: { target: { pod } },
    status: {
      conditions,
      requesters,
      targetResponders: [
        { name: responderName, priority: 10_000, state },
        { name: evictor, priority: 100, state: 'Inactive' },
      ],
      responders: [{ name: responderName, startTime: '2026-01-02T03:04:05Z', ...entry }, { name: evictor }],
    },
  };
}

/** Of a responder that is active since {@link startedAt}. */
export function activeEviction(more: Partial<EvictionRecord> = {}): EvictionRecord {
  const record = projectEviction(rawEviction());
  if (record === null) throw new Error('Expected an Eviction in which moco-rollout is a responder, got none');
  return { ...record, ...more };
}
