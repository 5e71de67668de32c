import { expect } from 'chai';
import { sequenceKind } from '../../src/api/rollout-sequence.ts';
import { apiVersion } from '../../src/kube/resource.ts';
import { until } from '../support/control-plane/until.ts';
import { CliProcess, cli } from './cli-program.ts';
import { useRollouts } from './rollout-fixture.ts';

// What the commands show: test/cli/commands/sequence.test.ts and plan-fleet.test.ts.
describe('commands about a fleet on a real control plane', () => {
  const { scenario, stage } = useRollouts();
  const kubeconfig = (): string => stage().controlPlane.adminKubeconfig;

  scenario('follow a sequence while its cluster is rolled out, and plan that before', {}, async (cluster) => {
    const { namespace } = cluster;
    await cluster.patch({ metadata: { labels: { fleet: namespace } } });
    await apply(namespace);
    const watching = new CliProcess(kubeconfig(), ['sequence', namespace, '--watch']);
    const lastLine = (): string => watching.out.trimEnd().split('\n').at(-1) ?? '';
    const shows = (text: string): Promise<true> =>
      until(`it shows ${text}`, () => lastLine().includes(text), { got: () => watching.out });
    try {
      await shows('Complete  1/1 up to date');
      const plan = await cli(kubeconfig(), ['plan', '--fleet', '--assume-stale', '-n', namespace]);
      expect([plan.status, plan.err]).to.deep.equal([0, '']);
      expect(plan.out)
        .to.contain('1 of 1 stale clusters end')
        .and.to.match(new RegExp(`${namespace}/all +1 `));
      await cluster.setImage('mysql:8.4.9');
      await shows('Rolling  0/1 up to date  1 rolling');
      await cluster.completes();
      await shows('Complete  1/1 up to date');
      const picture = await cli(kubeconfig(), ['sequence', namespace]);
      expect(picture.out).to.contain('■ 1 up to date and healthy');
    } finally {
      watching.process.kill('SIGINT');
      await stage().controlPlane.kubectl('delete', sequenceKind.plural, namespace);
    }
    expect((await watching.ended).status).to.equal(130);
  });

  /** A sequence of the clusters that are labelled with its name. */
  async function apply(name: string): Promise<void> {
    const { controlPlane } = stage();
    const { kind } = sequenceKind;
    const spec = { selector: { matchLabels: { fleet: name } }, settleDuration: 1, stages: [{ name: 'all' }] };
    const file = await controlPlane.fileOf({ apiVersion: apiVersion(sequenceKind), kind, metadata: { name }, spec });
    await controlPlane.kubectl('apply', '--server-side', '-f', file);
  }
});
