import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { expect } from 'chai';
import { textOf } from '../../src/base/text.ts';
import type { ResourceKind } from '../../src/kube/resource.ts';
import type { AuditEvent } from '../support/control-plane/control-plane.ts';
import { until } from '../support/control-plane/until.ts';
import type { ControllerProcess } from '../support/stage/controller-process.ts';
import type { Stage } from '../support/stage/stage.ts';
import { judged, sharedFlags, useRollouts } from './rollout-fixture.ts';

const electing = [
  ...sharedFlags,
  '--leader-elect',
  // Long enough for a busy machine to renew in time.
  '--lease-duration=10s',
  '--renew-deadline=8s',
  '--retry-period=500ms',
];
const holderPath = 'jsonpath={.spec.holderIdentity}';
const validatingWebhookConfigurations: ResourceKind = {
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  plural: 'validatingwebhookconfigurations',
  kind: 'ValidatingWebhookConfiguration',
  namespaced: false,
};

/** Allows every eviction, the first one only once it is told to: the API server has it, and has not carried it out. */
class Gate {
  readonly #server: Server;
  readonly #held = Promise.withResolvers<string>();
  readonly #opened = Promise.withResolvers<void>();
  readonly #sockets = new Set<Socket>();
  #isFirst = true;

  constructor(cert: Buffer, key: Buffer) {
    this.#server = createServer({ cert, key }, (request, response) => {
      void (async () => {
        const { request: asked } = JSON.parse(await textOf(request)) as { request: { uid: string; name: string } };
        if (this.#isFirst) {
          this.#isFirst = false;
          this.#held.resolve(asked.name);
          await this.#opened.promise;
        }
        const body = { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' };
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify({ ...body, response: { uid: asked.uid, allowed: true } }));
      })();
    });
    // Also those that are still in their TLS handshake when it closes.
    this.#server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  /** Resolves to the name of the pod whose eviction is held. */
  get held(): Promise<string> {
    return this.#held.promise;
  }

  open(): void {
    this.#opened.resolve();
  }

  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  async close(): Promise<void> {
    this.open();
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}

describe('a leader that is stopped past its deadline', () => {
  const { stage, newCluster } = useRollouts();
  let gate: Gate;

  before(async () => {
    await endAll(stage());
    const { certificate, key } = await stage().controlPlane.certificates.issue('gate', ['127.0.0.1']);
    gate = new Gate(await readFile(certificate), await readFile(key));
  });

  after(async () => {
    await stage().client.remove(validatingWebhookConfigurations, { name: 'gate' }, {}, { priority: 'disrupt' });
    await gate.close();
    await endAll(stage());
    await stage().startController(sharedFlags);
  });

  /** Evictions in the namespace have to come through the gate. */
  async function guard(namespace: string): Promise<void> {
    const url = await gate.start();
    const caBundle = Buffer.from(stage().controlPlane.caBundle).toString('base64');
    const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods/eviction'] };
    const webhook = {
      name: 'gate.moco-rollout.io',
      clientConfig: { url, caBundle },
      rules: [rule],
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      timeoutSeconds: 30,
      failurePolicy: 'Fail',
    };
    const body = { metadata: { name: 'gate' }, webhooks: [webhook] };
    await stage().client.create(validatingWebhookConfigurations, {}, body, { priority: 'disrupt' });
  }

  const leads = ({ log }: ControllerProcess): boolean => log.includes('"msg":"Became leader"');

  async function comesToLead(candidates: readonly ControllerProcess[]): Promise<ControllerProcess> {
    return until(`one of ${candidates.length} leads`, () => candidates.find(leads));
  }

  it('starts no write when it wakes up, exits with 1, and its late writes have no effect', async () => {
    const leader = await stage().startController(electing);
    const cluster = newCluster();
    await judged(cluster, async () => {
      await cluster.create({});
      await cluster.isTaken();
      const others = [await stage().startController(electing), await stage().startController(electing)];
      await guard(cluster.namespace);
      await cluster.begin();
      await cluster.setImage('mysql:8.4.9');
      expect(await gate.held).to.equal(cluster.podName(2));
      leader.signal('SIGSTOP');

      const next = await comesToLead(others);
      await cluster.pod(2, 'is terminating', ({ metadata }) => metadata.deletionTimestamp !== undefined);
      expect(await cluster.steps()).to.deep.equal(['invalidate 2', 'evict 2']);

      gate.open();
      const credential = await until(
        'the eviction that the stopped leader had sent is answered with 409 or 404',
        // The pod has another version by then, or is gone and not there again.
        async () => (await evictions()).find(({ code }) => code === 409 || code === 404)?.credential,
      );
      const writesBefore = await writes(credential);
      expect(credential).to.match(/^JTI=/);
      expect(writesBefore).to.have.length.above(1);
      expect(await leader.stop('SIGCONT'), 'how the stopped leader ends').to.equal(1);
      await cluster.completes();

      expect(await writes(credential)).to.deep.equal(writesBefore);
      expect((await cluster.steps()).slice(2)).to.deep.equal(['evict 1', 'demote 0', 'evict 0', 'promoteRevision']);
      expect(leader.log).to.include('"msg":"Lost the lease"');
      expect(others.filter(leads)).to.deep.equal([next]);
    });

    interface Sent {
      readonly credential: string;
      readonly code: number;
    }

    /** Answered evictions of the cluster's pods, with the token by which they came: each candidate has its own. */
    async function evictions(): Promise<readonly Sent[]> {
      return (await cluster.requests())
        .filter(({ objectRef }) => objectRef?.subresource === 'eviction')
        .map((event) => ({ credential: credentialOf(event), code: event.responseStatus?.code ?? 0 }));
    }

    /** Everything but reads that came by a token, wherever to. */
    async function writes(credential: string): Promise<readonly string[]> {
      return (await stage().controlPlane.audit())
        .filter((event) => credentialOf(event) === credential && !['get', 'list', 'watch'].includes(event.verb))
        .map(({ requestReceivedTimestamp, verb, requestURI }) => `${requestReceivedTimestamp} ${verb} ${requestURI}`);
    }
  });
});

describe('a leader that gets SIGTERM', () => {
  const { stage } = useRollouts();

  before(() => endAll(stage()));
  after(() => stage().startController(sharedFlags));

  async function leaseHolder(): Promise<string> {
    const { controlPlane } = stage();
    const lease = ['get', 'lease', 'moco-rollout', '--ignore-not-found', '-o', holderPath];
    return controlPlane.kubectl('-n', 'moco-rollout-system', ...lease);
  }

  it('exits with 0 and releases the lease', async () => {
    const before = await leaseHolder();
    const leader = await stage().startController(electing);
    await until(`"${before}" no longer has the lease`, async () => ![before, ''].includes(await leaseHolder()));
    expect(await leader.stop('SIGTERM')).to.equal(0);
    expect(await leaseHolder()).to.equal('');
  });
});

async function endAll({ controllers }: Stage): Promise<void> {
  await Promise.all(controllers.map((controller) => controller.stop('SIGKILL')));
}

/** The id of the token (KEP-4193, in the API server's record since Kubernetes 1.30). */
function credentialOf({ user }: AuditEvent): string {
  return user.extra?.['authentication.kubernetes.io/credential-id']?.[0] ?? '';
}
