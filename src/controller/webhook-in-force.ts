import { X509Certificate } from 'node:crypto';
import type { RolloutPolicy } from '../core/policy.ts';
import type { WebhookProblem } from '../core/snapshot.ts';
import { mocoStatefulSetWebhook, ownPartitionWebhook, ownWebhook } from '../moco/names.ts';
import type { WebhookConfigurationRecord } from '../moco/records.ts';

/** MOCO's webhook is registered, and with it MOCO's partition controller runs. */
export function mocoDrives(configurations: readonly WebhookConfigurationRecord[]): boolean {
  return configurations.some(({ webhooks }) => webhooks.some(({ name }) => name === mocoStatefulSetWebhook));
}

/** The webhook that each mode can't do without. */
const webhookOf = { OnDelete: ownWebhook, Partition: ownPartitionWebhook } as const;

/**
 * Why the webhook of a mode would not do its part at MOCO's next write to a StatefulSet. Webhook configurations run in the order of their
 * names, MOCO's has to come before ours. `certificate` is what this process serves, in PEM; `null` where it serves none.
 */
export function webhookProblem(
  configurations: readonly WebhookConfigurationRecord[],
  certificate: string | null,
  mode: RolloutPolicy['mode'],
): WebhookProblem | null {
  if (mode === 'Observe') return null;
  const needed = webhookOf[mode];
  const own = configurations.find(({ webhooks }) => webhooks.some(({ name }) => name === needed));
  const webhook = own?.webhooks.find(({ name }) => name === needed);
  if (!own || !webhook) return 'notRegistered';
  const later = configurations.filter(({ webhooks }) => webhooks.some(({ name }) => name === mocoStatefulSetWebhook));
  if (later.some(({ name }) => name > own.name)) return 'wrongOrder';
  if (webhook.caBundle === '') return 'noCertificate';
  return certificate === null || isTrusted(certificate, webhook.caBundle) ? null : 'wrongCertificate';
}

/** The last question and its answer: every pass asks the same, and signatures take time. */
let lastAsked = { certificate: '', caBundle: '', isTrusted: false };

function isTrusted(certificate: string, caBundle: string): boolean {
  if (lastAsked.certificate !== certificate || lastAsked.caBundle !== caBundle) {
    lastAsked = { certificate, caBundle, isTrusted: leadsTo(certificate, caBundle) };
  }
  return lastAsked.isTrusted;
}

/** A certificate chain leads to one of the bundle, as the API server asks for; names are its business alone. */
function leadsTo(certificate: string, caBundle: string): boolean {
  const anchors = certificatesOf(Buffer.from(caBundle, 'base64').toString('utf8'));
  return certificatesOf(certificate).some((one) =>
    anchors.some((anchor) => one.fingerprint256 === anchor.fingerprint256 || isIssuedBy(one, anchor)),
  );
}

function isIssuedBy(one: X509Certificate, issuer: X509Certificate): boolean {
  return one.checkIssued(issuer) && one.verify(issuer.publicKey);
}

/** Those that can be read: what can't is nobody's proof. */
function certificatesOf(pem: string): readonly X509Certificate[] {
  return [...pem.matchAll(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g)].flatMap(([text]) => {
    try {
      return [new X509Certificate(text)];
    } catch {
      return [];
    }
  });
}
