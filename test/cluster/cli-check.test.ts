import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { configDirectory } from '../config/manifests.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane/control-plane.ts';
import { until } from '../support/control-plane/until.ts';
import { sampleCluster } from '../support/moco/sample.ts';
import { cli } from './cli-program.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const secret = 'hunter2-do-not-tell';

/** What an API server itself says of an installation: no controller runs. */
describe('check and diagnose of an installation', () => {
  let controlPlane: ControlPlane;

  before(async () => {
    controlPlane = await startControlPlane({
      audit: false,
      manifests: [join(root, 'test/support/moco/crd')],
      moreControllers: ['validatingadmissionpolicy-status-controller'],
    });
    await controlPlane.kubectl('apply', '--server-side', '-k', join(configDirectory, 'default'));
    const env = [{ name: 'PASSWORD', value: secret }];
    const podTemplate = { spec: { containers: [{ name: 'mysqld', image: 'mysql:8.4.8', env }] } };
    const cluster = sampleCluster({ name: 'test', namespace: 'default', spec: { podTemplate } });
    // Not server-side: kubectl writes the whole object into an annotation.
    await controlPlane.kubectl('apply', '-f', await controlPlane.fileOf(cluster));
  });

  after(() => controlPlane?.stop());

  async function lines(): Promise<Readonly<Record<string, string>>> {
    const { out, err } = await cli(controlPlane.adminKubeconfig, ['check', '--all-namespaces', '--output=json']);
    expect(err).to.equal('');
    const findings = JSON.parse(out) as readonly { about: string; result: string; sentence: string }[];
    return Object.fromEntries(findings.map(({ about, result, sentence }) => [about, `${result}: ${sentence}`]));
  }

  it('has no ValidatingAdmissionPolicy that the API server warns of', async () => {
    const checked = async (): Promise<readonly string[] | undefined> => {
      const found = await controlPlane.kubectl('get', 'validatingadmissionpolicies', '-o', 'json');
      const { items } = JSON.parse(found) as { items: readonly { status?: { typeChecking?: object } }[] };
      const all = items.map(({ status }) => status?.typeChecking);
      return all.some((one) => one === undefined) ? undefined : all.map((one) => JSON.stringify(one));
    };
    const found = await until('the policies are type-checked', checked);
    expect(found).to.have.length(7);
    for (const one of found) expect(one).to.equal('{}');
  });

  it('finds what is there, and that nothing runs', async () => {
    const { status } = await cli(controlPlane.adminKubeconfig, ['check', '--all-namespaces']);
    expect(status).to.equal(1);
    const found = await lines();
    for (const about of ['Kubernetes', 'CRDs', 'your rights', 'admission', 'certificates', 'PodDisruptionBudgets']) {
      expect(found[about], about).to.match(/^ok: /);
    }
    expect(found['MOCO']).to.match(/^unknown: no Deployment of moco-controller/);
    expect(found['controller']).to.match(/^failed: deployment\/moco-rollout-controller .* has no available replica/);
    expect(found['rights of the controller']).to.match(/^ok: system:serviceaccount:moco-rollout-system:moco-rollout /);
    expect(found['Lease of MOCO']).to.match(/^failed: there is no Lease moco-system\/moco, /);
  });

  it('finds a right that is missing', async () => {
    await controlPlane.kubectl('delete', 'clusterrolebinding', 'moco-rollout-controller');
    const found = async (): Promise<string | undefined> => {
      const sentence = (await lines())['rights of the controller'] ?? '';
      return sentence.startsWith('failed: ') ? sentence : undefined;
    };
    const sentence = await until('the missing rights are found', found);
    expect(sentence).to.contain(
      'may not get pods, list pods, watch pods, delete pods, patch pods, create pods/eviction, get persistentvolumeclaims',
    );
    expect((await lines())['Lease of MOCO']).to.match(
      /^failed: system:serviceaccount:moco-rollout-system:moco-rollout may not read the Lease moco-system\/moco, /,
    );
  });

  it('bundles the objects of a cluster without the password in its template', async () => {
    const directory = join(controlPlane.directory, 'bundle');
    const { status, out, err } = await cli(controlPlane.adminKubeconfig, [
      'diagnose',
      'test',
      `--directory=${directory}`,
    ]);
    expect({ status, err }, out).to.deep.equal({ status: 0, err: '' });
    const texts = await Promise.all((await readdir(directory)).map((file) => readFile(join(directory, file), 'utf8')));
    const text = texts.join('\n');
    expect(await controlPlane.kubectl('get', 'mysqlcluster', 'test', '-o', 'yaml')).to.contain(secret);
    expect(text).to.contain('mysql:8.4.8').and.to.contain('"moco-rollout-controller"').and.not.to.contain(secret);
  });
});
