import { X509Certificate } from 'node:crypto';
import { expect } from 'chai';
import { ApiClient } from '../../../src/kube/api-client.ts';
import type { ExchangeRequest, World } from '../../../src/kube/world.ts';
import type { Certificate } from '../../../src/webhook/certificate.ts';
import { defaultTimes } from '../../../src/webhook/self-made/next-step.ts';
import { OwnCertificate } from '../../../src/webhook/self-made/own-certificate.ts';
import { FakeLog } from '../../kube/fake-log.ts';
import { FakeWorld } from '../../kube/fake-world.ts';
import { makeDirectory, putCertificate } from '../certificates.ts';
import { CertificateApi, configurationPath, isTrusted, partitionPath, secretPath } from './certificate-api.ts';

const hour = 3_600_000;
const day = 24 * hour;
/** Less to wait for; all else is as it comes. */
const times = { ...defaultTimes, settleMilliseconds: 300_000 };
const { authorityLifeMilliseconds, servingLifeMilliseconds, settleMilliseconds } = times;
const dnsNames = 'DNS:webhook.system.svc, DNS:webhook.system.svc.cluster.local';
/** Between two looks of a replica at most. */
const look = 12_500;

describe('the webhook’s own certificate', () => {
  let world: FakeWorld;
  let api: CertificateApi;
  let log: FakeLog;
  let stop: AbortController;
  let replicas: Replica[];
  let running: Promise<void>[];
  /** From the first agreement on nothing may come between: what a request at a wrong moment would have met. */
  let untrusted: string[];

  beforeEach(() => {
    api = new CertificateApi();
    api.putConfiguration(configurationPath, 'statefulset.moco-rollout.io', 'statefulset-create.moco-rollout.io');
    world = new FakeWorld(api.exchange);
    log = new FakeLog();
    stop = new AbortController();
    replicas = [];
    running = [];
    untrusted = [];
    let agreed = false;
    const judge = ({ method, path }: ExchangeRequest): void => {
      const now = world.wall();
      const served = replicas.flatMap((replica) => replica.served ?? []);
      const wrong = served.filter(({ cert }) => !isTrusted(cert, api.bundle(), now));
      if (agreed && wrong.length > 0) untrusted.push(`${method} ${path}`);
      agreed ||= served.length > 0 && wrong.length === 0;
    };
    api.before = judge;
    api.after = judge;
  });

  afterEach(async () => {
    stop.abort();
    await Promise.all(running);
    const keys = log.lines.map((line) => JSON.stringify(line)).filter((line) => line.includes('PRIVATE KEY'));
    expect(keys).to.deep.equal([]);
  });

  it('is made, kept in a Secret, served, and told to the API server in every webhook of ours and in nothing else', async () => {
    api.putConfiguration(partitionPath, 'partition.moco-rollout.io', 'somebody.elses.io');
    const before = structuredClone(api.webhooks());
    const replica = await start();
    expect(replica.names).to.equal(dnsNames);
    expect(replica.lifeDays).to.be.closeTo(90, 0.1);
    await comes('the bundle everywhere', () => api.bundle(partitionPath).length === 1);
    expect(api.objects.get(secretPath)).to.deep.include({ type: 'kubernetes.io/tls' });
    expect([api.file('tls.crt'), api.file('tls.key')]).to.deep.equal([replica.served?.cert, replica.served?.key]);
    expect(api.bundle().join('')).to.equal(api.file('ca.crt'));
    expect(isTrusted(api.file('tls.crt'), api.bundle(configurationPath, 1), world.wall())).to.equal(true);
    expect(api.bundle(partitionPath, 1)).to.deep.equal([]);
    const { clientConfig, ...rest } = before[0] ?? { clientConfig: {} };
    expect(api.webhooks()[0]).to.deep.equal({
      ...rest,
      clientConfig: { ...clientConfig, caBundle: Buffer.from(api.file('ca.crt')).toString('base64') },
    });
  });

  it('is left alone by a process that comes later, and served by it', async () => {
    const first = await start();
    await quiet();
    const writes = api.writes.length;
    const second = await start();
    await world.advance(look);
    expect(second.served).to.deep.equal(first.served);
    expect(api.writes.length).to.equal(writes);
  });

  it('is the same for two that make it at once: the one that is late takes what the other has made', async () => {
    const [one, other] = await Promise.all([start(), start()]);
    await quiet();
    expect(other?.served).to.deep.equal(one?.served);
    expect(api.writes.filter((write) => write.endsWith(secretPath))).to.deep.equal([`POST ${secretPath}`]);
  });

  it('is made once where the answer to that is lost', async () => {
    let isLost = false;
    api.refuse = ({ method }) => {
      if (method !== 'POST' || isLost) return null;
      isLost = true;
      return 'lost';
    };
    const { served } = await start();
    await quiet();
    expect(served?.cert).to.equal(api.file('tls.crt'));
    expect(api.writes.filter((write) => write.startsWith('POST'))).to.have.length(1);
  });

  it('is renewed in time by the same authority, so that the API server has nothing to learn', async () => {
    const pair = [await start(), await start()];
    await quiet();
    const [first, writes] = [api.file('tls.crt'), api.writes.length];
    world.freeze(servingLifeMilliseconds * 0.6);
    await world.advance(look);
    expect(api.writes.length).to.equal(writes);
    world.freeze(servingLifeMilliseconds * 0.1);
    await comes('a newer one in both', () => pair.every(({ served }) => served?.cert !== first));
    expect(api.writes.slice(writes)).to.deep.equal([`PUT ${secretPath}`]);
    expect(new Set([api.file('tls.crt'), ...pair.map(({ served }) => served?.cert)]).size).to.equal(1);
    expect(untrusted).to.deep.equal([]);
  });

  it('gets another authority in time: trusted beside the old one, then served, then alone; never untrusted', async () => {
    const pair = [await start(), await start()];
    await quiet();
    const [old = ''] = api.bundle();
    // Years in which nobody was there: the certificate is replaced first, since it has ended.
    world.freeze(authorityLifeMilliseconds * 0.7);
    await comes('a certificate that is good', () => replicas.every(({ served }) => isGood(served)));
    untrusted = [];
    const servedBefore = api.file('tls.crt');
    await comes('two authorities', () => api.bundle().length === 2);
    expect(api.bundle()[1]).to.equal(old);
    await world.advance(settleMilliseconds - 2 * look);
    expect(pair.map(({ served }) => served?.cert)).to.deep.equal([servedBefore, servedBefore]);
    await comes('one of the new authority', () => pair.every(({ served }) => served?.cert !== servedBefore));
    expect(api.bundle()).to.have.length(2);
    await world.advance(settleMilliseconds - 2 * look);
    expect(api.bundle()).to.have.length(2);
    await comes('the new authority alone', () => api.bundle().length === 1);
    expect(api.bundle()).not.to.include(old);
    expect(untrusted).to.deep.equal([]);
  });

  const spoiled: Readonly<Record<string, () => void>> = {
    deleted: () => void api.objects.delete(secretPath),
    'without its authority’s key': () => api.setFile('ca.key', ''),
    'full of rubbish': () => ['ca.crt', 'ca.key', 'tls.crt', 'tls.key'].forEach((file) => api.setFile(file, 'rubbish')),
    'without data': () => void api.put(secretPath, { metadata: {} }),
  };
  for (const [how, spoil] of Object.entries(spoiled)) {
    it(`is made anew where the Secret is ${how}, and what is served is trusted until that is`, async () => {
      const pair = [await start(), await start()];
      await quiet();
      const [cert, [old = '']] = [api.file('tls.crt'), api.bundle()];
      spoil();
      await comes('another authority beside the old one', () => api.bundle().length === 2);
      expect(api.bundle()[1]).to.equal(old);
      expect(api.file('tls.crt')).to.equal(cert);
      await comes('another certificate', () => pair.every(({ served }) => served?.cert !== cert));
      await comes('the new authority alone', () => api.bundle().length === 1);
      expect(new Set(pair.map(({ served }) => served?.key)).size).to.equal(1);
      expect(untrusted).to.deep.equal([]);
    });
  }

  it('is replaced at once where only it is spoiled, since its authority is known', async () => {
    const replica = await start();
    await quiet();
    const { served } = replica;
    api.setFile('tls.crt', 'rubbish');
    await comes('another certificate', () => replica.served?.cert !== served?.cert);
    expect(api.bundle()).to.have.length(1);
    expect(untrusted).to.deep.equal([]);
  });

  it('takes over from cert-manager: what that has made is served until the own one is trusted', async () => {
    const directory = await makeDirectory();
    const theirs = await putCertificate(directory.path, 'cert-manager', dnsNames);
    await directory.remove();
    world.wallOffsetMilliseconds = Date.now();
    for (const [file, text] of Object.entries({ 'ca.crt': theirs.cert, 'tls.crt': theirs.cert, 'tls.key': theirs.key }))
      api.setFile(file, text);
    api.setFile('keystore', 'somebody’s');
    for (const { clientConfig } of api.webhooks()) clientConfig.caBundle = Buffer.from(theirs.cert).toString('base64');
    const replica = await start();
    expect(replica.served?.cert).to.equal(theirs.cert);
    await comes('an own certificate', () => replica.served?.cert !== theirs.cert);
    await comes('the own authority alone', () => api.bundle().length === 1);
    expect(api.file('keystore')).to.equal('somebody’s');
    expect(untrusted).to.deep.equal([]);
  });

  it('is made anew at once after everything has ended, nobody having been there', async () => {
    await start();
    await quiet();
    stop.abort();
    await Promise.all(running);
    stop = new AbortController();
    world.freeze(authorityLifeMilliseconds + day);
    replicas = [];
    const late = await start();
    await quiet();
    expect(isGood(late.served)).to.equal(true);
    expect(isTrusted(late.served?.cert ?? '', api.bundle(), world.wall())).to.equal(true);
    expect(api.bundle()).to.have.length(1);
  });

  it('is one that a clock which is behind by nearly an hour takes as well, and leaves as it is', async () => {
    const { served } = await start();
    await quiet();
    const writes = api.writes.length;
    const behind = await start(-hour + 60_000);
    await world.advance(2 * look);
    expect(behind.served).to.deep.equal(served);
    expect(isTrusted(served?.cert ?? '', api.bundle(), world.wall() - hour + 60_000)).to.equal(true);
    expect(api.writes.length).to.equal(writes);
  });

  it('is replaced by a replica whose clock is right where one that is hours ahead has made it', async () => {
    const ahead = await start(3 * hour);
    expect(isTrusted(ahead.served?.cert ?? '', api.bundle(), world.wall())).to.equal(false);
    const right = await start();
    await quiet();
    expect(ahead.served).to.deep.equal(right.served);
    expect(isTrusted(right.served?.cert ?? '', api.bundle(), world.wall())).to.equal(true);
  });

  it('is told again where somebody has written something else into a configuration', async () => {
    await start();
    await quiet();
    for (const somebodys of ['', undefined, Buffer.from('x').toString('base64')]) {
      const [webhook] = api.webhooks();
      if (!webhook) throw new Error('expected a webhook');
      webhook.clientConfig = somebodys === undefined ? {} : { caBundle: somebodys };
      api.put(configurationPath, api.objects.get(configurationPath) ?? {});
      await comes('the bundle again', () => api.bundle().join('') === api.file('ca.crt'));
    }
  });

  it('never takes back what somebody writes into a configuration between its reading and its writing', async () => {
    let times = 0;
    api.before = ({ method }) => {
      if (method !== 'PATCH' || (times += 1) > 3) return;
      api.putConfiguration(configurationPath, 'somebody.elses.io', `statefulset${times}.moco-rollout.io`);
    };
    await start();
    await comes('the bundle', () => api.bundle(configurationPath, 1).length === 1);
    expect(api.webhooks().map(({ name }) => name)).to.deep.equal(['somebody.elses.io', 'statefulset3.moco-rollout.io']);
    expect(api.bundle()).to.deep.equal([]);
  });

  it('waits for a configuration that is not there, which is said once', async () => {
    api.objects.delete(configurationPath);
    const { certificate } = await start();
    await world.advance(5 * look);
    expect(certificate.problem()).to.equal(null);
    expect(log.of('warn')).to.deep.equal(['there is no such MutatingWebhookConfiguration: waiting for it']);
    api.putConfiguration(configurationPath, 'statefulset.moco-rollout.io');
    await comes('the bundle', () => api.bundle().length === 1);
    expect(log.of('info')).to.include('the MutatingWebhookConfiguration has come');
  });

  it('says which rights it lacks, is of no use meanwhile, and goes on once it has them', async () => {
    let may = 'nothing';
    api.refuse = ({ path }) => {
      if (may === 'everything' || (may === 'Secrets' && path.startsWith('/api/v1/'))) return null;
      return 403;
    };
    const { certificate } = begin();
    await world.advance(3 * look);
    expect(certificate.problem()).to.match(
      /^--webhook-certificate=self-made takes the right to get, create and update the Secret system\/certificate, which config\/own-certificate .* grant; without them use --webhook-certificate=files: .*Forbidden it is$/,
    );
    may = 'Secrets';
    await comes('a certificate', () => replicas[0]?.served !== undefined);
    await world.advance(3 * look);
    expect(certificate.problem()).to.match(/right to get the MutatingWebhookConfigurations/);
    expect(log.of('warn')).to.have.length(2);
    may = 'everything';
    await comes('the end of it', () => certificate.problem() === null);
    await quiet();
    may = 'nothing';
    await world.advance(3 * look);
    expect(certificate.problem(), 'it serves what is trusted').to.equal(null);
    expect(log.of('warn')).to.have.length(4);
    world.freeze(servingLifeMilliseconds);
    expect(certificate.problem()).to.match(/get, create and update the Secret/);
  });

  it('says once that it may read a configuration and not write it', async () => {
    api.refuse = ({ method }) => (method === 'PATCH' ? 403 : null);
    const { certificate } = await start();
    await world.advance(5 * look);
    expect(certificate.problem()).to.match(/the right to patch the MutatingWebhookConfigurations/);
    expect(log.lines.map(({ message }) => message)).to.deep.equal([
      "made an authority for the webhook's certificate",
      certificate.problem(),
    ]);
    api.refuse = () => null;
    await quiet();
    expect(certificate.problem()).to.equal(null);
  });

  it('is of no use before it is there', () => {
    expect(begin().certificate.problem()).to.equal("the webhook's certificate has not been made yet");
  });

  interface Replica {
    readonly certificate: OwnCertificate;
    /** What it would serve by now. */
    served?: Certificate;
    readonly names: string;
    readonly lifeDays: number;
  }

  function begin(skewMilliseconds = 0): Replica {
    const own: World = {
      monotonic: () => world.monotonic(),
      wall: () => world.wall() + skewMilliseconds,
      timer: (...timer) => world.timer(...timer),
      random: () => world.random(),
      exchange: (request) => world.exchange(request),
    };
    const place = { namespace: 'system', secretName: 'certificate', serviceName: 'webhook' };
    const client = new ApiClient({ world: own, qps: 1000, burst: 1000 });
    const certificate = new OwnCertificate({ client, world: own, log, times, ...place });
    const replica: Replica = {
      certificate,
      get names() {
        return new X509Certificate(this.served?.cert ?? '').subjectAltName ?? '';
      },
      get lifeDays() {
        const { validFromDate, validToDate } = new X509Certificate(this.served?.cert ?? '');
        return (validToDate.getTime() - validFromDate.getTime()) / day;
      },
    };
    certificate.follow((served) => {
      replica.served = served;
    });
    replicas.push(replica);
    running.push(certificate.run(stop.signal));
    return replica;
  }

  async function start(skewMilliseconds?: number): Promise<Replica> {
    const replica = begin(skewMilliseconds);
    await comes('a certificate', () => replica.served !== undefined);
    return replica;
  }

  function comes(what: string, condition: () => boolean): Promise<void> {
    return world.until(condition, what, look / 10);
  }

  /** Everything has been told to everybody. */
  async function quiet(): Promise<void> {
    await comes('an agreement', () => api.bundle().length > 0 && api.bundle().join('') === api.file('ca.crt'));
    await world.advance(2 * look);
  }

  function isGood(served: Certificate | undefined): boolean {
    return served !== undefined && served.validTo.getTime() > world.wall();
  }
});
