import { join } from 'node:path';
import { endOfAudit, readAudit } from '../../../test/support/control-plane/audit-lines.ts';
import type { AuditEvent } from '../../../test/support/control-plane/audit-log.ts';
import type { ControlPlane } from '../../../test/support/control-plane/control-plane.ts';

/** How many writes a rollout cost the API server, refused ones included; nodes and this benchmark aside. */
export interface WriteCount {
  /** This program's: pods, MySQLRollouts, the condition on the MySQLCluster. */
  readonly own: number;
  /** This program's Events. */
  readonly ownEvents: number;
  /** The stand-in for MOCO's. */
  readonly moco: number;
  /** kube-controller-manager's, its Events aside. */
  readonly kubernetes: number;
}

interface Window {
  readonly namespace: string;
  /** Milliseconds since 1970. */
  readonly fromWall: number;
  readonly toWall: number;
}

const writing = new Set(['create', 'update', 'patch', 'delete', 'deletecollection']);
const none: WriteCount = { own: 0, ownEvents: 0, moco: 0, kubernetes: 0 };

/** In the order of the windows. Reads the API server's whole record, a line at a time: memory should not hold it. */
export async function countWrites(
  { directory }: Pick<ControlPlane, 'directory'>,
  windows: readonly Window[],
): Promise<readonly WriteCount[]> {
  const entries = windows.map((window) => ({ window, count: none }));
  const byNamespace = new Map(entries.map((entry) => [entry.window.namespace, entry]));
  const file = join(directory, 'audit.log');
  await readAudit(file, { from: 0, to: await endOfAudit(file) }, (event) => {
    const entry = byNamespace.get(event.objectRef?.namespace ?? '');
    const at = Date.parse(event.requestReceivedTimestamp);
    if (entry === undefined || at < entry.window.fromWall || at > entry.window.toWall) return;
    const kind = kindOf(event);
    if (kind !== null) entry.count = { ...entry.count, [kind]: entry.count[kind] + 1 };
  });
  return entries.map(({ count }) => count);
}

function kindOf({ verb, user, objectRef }: AuditEvent): keyof WriteCount | null {
  if (!writing.has(verb)) return null;
  const isEvent = objectRef?.resource === 'events';
  switch (user.username) {
    case 'system:serviceaccount:moco-rollout-system:moco-rollout':
      return isEvent ? 'ownEvents' : 'own';
    case 'moco-controller':
      return 'moco';
    case 'system:kube-controller-manager':
      return isEvent ? null : 'kubernetes';
    default:
      return null;
  }
}
