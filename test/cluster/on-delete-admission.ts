import { isNotFound } from '../../src/kube/api-error.ts';
import { until } from '../support/control-plane/until.ts';
import { installAdmissionPolicy, removeAdmissionPolicy } from '../support/stage/admission-policy.ts';
import { isKeptOnDelete } from '../support/stage/kept-on-delete.ts';
import { type Installed } from './moco-fixture.ts';
import { OwnWebhook } from './webhook-fixture.ts';

/** What keeps labelled StatefulSets at OnDelete. */
export interface OnDeleteAdmission {
  /** This project's webhook, where it is registered or not. */
  readonly webhook: OwnWebhook;
  /** Both resolve once the API server acts by it. */
  install(): Promise<void>;
  remove(): Promise<void>;
  /** Nothing is left of it. */
  stop(): Promise<void>;
}

export type AdmissionWay = 'policy' | 'webhook';

/** Installs one of the two, and removes the policy where the other one is meant. */
export async function admissionBy(
  kind: AdmissionWay,
  { controlPlane, client }: Pick<Installed, 'controlPlane' | 'client'>,
): Promise<OnDeleteAdmission> {
  const webhook = await OwnWebhook.start(controlPlane, client);
  const removed = async (): Promise<void> => {
    await until('labelled StatefulSets are no longer kept', async () => !(await isKeptOnDelete(client)));
  };
  const remove = async (): Promise<void> => {
    await (kind === 'policy' ? removeAdmissionPolicy(client) : webhook.unregister('webhook'));
    await removed();
  };
  const install = async (): Promise<void> => {
    await (kind === 'policy' ? installAdmissionPolicy(client) : webhook.register('webhook'));
    await until('labelled StatefulSets are kept at OnDelete', () => isKeptOnDelete(client));
  };
  const stop = async (): Promise<void> => {
    await remove();
    await webhook.stop();
  };
  if (kind === 'webhook') {
    await removeAdmissionPolicy(client).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
    await removed();
  }
  await install();
  return { webhook, install, remove, stop };
}
