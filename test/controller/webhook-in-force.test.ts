import { expect } from 'chai';
import { mocoDrives, webhookProblem } from '../../src/controller/webhook-in-force.ts';
import { mocoStatefulSetWebhook, ownPartitionWebhook, ownWebhook } from '../../src/moco/names.ts';
import { makeDirectory, putCertificate } from '../webhook/certificates.ts';

const base64 = (pem: string): string => Buffer.from(pem).toString('base64');
const configuration = (name: string, webhook: string, caBundle = base64('ca')) => ({
  namespace: '',
  name,
  uid: name,
  resourceVersion: '1',
  webhooks: [{ name: webhook, caBundle }],
});
const moco = configuration('moco-mutating-webhook-configuration', mocoStatefulSetWebhook);
const own = (name: string, caBundle?: string) => configuration(name, ownWebhook, caBundle);

const problem = (configurations: Parameters<typeof webhookProblem>[0], certificate: string | null) =>
  webhookProblem(configurations, certificate, 'OnDelete');

describe('our webhook', () => {
  it('is in force after MOCO’s', () => {
    expect(problem([moco, own('moco-rollout-mutating-webhook-configuration')], null)).to.equal(null);
    expect(problem([own('anything')], null)).to.equal(null);
  });

  it('is not where it is not registered', () => {
    expect(problem([], null)).to.equal('notRegistered');
    expect(problem([moco], null)).to.equal('notRegistered');
  });

  it('is not where it runs before MOCO’s', () => {
    expect(problem([own('a-webhook'), moco], null)).to.equal('wrongOrder');
    const renamed = configuration('zz-moco', mocoStatefulSetWebhook);
    expect(problem([renamed, own('moco-rollout-mutating-webhook-configuration')], null)).to.equal('wrongOrder');
  });

  it('is not without a bundle, or with one that does not lead to the certificate that is served', async () => {
    const directory = await makeDirectory();
    const served = await putCertificate(directory.path, 'webhook');
    const another = await putCertificate(directory.path, 'another');
    await directory.remove();
    expect(problem([own('own', '')], served.cert)).to.equal('noCertificate');
    expect(problem([own('own', base64(another.cert))], served.cert)).to.equal('wrongCertificate');
    expect(problem([own('own', base64('nothing of a kind'))], served.cert)).to.equal('wrongCertificate');
    expect(problem([own('own', base64(`${another.cert}\n${served.cert}`))], served.cert)).to.equal(null);
    expect(problem([own('own', base64(another.cert))], null)).to.equal(null);
  });
});

describe('the webhook for partitions', () => {
  it('is asked for in partition mode, and none where MOCO drives', () => {
    const one = configuration('moco-rollout-partition-webhook-configuration', ownPartitionWebhook);
    expect(webhookProblem([own('own')], null, 'Partition')).to.equal('notRegistered');
    expect(webhookProblem([one], null, 'Partition')).to.equal(null);
    expect(webhookProblem([], null, 'Observe')).to.equal(null);
  });
});

describe('MOCO’s partition controller', () => {
  it('drives where its webhook is registered, whatever the configuration is called', () => {
    expect(mocoDrives([configuration('renamed', mocoStatefulSetWebhook)])).to.equal(true);
    expect(mocoDrives([own('own')])).to.equal(false);
  });
});
