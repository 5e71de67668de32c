import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { holdRules, isAlarming } from '../../src/core/rules/catalogue.ts';
import { configDirectory } from './manifests.ts';

// What the checks make of objects: test/cluster/gitops.test.ts.
describe('the health check of Argo CD for MySQLClusters', () => {
  it('knows every rule that waits for a person, and no other', async () => {
    const text = await readFile(join(configDirectory, 'gitops/argo-cd/argocd-cm.yaml'), 'utf8');
    const { data } = parse(text) as { data: Record<string, string> };
    const script = data['resource.customizations.health.moco.cybozu.com_MySQLCluster'] ?? '';
    const [, listed = ''] = /local stalled = \{([^}]*)\}/.exec(script) ?? [];
    const rules = [...listed.matchAll(/(\w+) = true/g)].map(([, rule = '']) => rule);
    const alarming: readonly string[] = holdRules.filter(isAlarming);
    const place = 'the table `stalled` of config/gitops/argo-cd/argocd-cm.yaml';
    expect(
      alarming.filter((rule) => !rules.includes(rule)),
      `add these rules to ${place}`,
    ).to.deep.equal([]);
    expect(
      rules.filter((rule) => !alarming.includes(rule)),
      `remove these rules from ${place}`,
    ).to.deep.equal([]);
  });
});
