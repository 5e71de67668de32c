import type { Dispatcher } from 'undici';
import { textOf } from './text.ts';
import { TimeLimit } from './time-limit.ts';
import type { World } from './world.ts';

/** Several times what an agent of MOCO serves, and far more than a query needs to say what fails. */
const largestBodyBytes = 512 * 1024;

export interface PlainAnswer {
  readonly status: number;
  readonly body: string;
}

/**
 * For servers other than the API server, whose clients are pools of their own with a time limit for a whole request.
 */
export async function answerTo(
  agent: Dispatcher,
  request: Omit<Dispatcher.RequestOptions, 'signal'>,
  signal: AbortSignal,
): Promise<PlainAnswer> {
  const { statusCode, body } = await agent.request({ ...request, signal, headersTimeout: 0, bodyTimeout: 0 });
  return { status: statusCode, body: await textOf(body, largestBodyBytes) };
}

/** What `work` resolves to in time. Rejects with an `Error` for people: `what`, and why there is no result. */
export async function inTime<Result>(
  world: World,
  milliseconds: number,
  what: string,
  work: (signal: AbortSignal) => Promise<Result>,
  callers?: AbortSignal,
): Promise<Result> {
  const limit = new TimeLimit(world, milliseconds, callers);
  try {
    return await work(limit.signal);
  } catch (error) {
    const why = limit.passed ? `no answer within ${milliseconds} ms` : reasonOf(error);
    throw new Error(`${what}: ${why}`, { cause: error });
  } finally {
    limit.end();
  }
}

/** The system's code where there is one: its message repeats the address. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  return code !== undefined && /^E[A-Z]+$/.test(code) ? code : error.message;
}
