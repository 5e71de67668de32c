import { X509Certificate } from 'node:crypto';
import type { ApiClient } from '../../kube/api-client.ts';
import { delay } from '../../kube/delay.ts';
import type { Log } from '../../kube/log.ts';
import type { World } from '../../kube/world.ts';
import type { Certificate } from '../certificate.ts';
import type { CertificateHolder } from '../serving-tls.ts';
import { carryOut } from './carry-out.ts';
import { CertificateSecret } from './certificate-secret.ts';
import { bundleOf, type Material, usableOf } from './material.ts';
import { type CertificateStep, type CertificateTimes, defaultTimes, nextStep } from './next-step.ts';
import { Problems } from './problems.ts';
import {
  carriesBundle,
  ownConfigurations,
  putBundle,
  type ReadConfiguration,
  readConfigurations,
} from './webhook-configurations.ts';

export interface OwnCertificateOptions {
  readonly client: ApiClient;
  readonly world: World;
  readonly log: Log;
  /** Of the Secret and of the Service. */
  readonly namespace: string;
  readonly secretName: string;
  /** By which the API server reaches the webhook. */
  readonly serviceName: string;
  readonly pollMilliseconds?: number;
  readonly times?: CertificateTimes;
}

/** As often as files are looked at. What somebody writes over in a webhook configuration is wrong for about as long. */
const defaultPollMilliseconds = 10_000;
/** How often to begin again at once where somebody else was first. */
const mostTries = 5;

const toldOfStep: Readonly<Record<Exclude<CertificateStep, 'none'>, string>> = {
  newAuthority: "made an authority for the webhook's certificate",
  newCertificate: 'made a certificate for the webhook',
  forgetAuthorities: 'the authority of before is trusted no longer',
};

/**
 * The webhook's certificate by an authority of this program's own: makes both, keeps them in a Secret, tells the API
 * server whom to trust, and renews either before its time, in every replica alike. A new authority is trusted before
 * anything of it is served, and the one before until nothing of it is.
 */
export class OwnCertificate implements CertificateHolder {
  readonly #options: Required<OwnCertificateOptions>;
  readonly #dnsNames: readonly string[];
  readonly #secret: CertificateSecret;
  readonly #listeners = new Set<(certificate: Certificate) => void>();
  readonly #first = Promise.withResolvers<void>();
  #held: Material | null = null;
  #certificate: Certificate | null = null;
  /** What the Secret and every configuration have said alike since when. */
  #agreement: { readonly state: string; readonly sinceMilliseconds: number } | null = null;
  #hasAgreed = false;
  readonly #problems: Problems;
  #isMissing = false;

