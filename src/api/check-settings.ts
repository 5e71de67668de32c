import * as z from 'zod';
import { selectorsOf } from './promql.ts';
import { type Infer, listBy, oneOf, struct, validations } from './schema.ts';

// Queries that must return nothing before a working member is replaced.

const longestName = 63;
const namePattern = '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$';
const name = `a name of up to ${longestName} lower case letters, digits and dashes, such as "replication-delay"`;
const longestQuery = 1024;
const query = `a PromQL expression of 1 to ${longestQuery} characters`;

/**
 * A query with any other variable would match no series, so the check would always pass. `$1` and `${1}` are allowed,
 * because label_replace uses them.
 */
const variablesPattern = String.raw`^([^$]|[$](namespace|name|updated|stale)\b|[$][0-9]|[$]\B)*$`;
const bracedVariablePattern = '[$][{][^0-9]';
const variables = 'a query whose only variables are $namespace, $name, $updated and $stale';
const variable = /[$](namespace|name)\b/g;
const membersVariable = /[$](updated|stale)\b/g;

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
          'string of PromQL. $updated and $stale are replaced with a regular expression of the pods at the update ' +
          'revision and of the others, for a matcher such as pod=~"$updated".',
      }),
    noData: oneOf(
      ['Pass', 'Fail', 'Wait'],
      'What it means that one of the metrics of the query has no series at all, so that the query returns nothing. With ' +
        'Pass the check passes, as an alerting rule does not fire. With Fail it fails (CheckFailing). With Wait it has ' +
        'no answer (CheckUnavailable). Defaults to Pass.',
    ).exactOptional(),
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
      'while a check fails or has no answer. Members that are down are replaced anyway, except ' +
      'those that are only waiting to start. An empty list means no checks, as if no other source had any.',
  ),
};

/** Stands for an empty set of members, because it matches the name of no pod. No user's query contains it. */
const noMember = '$none';

/** Returns a regular expression for the names of pods. It contains no character that PromQL strings have to escape. */
const patternOf = (pods: readonly string[]): string =>
  pods.length === 0 ? noMember : pods.map((name) => name.replaceAll('.', '[.]')).join('|');

/** The given checks with the names of these pods in place of the variables. */
export const checksAbout = (
  checks: readonly Check[],
  pods: { readonly updated: readonly string[]; readonly stale: readonly string[] },
): readonly Check[] =>
  checks.map((one) => ({
    ...one,
    query: one.query.replaceAll(membersVariable, (_, field: 'updated' | 'stale') => patternOf(pods[field])),
  }));

/** A query that returns one series for each selector without data, and which selector each series stands for. */
interface MissingData {
  readonly query: string;
  /** The selectors of the original query, by the value that the label `selector` has in the result. */
  readonly selectors: Readonly<Record<string, string>>;
}

/** Returns `null` if the query uses no series, or only series of an empty set of members. */
export function missingDataOf(query: string): MissingData | null {
  const selectors = selectorsOf(query).filter((one) => !one.includes(noMember));
  if (selectors.length === 0) return null;
  return {
    query: selectors.map((one, index) => `label_replace(absent(${one}), "selector", "${index}", "", "")`).join(' or '),
    selectors: Object.fromEntries(selectors.map((one, index) => [`${index}`, one])),
  };
}

export const queryFor = (
  { query: text }: Check,
  cluster: { readonly namespace: string; readonly name: string },
): string => text.replaceAll(variable, (_, field: 'namespace' | 'name') => cluster[field]);
