import * as z from 'zod';
import { type Infer, listBy, struct, validations } from './schema.ts';

// Queries that must return nothing before a working member is taken.

const longestName = 63;
const namePattern = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$';
const name = `a name of up to ${longestName} lower case letters, digits and dashes, such as "replication-delay"`;
const longestQuery = 1024;
const query = `a PromQL expression of 1 to ${longestQuery} characters`;

/**
 * Any other variable would match no series, and the check would always pass. `$1` and `${1}` belong to label_replace.
 */
const variablesPattern = String.raw`^([^$]|[$](namespace|name)\b|[$][0-9]|[$]\B)*$`;
const bracedVariablePattern = '[$][{][^0-9]';
const variables = 'a query whose only variables are $namespace and $name';
const variable = /[$](namespace|name)\b/g;

const hasKnownVariables = (value: string): boolean =>
  new RegExp(variablesPattern).test(value) && !new RegExp(bracedVariablePattern).test(value);

const check = struct(
  {
    name: z
      .string(name)
      .max(longestName, name)
      .regex(new RegExp(namePattern), name)
      .meta({ description: 'The name of the check, as it is shown in the status, in Events and in metrics.' }),
    query: z
      .string(query)
      .max(longestQuery, query)
      .refine((value) => value.trim() !== '', query)
      .refine(hasKnownVariables, variables)
      .meta({
        minLength: 1,
        ...validations(
          { rule: String.raw`self.matches('\\S')`, message: `must be ${query}` },
          {
            rule: `self.matches('${variablesPattern.replaceAll('\\', '\\\\')}') && !self.matches('${bracedVariablePattern}')`,
            message: `must be ${variables}`,
          },
        ),
        description:
          'The query in PromQL, as in an alerting rule: the check fails while the answer has any series. $namespace ' +
          'and $name are replaced with those of the MySQLCluster. They contain nothing that has to be escaped in a ' +
          'string of PromQL.',
      }),
  },
  'A query that must return nothing before a working member is replaced.',
);

export type Check = Infer<typeof check>;

export const mostChecks = 16;

export const checkFields = {
  checks: listBy(
    'name',
    check,
    mostChecks,
    'Queries to the Prometheus of --prometheus-url before a working member is replaced, while an updated ' +
      'member participates for minReadySeconds, and while a later stage waits for this cluster. The rollout waits ' +
      'while a check fails or has no answer. Members that are down are replaced anyway. An empty list means no ' +
      'checks, as if no other source had any.',
  ),
};

export const queryFor = (
  { query: text }: Check,
  cluster: { readonly namespace: string; readonly name: string },
): string => text.replaceAll(variable, (_, field: 'namespace' | 'name') => cluster[field]);
