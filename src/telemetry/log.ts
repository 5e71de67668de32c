import { destination, type Logger, levels, pino, stdSerializers } from 'pino';
import { escaped } from '../base/text.ts';

// The log of the program: its fields, its formats, and how it shows errors.

/**
 * Every field of a log line, and its meaning. All log lines use the same name for the same thing. The format for people
 * shows the fields in this order. `make docs` writes the fields into docs/reference.md, and a test compares them with
 * the code.
 */
export const logFields = {
  cluster: '`namespace/name` of the MySQLCluster',
  step: 'the kind of step, such as `evict`',
  rule: 'the rule behind a step or a hold; `idle` or `complete` if there is no hold and nothing to do',
  member: 'name of a pod, or several names with commas',
  node: 'name of a node, of a preflight',
  revision: 'the update revision, as in the label `controller-revision-hash`',
  stale: 'number of members that are not at the update revision',
  result: 'result of a step: `done`, `refused`, `conflict` or `unknown`',
  answer: 'response of the API server to a step that it refused',
  retries: 'number of consecutive failed passes over the cluster',
  reason:
    'the reason of an Event that could not be written, or why a replication delay cannot be read or MySQL cannot be queried',
  claim: 'name of the PersistentVolumeClaim on which the data of a member could not be noted',
  namespace: 'namespace of the object of that Event',
  lease: '`namespace/name` of the lease for leader election',
  identity: 'identity of this process in the lease',
  clusters: 'number of known MySQLClusters',
  sequence: 'name of the MySQLRolloutSequence',
  eviction: '`namespace/name` of an Eviction of lifecycle.k8s.io',
  path: 'path of a request to the API server, or to this program',
  milliseconds: 'duration',
  aheadSeconds: "by how much the API server's clock is ahead of this machine's",
  waitMilliseconds: 'time until the next attempt',
  validTo: "end of validity of the webhook's certificate",
  version: 'version of this program',
  server: 'address of the API server',
  kubernetes: 'version of the API server',
  UpdateStrategyOnDelete: 'whether the feature gate is on',
  InPlaceUpdate: 'whether the feature gate is on',
  NodeMaintenance: 'whether the feature gate is on',
  ReplicationFacts: 'whether the feature gate is on',
  EvictionRequests: 'whether the feature gate is on',
  error: 'the error; in JSON with its type, and at level error with its stack',
} as const;

const fieldOrder = Object.keys(logFields);

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
export type LogFormat = 'json' | 'text';

interface LogOptions {
  readonly level: LogLevel;
  readonly format: LogFormat;
  /**
   * Where lines go, each ending with a newline. By default they go to standard error, as with Kubernetes' own programs.
   */
  readonly destination?: { write(line: string): void };
}

const standardErrorDescriptor = 2;

export type PinoLog = Logger;

/**
 * A logger: `log.info({ cluster: 'ns/name', step: 'evict' }, 'evicted')`, with the fields that `logFields` lists;
 * `log.child(fields)` returns a logger that adds the fields to every line. It writes synchronously, because the lines
 * before a crash matter most.
 */
export function createLog({ level, format, destination: given }: LogOptions): PinoLog {
  const sink = given ?? destination({ fd: standardErrorDescriptor, sync: true });
  return pino(
    {
      level,
      base: null,
      messageKey: 'msg',
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      hooks: {
        // Refusals by the API server and network errors do not originate in this program, so a stack trace would add
        // nothing.
        logMethod(line, method, lineLevel) {
          const [fields] = line;
          if (lineLevel < (levels.values['error'] ?? 0) && hasError(fields))
            line[0] = { ...fields, error: withoutStack(fields.error) };
          method.apply(this, line);
        },
      },
      serializers: { error: serializeError },
    },
    format === 'json' ? sink : { write: (line: string) => sink.write(formatLogLine(line)) },
  );
}

const hasError = (fields: unknown): fields is { readonly error: Error } =>
  typeof fields === 'object' && fields !== null && 'error' in fields && fields.error instanceof Error;

/**
 * The error as the serializer would write it, but without the stack. The serializer accepts such an object unchanged.
 */
function withoutStack(error: Error): object {
  const { stack: _, ...shown } = stdSerializers.err(error);
  return shown;
}

function serializeError(thrown: unknown): unknown {
  if (thrown instanceof Error) return stdSerializers.err(thrown);
  return typeof thrown === 'object' && thrown !== null ? thrown : { message: String(thrown) };
}

const levelWidth = 5;
const timeOfDay = /T(\d\d:\d\d:\d\d\.\d\d\d)Z$/;

/**
 * Turns one JSON line of the logger into a readable one: `10:23:45.123 info  evicted  cluster=ns/test step=evict`.
 * Characters that control a terminal are escaped, because errors contain text from others. Of an error, only the
 * message is shown; at level error its stack follows, indented. Times are UTC. A line that is not JSON is passed
 * through unchanged.
 */
function formatLogLine(line: string): string {
  const record = parsed(line);
  if (record === null) return line;
  const { time, level, msg, ...fields } = record;
  const clock = timeOfDay.exec(String(time))?.[1] ?? String(time);
  const named = new Set([...fieldOrder.filter((name) => name in fields), ...Object.keys(fields)]);
  const shown = [...named].map((name) => `${name}=${showValue(fields[name])}`);
  const message = typeof msg === 'string' ? msg : '';
  const words = [clock, String(level).padEnd(levelWidth), message, ...(shown.length > 0 ? ['', ...shown] : [])];
  return escaped(`${words.join(' ')}\n${level === 'error' ? stackOf(fields['error']) : ''}`);
}

function parsed(line: string): Record<string, unknown> | null {
  try {
    const record: unknown = JSON.parse(line);
    return typeof record === 'object' && record !== null ? (record as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

function showValue(value: unknown): string {
  if (typeof value === 'object' && value !== null && 'message' in value) return showValue(value.message);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return /^[^\s"=]+$/.test(text) ? text : JSON.stringify(text);
}

function stackOf(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('stack' in error) || typeof error.stack !== 'string') return '';
  const frames = error.stack.split('\n').filter((line) => line.trimStart().startsWith('at '));
  return frames.map((frame) => `    ${frame.trim()}\n`).join('');
}
