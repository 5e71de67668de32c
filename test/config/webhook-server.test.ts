import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { parseOptions } from '../../src/options/options.ts';
import { configDirectory, readOne } from './manifests.ts';

interface Patch {
  readonly target?: { readonly kind: string };
  readonly patch: string;
}

interface Operation {
  readonly op: string;
  readonly path: string;
  readonly value: unknown;
}

interface Mounts {
  readonly spec: {
    readonly template: {
      readonly spec: {
        readonly containers: readonly [
          { readonly name: string; readonly volumeMounts: readonly [{ name: string; mountPath: string }] },
        ];
        readonly volumes: readonly [{ readonly name: string; readonly secret: { readonly secretName: string } }];
      };
    };
  };
}

describe('the component that turns on the webhook server', () => {
  let patches: readonly Patch[];
  let operations: readonly Operation[];
  let certDir: string;

  before(async () => {
    const component = parse(await readFile(join(configDirectory, 'webhook-server/Kustomization'), 'utf8'));
    expect(component).to.deep.include({ kind: 'Component', resources: ['certificate.yaml', 'service.yaml'] });
    patches = component.patches;
    operations = operationsOf('Deployment');
  });

  it('turns on the webhook at the port that it opens, in the container and in the NetworkPolicy', () => {
    const args = operations.filter(({ path }) => path.endsWith('/args/-')).map(({ value }) => String(value));
    const parsed = parseOptions(args);
    if (parsed.kind !== 'options') throw new Error(JSON.stringify(parsed));
    const { webhookBindAddress } = parsed.options;
    certDir = parsed.options.certDir;
    expect(webhookBindAddress).to.deep.equal({ host: null, port: 9443 });
    const opened = operations.filter(({ path }) => path.includes('/ports/')).map(({ value }) => value);
    expect(opened).to.deep.equal([{ name: 'webhook', containerPort: webhookBindAddress?.port }]);
    expect(operationsOf('NetworkPolicy')).to.deep.equal([
      { op: 'add', path: '/spec/ingress/0', value: { ports: [{ port: 'webhook' }] } },
    ]);
  });

  it('mounts cert-manager’s certificate at the path that the program reads', async () => {
    const mounts = patches.find(({ target }) => target === undefined);
    const { containers, volumes } = (parse(mounts?.patch ?? '') as Mounts).spec.template.spec;
    const [{ name, volumeMounts }] = containers;
    expect(name).to.equal('controller');
    expect(volumeMounts[0]).to.include({ name: volumes[0].name, mountPath: certDir });
    const certificate = await readOne('Certificate', 'webhook-server', 'moco-rollout-webhook');
    expect(certificate['spec']).to.include({ secretName: volumes[0].secret.secretName });
  });

  it('registers no webhook', async () => {
    const found = await readOne('MutatingWebhookConfiguration', 'webhook-server').catch(
      (error: Error) => error.message,
    );
    expect(found).to.equal('Expected one MutatingWebhookConfiguration, got 0');
  });

  function operationsOf(kind: string): readonly Operation[] {
    return parse(patches.find(({ target }) => target?.kind === kind)?.patch ?? '');
  }
});
