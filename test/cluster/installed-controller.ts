import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Options } from '../../src/options/flags.ts';
import { parseOptions } from '../../src/options/options.ts';
import type { BindAddress } from '../../src/telemetry/http-server.ts';
import { isHook, type Manifest } from '../config/manifests.ts';
import type { ControlPlane } from '../support/control-plane/control-plane.ts';
import { freePort } from '../support/control-plane/free-port.ts';
import { Guard } from '../support/control-plane/guard.ts';
import { until } from '../support/control-plane/until.ts';
import { ControllerProcess } from '../support/stage/controller-process.ts';

const caAnnotation = 'cert-manager.io/inject-ca-from';
const loopback = '127.0.0.1';
const webhookPortName = 'webhook';

interface EnvironmentVariable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly fieldRef?: { readonly fieldPath: string } };
}

interface Container {
  readonly args: readonly string[];
  readonly env?: readonly EnvironmentVariable[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly readinessProbe: { readonly httpGet: { readonly path: string; readonly port: string } };
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
}

interface Deployment extends Manifest {
  readonly metadata: Manifest['metadata'] & { readonly namespace: string };
  readonly spec: {
    readonly replicas: number;
    readonly template: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> };
      readonly spec: {
        readonly serviceAccountName: string;
        readonly containers: readonly [Container];
        readonly volumes?: readonly { readonly name: string; readonly secret?: { readonly secretName: string } }[];
      };
    };
  };
}

interface Service extends Manifest {
  readonly spec: {
    readonly selector: Readonly<Record<string, string>>;
    readonly ports: readonly { readonly port: number; readonly targetPort: string }[];
  };
}

interface WebhookClient {
  readonly service: { readonly name: string; readonly namespace: string; readonly path: string; readonly port: number };
  readonly caBundle?: string;
}

interface WebhookConfiguration extends Manifest {
  readonly webhooks: readonly { readonly name: string; readonly clientConfig: WebhookClient }[];
}

interface Secret {
  readonly data: Readonly<Record<string, string>>;
}

interface Certificate extends Manifest {
  readonly spec: { readonly secretName: string; readonly dnsNames: readonly string[] };
}

/** A replica with the addresses that stand for those of its pod. */
interface Replica {
  readonly process: ControllerProcess;
  readonly metricsPort: number;
  readonly readyUrl: string;
}

/**
 * Everything that is installed, and the processes of its Deployment: this plays the Deployment's controller, the
 * kubelet, kube-proxy and cert-manager. Whatever these don't give, such as a right, the installed objects have to.
 */
export class InstalledController {
  readonly #controlPlane: ControlPlane;
  readonly #directory: string;
  readonly #guard = new Guard();
  readonly #replicas: Replica[] = [];
  readonly #webhookPort: number;

  private constructor(controlPlane: ControlPlane, directory: string, webhookPort: number) {
    this.#controlPlane = controlPlane;
    this.#directory = directory;
    this.#webhookPort = webhookPort;
  }

  /** `directory` is made, and keeps what pods would have mounted. */
  static async in(controlPlane: ControlPlane, directory: string): Promise<InstalledController> {
    return new InstalledController(controlPlane, directory, await freePort());
  }

