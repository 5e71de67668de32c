import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parse, stringify } from 'yaml';

const inConfig = (name: string): string => fileURLToPath(new URL(`../../config/prometheus/${name}`, import.meta.url));

export const rulesFile = inConfig('rules.yml');

const head =
  '# Written by hack/docs/prometheus-rules.ts from prometheus-rule.yaml: the same rules for `rule_files` of Prometheus.\n';

/** The rules of the PrometheusRule as Prometheus itself reads them. */
export async function rulesOfPrometheus(): Promise<string> {
  const { spec } = parse(await readFile(inConfig('prometheus-rule.yaml'), 'utf8')) as { spec: object };
  return head + stringify(spec, { lineWidth: 0 });
}

if (import.meta.main) await writeFile(rulesFile, await rulesOfPrometheus());