  constructor(options: OwnCertificateOptions) {
    this.#options = { pollMilliseconds: defaultPollMilliseconds, times: defaultTimes, ...options };
    const { client, namespace, secretName, serviceName } = options;
    this.#secret = new CertificateSecret(client, { namespace, name: secretName });
    const configurations = `the MutatingWebhookConfigurations ${ownConfigurations.join(' and ')}`;
    this.#problems = new Problems(options.log, {
      secret: { rights: 'get, create and update', of: `the Secret ${namespace}/${secretName}` },
      reading: { rights: 'get', of: configurations },
      telling: { rights: 'patch', of: configurations },
    });
    const host = `${serviceName}.${namespace}.svc`;
    this.#dnsNames = [host, `${host}.cluster.local`];
  }

  /** The certificate to serve; waits for the first one. */
  async read(): Promise<Certificate> {
    await this.#first.promise;
    if (this.#certificate === null) throw new Error('expected a certificate after the first one, got none');
    return this.#certificate;
  }

  follow(onChange: (certificate: Certificate) => void): () => void {
    this.#listeners.add(onChange);
    return () => this.#listeners.delete(onChange);
  }

  /** Why the webhook is of no use as it is, for `/readyz`; `null`: it is of use, or somebody else's matter. */
  problem(): string | null {
    const { secret, reading, telling } = this.#problems.current;
    if (this.#certificate === null) return secret ?? "the webhook's certificate has not been made yet";
    if (this.#certificate.validTo.getTime() <= this.#options.world.wall()) {
      return secret ?? "the webhook's certificate is past its end";
    }
    // Who has been trusted once is so still, whatever may not be read any more.
    return this.#hasAgreed ? null : (reading ?? telling ?? null);
  }

  /** Goes on until aborted, whatever happens. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { world, pollMilliseconds } = this.#options;
    while (!signal.aborted) {
      await this.#problems.attempt('secret', signal, () => this.#look(signal));
      await delay(world, pollMilliseconds * (0.75 + world.random() / 2), signal);
    }
  }

  /** The configurations before the Secret: `putBundle` says why. */
  async #look(signal: AbortSignal): Promise<void> {
    const { client, world, times, log, namespace, secretName } = this.#options;
    for (let tries = 0; tries < mostTries; tries += 1) {
      const read = await this.#problems.attempt('reading', signal, () => readConfigurations(client, signal));
      const configurations = read?.value ?? null;
      const stored = await this.#secret.read(signal);
      let { material } = stored;
      const now = world.wall();
      const settled = this.#settledMilliseconds(material, configurations);
      const step = nextStep(usableOf(material, this.#dnsNames), now, settled, times);
      if (step !== 'none') {
        material = await carryOut(step, material, this.#held, { dnsNames: this.#dnsNames, now, times });
        if (!(await this.#secret.write(stored, material, signal))) continue;
        log.info({ secret: `${namespace}/${secretName}` }, toldOfStep[step]);
      }
      this.#hold(material);
      if (configurations === null || (await this.#tell(configurations, bundleOf(material), signal))) return;
    }
  }

  /** Whether it is done; else somebody has changed a configuration meanwhile. */
  async #tell(configurations: readonly ReadConfiguration[], bundle: string, signal: AbortSignal): Promise<boolean> {
    const { client, log } = this.#options;
    this.#setMissing(configurations.some((one) => one.configuration === null && one.name === ownConfigurations[0]));
    const wrong = configurations.filter((one) => !carriesBundle(one, bundle));
    const told = await this.#problems.attempt('telling', signal, async () => {
      let isDone = true;
      for (const configuration of wrong) {
        const isPut = await putBundle(client, configuration, bundle, signal);
        if (isPut) log.info({ configuration: configuration.name }, 'told the API server whom to trust as the webhook');
        isDone &&= isPut;
      }
      return isDone;
    });
    return told?.value ?? true;
  }

  #hold(material: Material): void {
    const { cert, key } = material;
    const isOther = cert !== this.#held?.cert || key !== this.#held.key;
    this.#held = material;
    if (!isOther) return;
    const certificate = { cert, key, validTo: new X509Certificate(cert).validToDate };
    this.#certificate = certificate;
    this.#first.resolve();
    for (const listener of this.#listeners) listener(certificate);
  }

  #settledMilliseconds(material: Material, configurations: readonly ReadConfiguration[] | null): number {
    const now = this.#options.world.monotonic();
    const bundle = bundleOf(material);
    const agrees = configurations?.every((one) => carriesBundle(one, bundle)) ?? false;
    const state = bundle + material.cert;
    if (!agrees) this.#agreement = null;
    else if (this.#agreement?.state !== state) this.#agreement = { state, sinceMilliseconds: now };
    this.#hasAgreed ||= agrees && material.cert !== '';
    return this.#agreement === null ? 0 : now - this.#agreement.sinceMilliseconds;
  }

  #setMissing(isMissing: boolean): void {
    if (isMissing === this.#isMissing) return;
    this.#isMissing = isMissing;
    const fields = { configuration: ownConfigurations[0] };
    if (isMissing) this.#options.log.warn(fields, 'there is no such MutatingWebhookConfiguration: waiting for it');
    else this.#options.log.info(fields, 'the MutatingWebhookConfiguration has come');
  }
}