  /**
   * Applies what has been rendered, anew where it is there already. Hooks of Helm run when it says so, and so not now.
   * The API server reaches this machine by a URL and not by a Service, which is looked at all the same.
   */
  async apply(manifests: readonly Manifest[]): Promise<void> {
    await mkdir(this.#directory, { recursive: true });
    const objects = manifests
      .filter((manifest) => !isHook(manifest))
      .map((manifest) => (isWebhookConfiguration(manifest) ? this.#withAddress(manifest, manifests) : manifest));
    const file = await this.#controlPlane.fileOf(...objects);
    await this.#controlPlane.kubectl('apply', '--server-side', '--force-conflicts', '-f', file);
    await this.#makeCertificates(manifests.filter(isCertificate));
  }

  /** As many processes as the Deployment asks for, as the API server has it. Resolves once each has been started. */
  async start(): Promise<void> {
    const deployment = await this.#deployment();
    for (let index = 0; index < deployment.spec.replicas; index++) {
      const webhookPort = index === 0 ? this.#webhookPort : await freePort();
      this.#replicas.push(await this.#begin(deployment, webhookPort));
    }
  }

  /** Every replica passes its readiness probe. */
  async isReady(): Promise<void> {
    for (const { process, readyUrl } of this.#replicas) {
      const ask = async (): Promise<boolean> => {
        if (!process.running) throw new Error(`a replica ended at its start:\n${process.log}`);
        return (await answerOf(readyUrl)).ok;
      };
      await until(`${readyUrl} is answered with 200`, ask, { got: () => process.log });
    }
  }

  /** The value of a metric without labels, in every replica. */
  metric(name: string): Promise<readonly number[]> {
    return Promise.all(
      this.#replicas.map(async ({ metricsPort }) => {
        const { text } = await answerOf(`http://${loopback}:${metricsPort}/metrics`);
        return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
      }),
    );
  }

  get log(): string {
    return this.#replicas.map(({ process }) => process.log).join('');
  }

  async stop(): Promise<readonly (number | null)[]> {
    return Promise.all(this.#replicas.splice(0).map(({ process }) => process.stop()));
  }

  async close(): Promise<void> {
    await this.stop();
    await this.#guard.close();
  }

  async #begin(deployment: Deployment, webhookPort: number): Promise<Replica> {
    const { namespace, name } = deployment.metadata;
    const { serviceAccountName, containers } = deployment.spec.template.spec;
    const [container] = containers;
    const environment = environmentOf(container, namespace);
    const args = container.args.map((arg) => expanded(arg, environment));
    const options = optionsOf(args);
    assertPort(container, 'metrics', options.metricsBindAddress);
    assertPort(container, container.readinessProbe.httpGet.port, options.healthProbeBindAddress);
    const [metricsPort, healthPort] = [await freePort(), await freePort()];
    const serving = options.webhookBindAddress === null ? [] : await this.#webhook(deployment, options, webhookPort);
    // What a pod has of its own: its address, its files, its token.
    const own = [
      // No agents listen at the pods of the stand-in.
      '--replica-delay-grace-seconds=0',
      '--silent-member-grace-seconds=0',
      `--kubeconfig=${await this.#controlPlane.kubeconfigFor({ namespace, name: serviceAccountName })}`,
      ...serving,
      `--metrics-bind-address=${loopback}:${metricsPort}`,
      `--health-probe-bind-address=${loopback}:${healthPort}`,
    ];
    const logFile = join(this.#directory, `${name}-${webhookPort}.log`);
    return {
      process: new ControllerProcess([...args, ...own], logFile, this.#guard, environment),
      metricsPort,
      readyUrl: `http://${loopback}:${healthPort}${container.readinessProbe.httpGet.path}`,
    };
  }

  /** Where the webhook is served with what the Deployment mounts, as flags. */
  async #webhook(deployment: Deployment, options: Options, port: number): Promise<readonly string[]> {
    const { namespace, name } = deployment.metadata;
    const { containers, volumes = [] } = deployment.spec.template.spec;
    const [container] = containers;
    const mounted = container.volumeMounts?.find(({ mountPath }) => mountPath === options.certDir);
    const secretName = volumes.find((volume) => volume.name === mounted?.name)?.secret?.secretName;
    if (secretName === undefined) throw new Error(`expected a Secret at ${options.certDir}, got none: ${name}`);
    assertPort(container, webhookPortName, options.webhookBindAddress);
    const pod = join(this.#directory, `${name}-${port}`);
    await this.#mount(namespace, secretName, pod);
    return [`--cert-dir=${pod}`, `--webhook-bind-address=${loopback}:${port}`];
  }

  /** The kubelet: a Secret's entries as files. */
  async #mount(namespace: string, name: string, directory: string): Promise<void> {
    const secret = JSON.parse(
      await this.#controlPlane.kubectl('get', 'secret', name, '-n', namespace, '-o', 'json'),
    ) as Secret;
    await mkdir(directory, { recursive: true });
    for (const [file, content] of Object.entries(secret.data)) {
      await writeFile(join(directory, file), Buffer.from(content, 'base64'));
    }
  }

  /** cert-manager: a Secret for each Certificate. */
  async #makeCertificates(certificates: readonly Certificate[]): Promise<void> {
    for (const { metadata, spec } of certificates) {
      const { namespace = '' } = metadata;
      const { certificate, key } = await this.#controlPlane.certificates.issue(metadata.name, [loopback]);
      const files = [`--cert=${certificate}`, `--key=${key}`, `--namespace=${namespace}`];
      await this.#controlPlane.kubectl('delete', 'secret', spec.secretName, '-n', namespace, '--ignore-not-found');
      await this.#controlPlane.kubectl('create', 'secret', 'tls', spec.secretName, ...files);
    }
  }

  /** kube-proxy, and cert-manager where an annotation asks for the CA of a Certificate that is installed as well. */
  #withAddress(configuration: WebhookConfiguration, manifests: readonly Manifest[]): Manifest {
    const { metadata, webhooks } = configuration;
    const from = metadata.annotations?.[caAnnotation];
    const isInjected = manifests.filter(isCertificate).some((one) => from === nameIn(one));
    const caBundle = isInjected ? Buffer.from(this.#controlPlane.caBundle).toString('base64') : undefined;
    return {
      ...configuration,
      webhooks: webhooks.map(({ clientConfig, ...webhook }) => {
        assertLeadsToWebhook(clientConfig, manifests);
        const url = `https://${loopback}:${this.#webhookPort}${clientConfig.service.path}`;
        return { ...webhook, clientConfig: { caBundle: caBundle ?? clientConfig.caBundle, url } };
      }),
    };
  }

  /** As the API server has it. */
  async #deployment(): Promise<Deployment> {
    const ours = ['--all-namespaces', '--selector=app.kubernetes.io/part-of=moco-rollout'];
    const answer = await this.#controlPlane.kubectl('get', 'deployments', ...ours, '-o', 'json');
    const { items } = JSON.parse(answer) as { items: readonly Deployment[] };
    const [deployment] = items;
    if (deployment === undefined || items.length > 1) {
      throw new Error(`expected one Deployment to be installed, got ${items.length}`);
    }
    return deployment;
  }
}

