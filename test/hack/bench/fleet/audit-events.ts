import type { AuditEvent } from '../../../support/control-plane/audit-log.ts';
import { timestampAt } from '../rollouts/sights.ts';

const answerMilliseconds = 5;

interface Written {
  readonly verb: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly name: string;
  readonly body?: unknown;
  readonly code?: number;
  readonly user?: string;
}

/** A request as the API server records it, answered 5 ms after it came. */
function event(atMilliseconds: number, written: Written): AuditEvent {
  const { verb, resource, subresource, name, body, code = 200, user = 'nodes' } = written;
  return {
    auditID: `${resource} ${atMilliseconds}`,
    stage: 'ResponseComplete',
    level: 'Request',
    verb,
    requestURI: '/',
    user: { username: user },
    objectRef: { resource, name, namespace: 'demo', ...(subresource === undefined ? {} : { subresource }) },
    responseStatus: { code },
    requestObject: body,
    requestReceivedTimestamp: timestampAt(atMilliseconds),
    stageTimestamp: timestampAt(atMilliseconds + answerMilliseconds),
  };
}

const controller = 'system:serviceaccount:moco-rollout-system:moco-rollout';
const conditions = (types: Readonly<Record<string, boolean>>) =>
  Object.entries(types).map(([type, is]) => ({ type, status: is ? 'True' : 'False' }));

export function podMade(at: number, name: string): AuditEvent {
  return event(at, { verb: 'create', resource: 'pods', name, user: 'system:kube-controller-manager', code: 201 });
}

export function podReady(at: number, name: string, ready = true): AuditEvent {
  const body = { status: { conditions: conditions({ Ready: ready }) } };
  return event(at, { verb: 'patch', resource: 'pods', subresource: 'status', name, body });
}

export function roleSet(at: number, name: string, role: string): AuditEvent {
  const body = { metadata: { labels: { 'moco.cybozu.com/role': role } } };
  return event(at, { verb: 'patch', resource: 'pods', name, body, user: 'moco-controller' });
}

export function healthy(at: number, is: boolean, syncedReplicas = 3): AuditEvent {
  const status = {
    conditions: conditions({ Healthy: is, Available: true, ReconcileSuccess: true }),
    syncedReplicas,
    reconcileInfo: { generation: 2 },
  };
  const body = { spec: { replicas: 3 }, status };
  const written = { verb: 'update', resource: 'mysqlclusters', subresource: 'status', name: 'test', body };
  return event(at, { ...written, user: 'moco-controller' });
}

export function budget(at: number, disruptionsAllowed: number): AuditEvent {
  const written = { verb: 'update', resource: 'poddisruptionbudgets', subresource: 'status', name: 'moco-test' };
  return event(at, { ...written, body: { status: { disruptionsAllowed } }, user: 'system:kube-controller-manager' });
}

export function evicted(at: number, name: string, code = 201): AuditEvent {
  return event(at, { verb: 'create', resource: 'pods', subresource: 'eviction', name, code, user: controller });
}

export function deleted(at: number, name: string, user = controller): AuditEvent {
  return event(at, { verb: 'delete', resource: 'pods', name, user });
}

export function demoted(at: number, name: string, value: 'true' | null): AuditEvent {
  const body = { metadata: { annotations: { 'moco.cybozu.com/demote': value } } };
  return event(at, { verb: 'patch', resource: 'pods', name, body, user: controller });
}
