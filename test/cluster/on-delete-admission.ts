import {
  admissionPolicyFlags,
  installAdmissionPolicy,
  removeAdmissionPolicy,
} from '../support/stage/admission-policy.ts';
import { isKeptOnDelete } from '../support/stage/kept-on-delete.ts';
import { type Installed, installed, until } from './moco-fixture.ts';
import { OwnWebhook } from './webhook-fixture.ts';

/** What keeps labelled StatefulSets at OnDelete, on a control plane of its own with MOCO's webhook. */
export interface OnDeleteAdmission extends Installed {
  readonly kind: AdmissionWay;
  /** This project's webhook, where it is registered or not. */
  readonly webhook: OwnWebhook;
  /** Both resolve once the API server acts by it. */
  install(): Promise<void>;
  remove(): Promise<void>;
}

export const admissionWays = ['policy', 'webhook'] as const;
export type AdmissionWay = (typeof admissionWays)[number];

export async function admissionBy(kind: AdmissionWay): Promise<OnDeleteAdmission> {
  const moco = await installed({ controlPlane: kind === 'policy' ? admissionPolicyFlags(process.env) : {} });
  const { client } = moco;
  const webhook = await OwnWebhook.start(moco.controlPlane, client);
  const admission: OnDeleteAdmission = {
    ...moco,
    kind,
    webhook,
    install: async () => {
      await (kind === 'policy' ? installAdmissionPolicy(client) : webhook.register('webhook'));
      await until('labelled StatefulSets are kept at OnDelete', () => isKeptOnDelete(client));
    },
    remove: async () => {
      await (kind === 'policy' ? removeAdmissionPolicy(client) : webhook.unregister('webhook'));
      await until('labelled StatefulSets are no longer kept', async () => !(await isKeptOnDelete(client)));
    },
    stop: async () => {
      await moco.stop();
      await webhook.stop();
    },
  };
  await admission.install();
  return admission;
}
