import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { access, readFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { kubernetesVersion } from '../support/control-plane/build.ts';
import { type ControlPlane, startControlPlane } from '../support/control-plane/control-plane.ts';
import { plainRequest } from '../support/control-plane/plain-request.ts';
import { freshNamespace, useControlPlane } from './control-plane-fixture.ts';

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

async function failure(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'no error',
    (error: unknown) => String(error),
  );
}

describe('the control plane', () => {
  const controlPlane = useControlPlane();

  it('has the version that go.mod pins, unless KUBEBUILDER_ASSETS has another', async () => {
    const version = JSON.parse(await controlPlane().kubectl('get', '--raw', '/version')) as { gitVersion: string };
    const { stdout } = await promisify(execFile)(controlPlane().binaries['kube-apiserver'], ['--version']);
    expect(stdout.trim()).to.equal(`Kubernetes ${version.gitVersion}`);
    if ((process.env['KUBEBUILDER_ASSETS'] ?? '') === '') {
      expect(version.gitVersion).to.equal(await kubernetesVersion());
    }
  });

  it('grants a ServiceAccount exactly the rights of its roles', async () => {
    const namespace = await freshNamespace(controlPlane());
    await controlPlane().kubectl('create', 'serviceaccount', 'reader', '-n', namespace);
    const role = ['--verb=get,list', '--resource=pods', '-n', namespace];
    await controlPlane().kubectl('create', 'role', 'reader', ...role);
    const binding = ['--role=reader', `--serviceaccount=${namespace}:reader`, '-n', namespace];
    await controlPlane().kubectl('create', 'rolebinding', 'reader', ...binding);
    const kubeconfig = await controlPlane().kubeconfigFor({ namespace, name: 'reader' });
    const asReader = (...flags: readonly string[]): Promise<string> =>
      controlPlane().kubectl('--kubeconfig', kubeconfig, ...flags);
    expect(await asReader('get', 'pods', '-o', 'name')).to.equal('');
    expect(await failure(asReader('get', 'configmaps'))).to.match(
      new RegExp(`User "system:serviceaccount:${namespace}:reader" cannot list resource "configmaps"`),
    );
  });

  it('reports that there is no such ServiceAccount', async () => {
    const message = await failure(controlPlane().kubeconfigFor({ namespace: 'default', name: 'nobody' }));
    expect(message).to.match(/Expected a token for ServiceAccount default\/nobody \(201\), got 404/);
  });

  it('records users and requests in order, with their bodies', async () => {
    const namespace = await freshNamespace(controlPlane());
    const kubeconfig = await controlPlane().kubeconfigForUser('somebody');
    const asSomebody = (...flags: readonly string[]): Promise<string> =>
      controlPlane().kubectl('--kubeconfig', kubeconfig, '-n', namespace, ...flags);
    await asSomebody('create', 'configmap', 'note', '--from-literal=a=1');
    await asSomebody('patch', 'configmap', 'note', '--type=merge', '-p', '{"data":{"a":"2"}}');
    await asSomebody('delete', 'configmap', 'note', '--wait=false');
    const events = (await controlPlane().audit()).filter(
      ({ objectRef, user, verb }) =>
        objectRef?.namespace === namespace && user.username === 'somebody' && verb !== 'get',
    );
    expect(events.map(({ verb, responseStatus }) => [verb, responseStatus?.code])).to.deep.equal([
      ['create', 201],
      ['patch', 200],
      ['delete', 200],
    ]);
    expect(events[1]?.requestObject).to.deep.equal({ data: { a: '2' } });
  });

  it('does not record its own markers, nor reads of kube-controller-manager', async () => {
    await controlPlane().audit();
    const events = await controlPlane().audit();
    expect(events.filter(({ requestURI }) => requestURI.includes('audit-marker'))).to.deep.equal([]);
    const reads = events.filter(({ user, verb }) => user.username.endsWith('controller-manager') && verb === 'watch');
    expect(reads).to.deep.equal([]);
  });

  it('issues certificates that clients with its CA bundle trust', async () => {
    const { certificate, key } = await controlPlane().certificates.issue('webhook', ['127.0.0.1', 'webhook.test.svc']);
    const options = { cert: await readFile(certificate), key: await readFile(key) };
    const server = createServer(options, (_, response) => response.end('trusted'));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const answer = await plainRequest({ url, ca: controlPlane().caBundle });
    const distrusted = await failure(plainRequest({ url }));
    server.close();
    expect(answer.body).to.equal('trusted');
    expect(distrusted).to.match(/certificate/);
  });
});

/** In turn, on one. */
describe('a separate control plane', () => {
  let controlPlane: ControlPlane;
  const unexpected: string[] = [];

  before(async () => {
    controlPlane = await startControlPlane({ onUnexpectedExit: (explanation) => unexpected.push(explanation) });
  });

  after(() => controlPlane?.stop());

  it('can stop its API server and start it again under the same address, with all objects and the audit log', async () => {
    const { server } = controlPlane;
    await controlPlane.kubectl('create', 'configmap', 'kept', '-n', 'default');
    const recorded = await controlPlane.audit();
    await controlPlane.killApiServer();
    expect(await failure(controlPlane.kubectl('get', 'namespaces'))).to.match(/refused/);
    await controlPlane.startApiServer();
    expect(controlPlane.server).to.equal(server);
    expect(await controlPlane.kubectl('get', 'configmap', 'kept', '-n', 'default', '-o', 'name')).to.contain('kept');
    const ids = new Set((await controlPlane.audit()).map(({ auditID }) => auditID));
    expect(recorded.every(({ auditID }) => ids.has(auditID))).to.equal(true);
    expect(unexpected).to.deep.equal([]);
  });

  it('leaves no process and no file behind after it is stopped', async () => {
    const pids = Object.values(controlPlane.pids).filter((pid) => pid !== undefined);
    expect(pids).to.have.length(3);
    expect(pids.every(isAlive)).to.equal(true);
    await controlPlane.stop();
    await controlPlane.stop();
    expect(pids.some(isAlive)).to.equal(false);
    expect(await failure(access(controlPlane.directory))).to.match(/ENOENT/);
    expect(unexpected).to.deep.equal([]);
  });
});
