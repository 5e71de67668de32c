import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { namespaces } from '../../../src/kube/resource.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { freePort } from '../control-plane/free-port.ts';
import type { Guard } from '../control-plane/guard.ts';
import { beginsHeldBack } from '../moco/held-back.ts';
import type { ObjectClient } from '../object-client.ts';
import { admissionPolicyVersion, installAdmissionPolicy } from './admission-policy.ts';
import { ControllerProcess } from './controller-process.ts';
import { isKeptOnDelete } from './kept-on-delete.ts';
import { partitionWebhookManifest, registerWebhooks, webhookManifest } from './webhook-registration.ts';

export type OnDeleteAdmission = 'policy' | 'webhook' | 'none';

export interface InstallationOptions {
  readonly controlPlane: ControlPlane;
  /** An administrator's. */
  readonly client: ObjectClient;
  /** Default: the policy if the API server supports it, else the webhook. */
  readonly admission?: OnDeleteAdmission;
  readonly partitionDriver?: 'moco' | 'own';
  /** For certificates and logs; removed by the process that opened this. */
  readonly directory: string;
  readonly guard: Guard;
}

/** The installation's namespace and ServiceAccount, as in `config/`. */
const systemNamespace = 'moco-rollout-system';
const serviceAccount = 'moco-rollout';

/** Between two questions, each of which creates and deletes an object. */
const askingMilliseconds = 250;

const configuration = fileURLToPath(new URL('../../../config', import.meta.url));

/** This project's CRD, RBAC and admission from `config/` on a control plane, and the controllers that are started there. */
export class Installation {
  readonly #options: Required<InstallationOptions>;
  readonly #controllers: ControllerProcess[] = [];
  #webhookPort = 0;

  private constructor(options: Required<InstallationOptions>) {
    this.#options = options;
  }

  static async open(options: InstallationOptions): Promise<Installation> {
    const { admission = (await admissionPolicyVersion(options.client)) === null ? 'webhook' : 'policy' } = options;
    const installation = new Installation({ partitionDriver: 'moco', ...options, admission });
    await installation.#install();
    return installation;
  }

  /** The controllers that run. */
  get controllers(): readonly ControllerProcess[] {
    return this.#controllers.filter((controller) => controller.running);
  }

  /**
   * Starts the controller with its own ServiceAccount's token, with the gate on unless `flags` differ. The webhook
   * configurations refer to the last started one.
   */
  async startController(flags: readonly string[] = []): Promise<ControllerProcess> {
    const name = `controller-${this.#controllers.length}`;
    const kubeconfig = await this.#options.controlPlane.kubeconfigFor({
      namespace: systemNamespace,
      name: serviceAccount,
    });
    const [webhookPort, metricsPort, healthPort] = [await freePort(), await freePort(), await freePort()];
    const logFile = join(this.#options.directory, `${name}.log`);
    await writeFile(logFile, '');
    const controller = new ControllerProcess(
      [
        `--kubeconfig=${kubeconfig}`,
        '--feature-gates=UpdateStrategyOnDelete=true',
        `--webhook-bind-address=127.0.0.1:${webhookPort}`,
        `--metrics-bind-address=127.0.0.1:${metricsPort}`,
        `--health-probe-bind-address=127.0.0.1:${healthPort}`,
        `--cert-dir=${join(this.#options.directory, 'certificate')}`,
        `--partition-driver=${this.#options.partitionDriver}`,
        `--leader-election-namespace=${systemNamespace}`,
        // Each test has clusters of its own.
        '--max-concurrent-rollouts=0',
        '--verify-first-cluster=false',
        '--log-level=debug',
        '--log-format=json',
        ...flags,
      ],
      logFile,
      this.#options.guard,
    );
    this.#controllers.push(controller);
    await controller.untilReady(async () => (await fetch(`http://127.0.0.1:${healthPort}/readyz`)).ok);
    this.#webhookPort = webhookPort;
    await this.#registerWebhooks(controller);
    return controller;
  }

  async createNamespace(name: string): Promise<void> {
    await this.#options.client.create(namespaces, {}, { metadata: { name } });
  }

  /** Ends every controller. */
  async close(): Promise<void> {
    await Promise.all(this.controllers.map((controller) => controller.stop('SIGKILL')));
  }

  async #install(): Promise<void> {
    const { controlPlane, client, admission, directory: own } = this.#options;
    await controlPlane.apply(join(configuration, 'crd'));
    await controlPlane.apply(join(configuration, 'default/namespace.yaml'), join(configuration, 'rbac'));
    if (admission === 'policy') {
      await installAdmissionPolicy(client);
      while (!(await isKeptOnDelete(client))) await delay(askingMilliseconds);
    }
    const { certificate, key } = await controlPlane.certificates.issue('webhook', ['127.0.0.1']);
    const directory = join(own, 'certificate');
    await mkdir(directory);
    await copyFile(certificate, join(directory, 'tls.crt'));
    await copyFile(key, join(directory, 'tls.key'));
  }

  async #registerWebhooks(controller: ControllerProcess): Promise<void> {
    const { controlPlane, client, admission, partitionDriver } = this.#options;
    const serving = { port: this.#webhookPort, caBundle: controlPlane.caBundle };
    if (admission === 'webhook') {
      await registerWebhooks(client, webhookManifest, serving);
      await controller.untilReady(() => isKeptOnDelete(client));
    }
    if (partitionDriver === 'moco') return;
    await registerWebhooks(client, partitionWebhookManifest, serving);
    // Whatever MOCO created before would be rolled by Kubernetes itself.
    await controller.untilReady(() => beginsHeldBack(client));
  }
}
