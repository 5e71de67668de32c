import type { Finding } from '../witness/witness.ts';
import type { Situation } from './situations.ts';

/** What the core is known to do against a law. A run with it does not fail, and it is counted. */
interface Allowance {
  readonly law: string;
  /** What the witness says. */
  readonly text: RegExp;
  /** The scenario that shows it. */
  readonly theme: string;
  readonly seed: number;
  /** The situation of which it comes, if not every. */
  readonly in?: Situation;
}

/** Every entry goes with the change that ends it. */
export const allowances: readonly Allowance[] = [
  // After the grace of a failover, replicas that run are deleted while nobody leads: what they have not applied is lost.
  { law: 'I20', text: /restarted while nobody served/, theme: 'failover', seed: 1 },
  { law: 'I13', text: /although its candidate could have applied everything$/, theme: 'failover', seed: 5 },
  // Containers of a primary restart in place by default, unless one of them is the agent.
  { law: 'I21', text: /^restartInPlace/, theme: 'inPlace', seed: 9 },
  // An impaired primary is deleted whatever the user has approved or pinned, and however far its replicas are behind.
  { law: 'I22', text: /^(delete|setPartition)/, theme: 'impaired', seed: 1 },
  { law: 'lag', text: /^deleted a primary/, theme: 'impaired', seed: 1 },
  // A resize passes maintenance windows and checks, and a member that was resized before it and is down by now.
  { law: 'I17', text: /^resize/, theme: 'inPlace', seed: 5 },
  { law: 'maintenance', text: /^resize/, theme: 'inPlace', seed: 8 },
  { law: 'check', text: /^resized/, theme: 'inPlace', seed: 1 },
  // A member that MOCO never gives a role blocks the repair of the one for which MOCO does not come to it.
  { law: 'stuck', text: /^RolesNotSettled/, theme: 'roles', seed: 3, in: 'leftWithoutRole' },
];

export function isAllowed({ law, text }: Pick<Finding, 'law' | 'text'>, found: readonly Situation[]): boolean {
  return allowances.some(
    (one) => one.law === law && one.text.test(text) && (one.in === undefined || found.includes(one.in)),
  );
}
