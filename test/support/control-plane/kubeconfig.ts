import { writeFile } from 'node:fs/promises';

/** Who a kubeconfig speaks as: a bearer token, or the paths of a client's certificate and key. */
type Credentials = { readonly token: string } | { readonly certificate: string; readonly key: string };

export interface KubeconfigContent {
  readonly server: string;
  /** PEM. */
  readonly ca: string;
  readonly credentials: Credentials;
  readonly namespace?: string;
}

/** Writes it as JSON, which is valid YAML. */
export async function writeKubeconfig(path: string, content: KubeconfigContent): Promise<void> {
  const { server, ca, credentials, namespace } = content;
  const user =
    'token' in credentials
      ? { token: credentials.token }
      : { 'client-certificate': credentials.certificate, 'client-key': credentials.key };
  const kubeconfig = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'local', cluster: { server, 'certificate-authority-data': Buffer.from(ca).toString('base64') } },
    ],
    users: [{ name: 'user', user }],
    contexts: [
      { name: 'local', context: { cluster: 'local', user: 'user', ...(namespace === undefined ? {} : { namespace }) } },
    ],
    'current-context': 'local',
  };
  await writeFile(path, `${JSON.stringify(kubeconfig, null, 2)}\n`, { mode: 0o600 });
}
