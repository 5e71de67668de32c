import { parse, stringify } from 'yaml';
import { alertOf, holdRules } from '../../src/core/rules/catalogue.ts';

const head = '# Written by `make docs` from prometheus-rule.yaml: the same rules for `rule_files` of Prometheus.\n';

/** Completes the PrometheusRule: each alert about several rules of the core selects all of them by `rule=~"…"`. */
export const withHolds = (prometheusRule: string): string =>
  prometheusRule.replaceAll(
    /(- alert: (\w+)\n(?:(?!- alert:)[^])*?rule=~")[^"]*/g,
    (_, before: string, alert: string) => before + holdRules.filter((rule) => alertOf(rule) === alert).join('|'),
  );

/** The rules of the PrometheusRule in the format that Prometheus itself reads. */
export const rulesOfPrometheus = (prometheusRule: string): string =>
  head + stringify((parse(prometheusRule) as { spec: object }).spec, { lineWidth: 0 });
