import type { ApiClient } from '../../kube/api-client.ts';
import { isAlreadyExists, isConflict, isNotFound } from '../../kube/api-error.ts';
import { isRawObject, type RawObject } from '../../kube/raw-object.ts';
import { apiVersion, type ResourceKind } from '../../kube/resource.ts';
import { dataOf, type Material, materialOf } from './material.ts';

const secrets: ResourceKind = { group: '', version: 'v1', plural: 'secrets', kind: 'Secret', namespaced: true };

export interface StoredMaterial {
  /** `null`: there is no Secret yet. */
  readonly secret: RawObject | null;
  readonly material: Material;
}

/**
 * The one Secret that all replicas share. Any of them may write it, by what it has read: of two that do at once, the
 * API server takes the first.
 */
export class CertificateSecret {
  readonly #client: ApiClient;
  readonly #place: { readonly namespace: string; readonly name: string };

  constructor(client: ApiClient, place: { readonly namespace: string; readonly name: string }) {
    this.#client = client;
    this.#place = place;
  }

  /** Rejects with `ApiError`. */
  async read(signal: AbortSignal): Promise<StoredMaterial> {
    try {
      const secret = await this.#client.get<RawObject>(secrets, this.#place, { lane: 'read', signal });
      return { secret, material: materialOf(dataIn(secret)) };
    } catch (error) {
      if (!isNotFound(error)) throw error;
      return { secret: null, material: materialOf({}) };
    }
  }

  /** `false`: somebody else has written it since it was read. Rejects with `ApiError`. */
  async write({ secret }: StoredMaterial, material: Material, signal: AbortSignal): Promise<boolean> {
    const options = { lane: 'status', signal } as const;
    const { namespace } = this.#place;
    try {
      if (secret === null) {
        const made = { apiVersion: apiVersion(secrets), kind: secrets.kind, type: 'kubernetes.io/tls' };
        const metadata = { ...this.#place, labels: { 'app.kubernetes.io/part-of': 'moco-rollout' } };
        await this.#client.create(secrets, { namespace }, { ...made, metadata, data: dataOf(material) }, options);
      } else {
        const body = { ...secret, data: { ...dataIn(secret), ...dataOf(material) } };
        await this.#client.replace(secrets, this.#place, body, options);
      }
      return true;
    } catch (error) {
      if (isAlreadyExists(error) || isConflict(error) || (secret !== null && isNotFound(error))) return false;
      throw error;
    }
  }
}

function dataIn(secret: RawObject): RawObject {
  return isRawObject(secret['data']) ? secret['data'] : {};
}
