/**
 * Every name under which a log line carries what it is about, so that all lines about one thing can be found, and what
 * stands there. Lines for people show them in this order. docs/operating.md has the same table; a test holds the code
 * to both.
 */
export const logFields = {
  cluster: '`namespace/name` of the MySQLCluster',
  step: 'the kind of step, such as `evict`',
  rule: 'the rule behind a step or a hold; `idle` or `complete` where nothing holds and there is nothing to do',
  member: 'name of a pod, or of several with commas',
  revision: 'the update revision, as in the label `controller-revision-hash`',
  stale: 'how many members are not at the update revision',
  result: 'what became of a step: `done`, `refused`, `conflict` or `unknown`',
  answer: 'what the API server said to a step that it did not do',
  retries: 'how often in a row a pass over the cluster has failed',
  reason: 'the reason of an Event that could not be written',
  namespace: 'namespace of the object of that Event',
  lease: '`namespace/name` of the lease by which one of several replicas leads',
  identity: 'this process as the lease names it',
  clusters: 'how many MySQLClusters are known',
  path: 'of a request to the API server, or to this program',
  milliseconds: 'for how long',
  waitMilliseconds: 'how long until the next try',
  validTo: "end of the webhook certificate's validity",
  version: 'version of this program',
  server: 'address of the API server',
  kubernetes: 'version of the API server',
  UpdateStrategyOnDelete: 'whether the feature gate is on',
  error: 'what went wrong; with its type and its stack in JSON',
} as const;

export type LogField = keyof typeof logFields;

export const fieldOrder = Object.keys(logFields) as readonly LogField[];
