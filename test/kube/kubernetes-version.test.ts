import { expect } from 'chai';
import { ApiClient } from '../../src/kube/api-client.ts';
import { type Judgement, judgeKubernetes, untilSupported } from '../../src/kube/kubernetes-version.ts';
import { FakeLog } from './fake-log.ts';
import { answer, FakeWorld, status } from './fake-world.ts';

const requeueAfterMilliseconds = 60_000;

const versions: Readonly<Record<string, Pick<Judgement, 'supported'> & { readonly says: RegExp | null }>> = {
  'v1.29.14': { supported: false, says: /expected Kubernetes 1\.30 or newer, got v1\.29\.14/ },
  'v1.9.0': { supported: false, says: /1\.30 or newer/ },
  'v0.0.0-master+$Format:%H$': { supported: false, says: /v0\.0\.0-master/ },
  'something else': { supported: false, says: /something else/ },
  'v1.30.0': { supported: true, says: null },
  'v1.34.6': { supported: true, says: null },
  'v1.33.2-gke.1000': { supported: true, says: null },
  'v1.35.0': { supported: true, says: /v1\.35\.0 stops .* at members that are already down .*upgrade to 1\.35\.4/ },
  'v1.35.3+k3s1': { supported: true, says: /137409/ },
  'v1.35.4': { supported: true, says: null },
  'v1.36.3': { supported: true, says: null },
  'v2.0.0': { supported: true, says: null },
};

describe('a version of Kubernetes', () => {
  for (const [version, { supported, says }] of Object.entries(versions)) {
    it(`${version} is ${supported ? 'supported' : 'not supported'}${says === null ? '' : ', and that is logged'}`, () => {
      const judged = judgeKubernetes(version);
      expect(judged.supported).to.equal(supported);
      if (says === null) expect(judged.sentence).to.equal(null);
      else expect(judged.sentence).to.match(says);
    });
  }

  describe('an unsupported version of Kubernetes', () => {
    let version: string | null;
    let log: FakeLog;
    let stop: AbortController;

    beforeEach(() => {
      version = 'v1.29.14';
      log = new FakeLog();
      stop = new AbortController();
    });

    function waiting(): { readonly world: FakeWorld; readonly done: () => boolean } {
      const world = new FakeWorld(() =>
        Promise.resolve(
          version === null ? answer(400, status(400, 'BadRequest')) : answer(200, { gitVersion: version }),
        ),
      );
      const client = new ApiClient({ world, qps: 1e6, burst: 1e6 });
      let isDone = false;
      void untilSupported('v1.29.14', { client, world, log }, stop.signal).finally(() => {
        isDone = true;
      });
      return { world, done: () => isDone };
    }

    it('is logged once, and the program waits for a supported one', async () => {
      const { world, done } = waiting();
      await world.advance(3 * requeueAfterMilliseconds);
      expect([done(), world.requests.length]).to.deep.equal([false, 3]);
      version = null;
      await world.advance(requeueAfterMilliseconds);
      version = 'v1.30.1';
      expect(log.of('warn')).to.have.length(1);
      await world.advance(requeueAfterMilliseconds);
      expect(done()).to.equal(true);
      expect(log.of('warn')).to.have.length(1);
      expect(log.of('info')).to.deep.equal(['API server version is supported now']);
    });

    it('does not keep the program from shutting down', async () => {
      const { world, done } = waiting();
      await world.advance(requeueAfterMilliseconds / 2);
      stop.abort();
      await world.advance(0);
      expect([done(), world.pendingTimers]).to.deep.equal([true, 0]);
    });
  });
});
