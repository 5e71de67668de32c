import type { Finding } from '../witness/witness.ts';
import type { Situation } from './situations.ts';

/** What the core is known to do against a law. A run with it does not fail, and it is counted. */
interface Allowance {
  readonly law: string;
  /** What the witness says. */
  readonly text: RegExp;
  /** The situation of which it comes, if not every. */
  readonly in?: Situation;
}

/** Every entry goes with the change that ends it. */
export const allowances: readonly Allowance[] = [
  // After the grace of a failover, replicas that run are deleted while nobody leads: what they have not applied is lost.
  { law: 'I20', text: /restarted while nobody served/ },
  { law: 'I13', text: /although its candidate could have applied everything$/ },
  // Containers of a primary restart in place by default, unless one of them is the agent.
  { law: 'I21', text: /^restartInPlace/ },
  // An impaired primary is deleted whatever the user has approved or pinned, and however far its replicas are behind.
  { law: 'I22', text: /^(delete|setPartition)/ },
  { law: 'lag', text: /^deleted a primary/ },
  // A resize passes maintenance windows and checks.
  { law: 'maintenance', text: /^resize/ },
  { law: 'check', text: /^resized/ },
  // A member that MOCO never gives a role blocks the repair of the one for which MOCO does not come to it.
  { law: 'stuck', text: /^RolesNotSettled/, in: 'leftWithoutRole' },
];

export function isAllowed({ law, text }: Pick<Finding, 'law' | 'text'>, found: readonly Situation[]): boolean {
  return allowances.some((one) => one.law === law && one.text.test(text) && (one.in === undefined || found.includes(one.in)));
}
