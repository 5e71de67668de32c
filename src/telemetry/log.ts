import { destination, type Logger, pino, stdSerializers } from 'pino';
import type { LogField } from './log-fields.ts';
import { formatLogLine } from './log-text.ts';

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
export type LogFormat = 'json' | 'text';

/** Where lines go, each ending with a newline. */
export interface LogDestination {
  write(line: string): void;
}

export interface LogOptions {
  readonly level: LogLevel;
  readonly format: LogFormat;
  /** Standard error when absent, as Kubernetes' own programs do it. */
  readonly destination?: LogDestination;
}

const standardErrorDescriptor = 2;

export type Log = Logger;

/**
 * A logger: `log.info({ cluster: 'ns/name', step: 'evict' }, 'evicted')`, with fields of the vocabulary of log-fields.ts;
 * `log.child(fields)` for one that carries the fields in every line. Writes synchronously: the lines before a crash are the ones that matter.
 */
export function createLog({ level, format, destination: given }: LogOptions): Log {
  const sink = given ?? destination({ fd: standardErrorDescriptor, sync: true });
  return pino(
    {
      level,
      base: null,
      messageKey: 'msg',
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: serializeError } satisfies Partial<Record<LogField, (value: unknown) => unknown>>,
    },
    format === 'json' ? sink : { write: (line: string) => sink.write(formatLogLine(line)) },
  );
}

function serializeError(thrown: unknown): unknown {
  return thrown instanceof Error ? stdSerializers.err(thrown) : { message: String(thrown) };
}
