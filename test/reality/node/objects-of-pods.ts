import { isNotFound } from '../../../src/kube/api-error.ts';
import type { ResourceKind } from '../../../src/kube/resource.ts';
import type { ObjectClient } from '../../support/object-client.ts';

export const secrets: ResourceKind = { group: '', version: 'v1', plural: 'secrets', kind: 'Secret', namespaced: true };
const configMaps: ResourceKind = {
  group: '',
  version: 'v1',
  plural: 'configmaps',
  kind: 'ConfigMap',
  namespaced: true,
};

/** The content of one Secret or ConfigMap by its keys. */
export type Content = Readonly<Record<string, Buffer>>;

interface Stored {
  readonly data?: Readonly<Record<string, string>>;
}

/** Reads the Secrets and ConfigMaps that pods refer to. A missing one rejects, unless it is optional. */
export class ObjectsOfPods {
  readonly #client: ObjectClient;

  constructor(client: ObjectClient) {
    this.#client = client;
  }

  secret(namespace: string, name: string, optional = false): Promise<Content> {
    return this.#read(secrets, namespace, name, 'base64', optional);
  }

  configMap(namespace: string, name: string, optional = false): Promise<Content> {
    return this.#read(configMaps, namespace, name, 'utf8', optional);
  }

  async #read(
    kind: ResourceKind,
    namespace: string,
    name: string,
    encoding: 'base64' | 'utf8',
    optional: boolean,
  ): Promise<Content> {
    try {
      const { data = {} } = await this.#client.get<Stored>(kind, { namespace, name }, { priority: 'status' });
      return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value, encoding)]));
    } catch (error) {
      if (optional && isNotFound(error)) return {};
      throw error;
    }
  }
}
