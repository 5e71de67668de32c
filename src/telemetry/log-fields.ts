/**
 * Every field of a log line, and its meaning. All lines about one thing use the same name for it. Lines for people show the
 * fields in this order. docs/reference.md has the same table; a test compares both with the code.
 */
export const logFields = {
  cluster: '`namespace/name` of the MySQLCluster',
  step: 'the kind of step, such as `evict`',
  rule: 'the rule behind a step or a hold; `idle` or `complete` if there is no hold and nothing to do',
  member: 'name of a pod, or several names with commas',
  revision: 'the update revision, as in the label `controller-revision-hash`',
  stale: 'number of members that are not at the update revision',
  result: 'result of a step: `done`, `refused`, `conflict` or `unknown`',
  answer: 'answer of the API server to a step that it refused',
  retries: 'number of failed passes over the cluster in a row',
  reason: 'the reason of an Event that could not be written, or why a replication delay can not be read',
  namespace: 'namespace of the object of that Event',
  lease: '`namespace/name` of the lease for leader election',
  identity: 'identity of this process in the lease',
  clusters: 'number of known MySQLClusters',
  sequence: 'name of the MySQLRolloutSequence',
  path: 'path of a request to the API server, or to this program',
  milliseconds: 'duration',
  waitMilliseconds: 'time until the next attempt',
  validTo: "end of validity of the webhook's certificate",
  version: 'version of this program',
  server: 'address of the API server',
  kubernetes: 'version of the API server',
  UpdateStrategyOnDelete: 'whether the feature gate is on',
  InPlaceUpdate: 'whether the feature gate is on',
  error: 'the error; in JSON with its type and stack',
} as const;

export type LogField = keyof typeof logFields;

export const fieldOrder = Object.keys(logFields) as readonly LogField[];
