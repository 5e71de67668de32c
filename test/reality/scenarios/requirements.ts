import type { Parsed } from '../../../hack/bench/program/run-program.ts';
import { whatIsMissing } from '../requirements.ts';

/** What was asked for, or why this machine can't do it. */
export async function orCannotRun<Options>(asked: Parsed<Options>, members: number): Promise<Parsed<Options>> {
  if (asked.kind !== 'options') return asked;
  const missing = await whatIsMissing(members);
  return missing === null ? asked : { kind: 'usage-error', message: missing };
}