const isCertificate = (manifest: Manifest): manifest is Certificate => manifest.kind === 'Certificate';
const isService = (manifest: Manifest): manifest is Service => manifest.kind === 'Service';
const isDeployment = (manifest: Manifest): manifest is Deployment => manifest.kind === 'Deployment';
const nameIn = ({ metadata }: Manifest): string => `${metadata.namespace}/${metadata.name}`;
const isWebhookConfiguration = (manifest: Manifest): manifest is WebhookConfiguration =>
  manifest.kind === 'MutatingWebhookConfiguration';

/** The Service that is named is installed, selects the Deployment's pods, and targets the port of the webhook. */
function assertLeadsToWebhook({ service }: WebhookClient, manifests: readonly Manifest[]): void {
  const address = `${service.namespace}/${service.name}`;
  const found = manifests.filter(isService).find((one) => nameIn(one) === address);
  const { labels = {} } = manifests.find(isDeployment)?.spec.template.metadata ?? {};
  const selects = Object.entries(found?.spec.selector ?? {}).every(([label, value]) => labels[label] === value);
  const target = found?.spec.ports.find(({ port }) => port === service.port)?.targetPort;
  if (selects && target === webhookPortName) return;
  throw new Error(`expected a Service ${address} that leads to the controller's webhook at ${service.port}, got none`);
}

/** Nothing but what the Deployment says, and where to find programs. */
function environmentOf({ env = [] }: Container, namespace: string): NodeJS.ProcessEnv {
  const said = env.map(({ name, value, valueFrom }): [string, string] => {
    if (value !== undefined) return [name, value];
    const path = valueFrom?.fieldRef?.fieldPath;
    if (path !== 'metadata.namespace') throw new Error(`expected ${name} to be what a pod is told here, got ${path}`);
    return [name, namespace];
  });
  return { PATH: process.env['PATH'] ?? '', ...Object.fromEntries(said) };
}

/** As a kubelet does it with `$(NAME)`. */
function expanded(arg: string, environment: NodeJS.ProcessEnv): string {
  return arg.replaceAll(/\$\((\w+)\)/g, (text, name: string) => environment[name] ?? text);
}

function optionsOf(args: readonly string[]): Options {
  const parsed = parseOptions(args);
  if (parsed.kind !== 'options') throw new Error(`expected arguments that the program takes, got ${args.join(' ')}`);
  return parsed.options;
}

/** The program listens where the Deployment says that its container does. */
function assertPort({ ports }: Container, name: string, address: BindAddress | null): void {
  const port = ports.find((one) => one.name === name)?.containerPort;
  if (port === undefined || port !== address?.port || address.host !== null) {
    throw new Error(`expected the program to listen at the port ${name}, ${port}, it does at ${address?.port}`);
  }
}

async function answerOf(url: string): Promise<{ readonly ok: boolean; readonly text: string }> {
  const answer = await fetch(url).catch(() => null);
  return answer === null ? { ok: false, text: '' } : { ok: answer.ok, text: await answer.text() };
}
