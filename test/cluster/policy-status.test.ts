import { expect } from 'chai';
import { policyKind } from '../../src/api/rollout-policy.ts';
import { useRollouts } from './rollout-fixture.ts';

describe('the status of a MySQLRolloutPolicy on a real control plane', () => {
  const { scenario } = useRollouts();

  scenario('shows what a freeze selects, and that a misspelt one selects nothing', {}, async (cluster) => {
    const { namespace } = cluster;
    const freeze = (name: string, value: string): object => ({
      apiVersion: 'moco-rollout.io/v1alpha1',
      kind: 'MySQLRolloutPolicy',
      metadata: { name: `${namespace}-${name}` },
      spec: {
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': value } },
        enforced: { paused: true },
      },
    });
    await cluster.makeUnscoped(policyKind, freeze('freeze', namespace));
    await cluster.makeUnscoped(policyKind, freeze('misspelt', `${namespace}x`));
    const waits = (name: string, type: string, status: string): Promise<string> =>
      cluster.kubectl('wait', `mrop/${namespace}-${name}`, `--for=condition=${type}=${status}`, '--timeout=60s');
    await waits('freeze', 'Selects', 'True');
    await waits('misspelt', 'Selects', 'False');
    const rows = await cluster.kubectl('get', 'mrop', `${namespace}-freeze`, `${namespace}-misspelt`, '-o', 'wide');
    const [heading = '', first = '', second = ''] = rows.split('\n').map((row) => row.replaceAll(/ {2,}/g, ' '));
    expect(heading).to.contain('ENFORCED-PAUSED CLUSTERS MEMBERS READABLE');
    expect(first).to.contain('true 1 3 True');
    expect(second).to.contain('true 0 0 True').and.to.contain('namespaceSelector selects none of the namespaces');
    // Nobody else's clusters are frozen by it, and its own only for so long.
    for (const name of ['freeze', 'misspelt']) await cluster.kubectl('delete', 'mrop', `${namespace}-${name}`);
  });
});
