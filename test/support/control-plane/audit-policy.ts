/** How much of a request the API server writes down. */
type AuditLevel = 'None' | 'Metadata' | 'Request' | 'RequestResponse';

export interface AuditSettings {
  /** For creates, updates, patches and deletes of anything but leases and events. */
  readonly writes: AuditLevel;
  /** For gets, lists and watches. */
  readonly reads: AuditLevel;
  /** For everything kube-controller-manager does, watching and leases excepted. */
  readonly controllerManager: AuditLevel;
}

export const auditDefaults: AuditSettings = { writes: 'Request', reads: 'Metadata', controllerManager: 'Metadata' };

/** Requests under this path only serve as markers in the log. */
export const markerPath = '/moco-rollout-audit-marker';

/** An audit.k8s.io/v1 Policy; the first rule that matches a request decides. */
export function auditPolicy(settings: AuditSettings): Readonly<Record<string, unknown>> {
  const reading = ['get', 'list', 'watch'];
  const writing = ['create', 'update', 'patch', 'delete', 'deletecollection'];
  return {
    apiVersion: 'audit.k8s.io/v1',
    kind: 'Policy',
    omitStages: ['RequestReceived'],
    omitManagedFields: true,
    rules: [
      { level: 'Metadata', nonResourceURLs: [`${markerPath}/*`] },
      { level: 'None', users: ['system:apiserver'] },
      { level: 'None', users: ['system:kube-controller-manager'], verbs: reading },
      { level: settings.controllerManager, users: ['system:kube-controller-manager'] },
      {
        level: 'Metadata',
        verbs: writing,
        resources: [
          { group: 'coordination.k8s.io', resources: ['leases'] },
          { group: '', resources: ['events', 'serviceaccounts/token'] },
          { group: 'events.k8s.io', resources: ['events'] },
        ],
      },
      { level: settings.writes, verbs: writing },
      { level: settings.reads, verbs: reading },
      { level: 'None' },
    ],
  };
}
