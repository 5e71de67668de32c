import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { MySQLCluster, StatefulSet } from '../../hack/moco/objects.ts';
import { perform } from '../../hack/moco/perform.ts';
import { defaultSettings } from '../../hack/moco/settings.ts';
import { statefulSetBody } from '../../hack/moco/stateful-set.ts';
import { ApiError } from '../../src/kube/api-error.ts';
import { mutatingWebhookConfigurations, path } from '../../src/kube/resource.ts';
import { strategyLabel } from '../../src/moco/names.ts';
import { mutateStatefulSetPath } from '../../src/webhook/reviewers.ts';
import { type RunningWebhook, startWebhook } from '../../src/webhook/server.ts';
import { readOne } from '../config/manifests.ts';
import { merge } from '../hack/moco/story.ts';
import {
  createCluster,
  type Installed,
  installed,
  patch,
  startDeadlineMilliseconds,
  statefulSet,
  testDeadlineMilliseconds,
  until,
} from './moco-fixture.ts';

const onDelete = { type: 'OnDelete', rollingUpdate: null };
const rolling = { type: 'RollingUpdate', rollingUpdate: null };
const reset = { type: 'RollingUpdate', rollingUpdate: { partition: 3 } };
const taken = { metadata: { labels: { [strategyLabel]: 'OnDelete' } }, spec: { updateStrategy: onDelete } };
const log = { info: ignore, warn: ignore, error: ignore };

function ignore(): void {}

/** One row: a write to a StatefulSet that is at OnDelete, and what it comes to without our webhook and with it. */
interface Row {
  readonly write: (name: string) => Promise<unknown>;
  readonly without: object | RegExp;
  readonly with: object | RegExp | 'unchanged';
}

