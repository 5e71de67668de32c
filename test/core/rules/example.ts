import type { HoldOf, HoldRule } from '../../../src/core/rules/catalogue.ts';
import type { Forms } from '../sentence-forms.ts';
import { type Case, evicts } from '../table.ts';

/** Facts under which a rule holds, and what the hold has beside the rule. */
type Held<Form> = Omit<Case, 'decides'> & { readonly shows: Form };

export const held = <Form extends object>(
  given: Case['given'],
  shows: Form = {} as Form,
  settings: Case['settings'] = {},
  requeueAfterSeconds?: number,
): Held<Form> => ({ given, shows, settings, ...(requeueAfterSeconds !== undefined && { requeueAfterSeconds }) });

/** A rule, as it holds and as it just does not. */
export interface Example<Form extends object = object> {
  readonly applies: Held<Form>;
  /** What people read then. */
  readonly says: string;
  readonly justDoesNot: Case;
  /** Of other forms of the hold. */
  readonly alsoSays?: Forms<Form>;
}

/** The compiler demands an example of each of these rules. */
export type Examples<Name extends HoldRule> = {
  readonly [Rule in Name]: Example<WithoutRule<HoldOf<Rule>>>;
};
type WithoutRule<Form> = Form extends unknown ? Omit<Form, 'rule'> : never;

export const next = evicts('ReplicaHealthy', 2);