describe("MOCO's webhook and ours, at the API server", function () {
  this.timeout(testDeadlineMilliseconds);
  let moco: Installed;
  let ours: RunningWebhook;
  let configuration: object;
  const clusters = new Map<string, MySQLCluster>();
  let clusterCount = 0;

  before(async function installEverything() {
    this.timeout(startDeadlineMilliseconds);
    moco = await installed();
    const { controlPlane } = moco;
    const certDir = join(controlPlane.directory, 'webhook');
    const { certificate, key } = await controlPlane.certificates.issue('webhook', ['127.0.0.1']);
    await mkdir(certDir);
    await copyFile(certificate, join(certDir, 'tls.crt'));
    await copyFile(key, join(certDir, 'tls.key'));
    ours = await startWebhook({ address: { host: '127.0.0.1', port: 0 }, certDir, log });
    const { file: _, ...manifest } = await readOne('MutatingWebhookConfiguration', 'webhook');
    const [webhook] = manifest['webhooks'] as [object];
    const clientConfig = {
      url: `https://127.0.0.1:${ours.address.port}${mutateStatefulSetPath}`,
      caBundle: Buffer.from(controlPlane.caBundle).toString('base64'),
    };
    configuration = { ...manifest, webhooks: [{ ...webhook, clientConfig }] };
    await installOurs();
  });

  after(async () => {
    await moco?.stop();
    await ours?.close(0);
  });

  const rows: Record<string, Row> = {
    "MOCO's re-apply": {
      write: (name) => applyAsMoco(name),
      without: reset,
      with: 'unchanged',
    },
    "MOCO's apply of a new template": {
      write: (name) => applyAsMoco(name, 'mysql:8.4.9'),
      without: reset,
      with: { type: 'OnDelete' },
    },
    'an annotation of anybody': {
      write: (name) => patch(moco.client, 'StatefulSet', `moco-${name}`, { metadata: { annotations: { x: '1' } } }),
      without: /422 .*only allowed for updateStrategy 'RollingUpdate'/,
      with: { type: 'OnDelete' },
    },
    'a finalizer of anybody': {
      write: (name) =>
        patch(moco.client, 'StatefulSet', `moco-${name}`, { metadata: { finalizers: ['example.com/keep'] } }),
      without: /422 .*only allowed for updateStrategy 'RollingUpdate'/,
      with: { type: 'OnDelete' },
    },
    'an explicit partition': {
      write: (name) =>
        patch(moco.client, 'StatefulSet', `moco-${name}`, {
          spec: { updateStrategy: { rollingUpdate: { partition: 2 } } },
        }),
      without: /statefulset\.kb\.io.* denied the request: panic/,
      with: /statefulset\.kb\.io.* denied the request: panic/,
    },
    'back to RollingUpdate': {
      write: (name) => patch(moco.client, 'StatefulSet', `moco-${name}`, { spec: { updateStrategy: rolling } }),
      without: reset,
      with: { type: 'OnDelete' },
    },
    'the label taken off together with RollingUpdate': {
      write: (name) =>
        patch(moco.client, 'StatefulSet', `moco-${name}`, {
          metadata: { labels: { [strategyLabel]: null } },
          spec: { updateStrategy: rolling },
        }),
      without: reset,
      with: reset,
    },
  };

  it('refuse a plain change to OnDelete where ours is not asked, and allow it where the label asks it', async () => {
    const name = await make();
    const plain = patch(moco.client, 'StatefulSet', `moco-${name}`, { spec: { updateStrategy: onDelete } });
    expect(await outcome(plain)).to.match(/422 .*only allowed for updateStrategy 'RollingUpdate'/);
    await patch(moco.client, 'StatefulSet', `moco-${name}`, taken);
    expect(await strategy(name)).to.deep.equal({ type: 'OnDelete' });
  });

  it('start a new StatefulSet with partition = replicas, and reset it with every write but that of a partition', async () => {
    const name = await make();
    expect(await strategy(name)).to.deep.equal(reset);
    const lowered = { spec: { updateStrategy: { rollingUpdate: { partition: 1 } } } };
    await patch(moco.client, 'StatefulSet', `moco-${name}`, lowered);
    expect(await strategy(name)).to.deep.equal(merge(reset, { rollingUpdate: { partition: 1 } }));
    await patch(moco.client, 'StatefulSet', `moco-${name}`, { metadata: { annotations: { x: '1' } } });
    expect(await strategy(name)).to.deep.equal(reset);
  });

  describe('with ours', () => {
    for (const [title, row] of Object.entries(rows)) {
      it(`${title} ${told(row.with)}`, async () => {
        const name = await make();
        await patch(moco.client, 'StatefulSet', `moco-${name}`, taken);
        // The first apply makes MOCO the owner of the type that the taking patch owned; from then on nothing is new.
        await applyAsMoco(name);
        await until('the StatefulSet controller has written all that it has to', async () => {
          const { metadata, status } = await statefulSet(moco.client, name);
          return status?.observedGeneration === metadata.generation && status?.updatedReplicas === 3;
        });
        const before = await statefulSet(moco.client, name);
        await check(name, row, row.with === 'unchanged' ? { type: 'OnDelete' } : row.with);
        if (row.with === 'unchanged') {
          expect((await statefulSet(moco.client, name)).metadata.resourceVersion).to.equal(
            before.metadata.resourceVersion,
          );
        }
      });
    }

    it("MOCO's applies keep the label", async () => {
      const name = await make();
      await patch(moco.client, 'StatefulSet', `moco-${name}`, taken);
      await applyAsMoco(name, 'mysql:8.4.9');
      expect((await statefulSet(moco.client, name)).metadata.labels?.[strategyLabel]).to.equal('OnDelete');
    });
  });

  describe('without ours, at OnDelete since ours was there', () => {
    const names = new Map<string, string>();

    before(async () => {
      for (const title of Object.keys(rows)) {
        const name = await make();
        await patch(moco.client, 'StatefulSet', `moco-${name}`, taken);
        names.set(title, name);
      }
      await uninstallOurs();
    });

    after(() => installOurs());

    for (const [title, row] of Object.entries(rows)) {
      it(`${title} ${told(row.without)}`, () => check(names.get(title) ?? '', row, row.without));
    }
  });

  async function check(name: string, row: Row, expected: object | RegExp): Promise<void> {
    const came = await outcome(row.write(name));
    if (expected instanceof RegExp) {
      expect(came).to.match(expected);
      expect(await strategy(name)).to.deep.equal({ type: 'OnDelete' });
    } else {
      expect(came).to.equal('done');
      expect(await strategy(name)).to.deep.equal(expected);
    }
  }

  /** A cluster whose StatefulSet MOCO has applied; nobody else looks after it. */
  async function make(): Promise<string> {
    clusterCount += 1;
    const name = `row-${clusterCount}`;
    clusters.set(name, await createCluster(moco.client, { name }));
    await applyAsMoco(name);
    return name;
  }

  async function applyAsMoco(name: string, image = 'mysql:8.4.8'): Promise<void> {
    const podTemplate = { spec: { containers: [{ name: 'mysqld', image }] } };
    const cluster = merge(clusters.get(name), { spec: { podTemplate } }) as MySQLCluster;
    const body = statefulSetBody(cluster, defaultSettings);
    await perform(moco.client, {
      verb: 'apply',
      kind: 'StatefulSet',
      namespace: 'default',
      name: `moco-${name}`,
      body,
    });
  }

  async function strategy(name: string): Promise<StatefulSet['spec']['updateStrategy']> {
    return (await statefulSet(moco.client, name)).spec.updateStrategy;
  }

  async function installOurs(): Promise<void> {
    await moco.client.create(mutatingWebhookConfigurations, {}, configuration, { lane: 'disrupt' });
    const probe = await make();
    await until('our webhook is asked', async () => {
      const written = patch(moco.client, 'StatefulSet', `moco-${probe}`, taken);
      return (await outcome(written)) === 'done';
    });
  }

  async function uninstallOurs(): Promise<void> {
    const { metadata } = configuration as { metadata: { name: string } };
    await moco.client.call({ method: 'DELETE', path: path(mutatingWebhookConfigurations, metadata), lane: 'disrupt' });
    const probe = await make();
    await until('our webhook is no longer asked', async () => {
      const written = patch(moco.client, 'StatefulSet', `moco-${probe}`, taken);
      return (await outcome(written)) !== 'done';
    });
  }
});

/** `done`, or the API server's refusal as `<code> <message>`. */
async function outcome(write: Promise<unknown>): Promise<string> {
  try {
    await write;
    return 'done';
  } catch (error) {
    if (error instanceof ApiError) {
      return `${error.status} ${error.message}`;
    }
    throw error;
  }
}

function told(expected: object | RegExp | 'unchanged'): string {
  if (expected instanceof RegExp) {
    return 'is refused';
  }
  if (expected === 'unchanged') {
    return 'changes nothing, not even the resourceVersion';
  }
  return expected === reset ? 'brings RollingUpdate with partition = replicas' : 'leaves it at OnDelete';
}
