import type { KubeconfigOverrides } from '../../kube/kubeconfig-overrides.ts';
import { parseDuration, unreadable, value } from '../../options/flag.ts';
import { anyText, type CommandOption, oneNamespace, optionKind, severalTexts, toggle, type Values } from '../option.ts';

// kubectl's connection options, with the same names and meanings.

const serverAddress = optionKind((given) =>
  /^https?:\/\//.test(given) && URL.canParse(given)
    ? value(given)
    : unreadable('an https address such as https://127.0.0.1:6443'),
);

/** Options that override a value of the kubeconfig. Each comes with a function that builds the override. */
const overriding = {
  context: [anyText('--context <context>', 'context of the kubeconfig'), (context) => ({ context })],
  cluster: [anyText('--cluster <name>', 'cluster of the kubeconfig'), (cluster) => ({ cluster })],
  user: [anyText('--user <name>', 'user of the kubeconfig'), (user) => ({ user })],
  server: [
    serverAddress('-s, --server <url>', 'address of the API server'),
    (server) => ({ clusterEntry: { server } }),
  ],
  tlsServerName: [
    anyText('--tls-server-name <name>', 'server name to expect in the certificate of the API server'),
    (name) => ({ clusterEntry: { 'tls-server-name': name } }),
  ],
  certificateAuthority: [
    anyText('--certificate-authority <file>', 'CA certificates for the certificate of the API server'),
    (file) => ({ clusterEntry: { 'certificate-authority': file } }),
  ],
  clientCertificate: [
    anyText('--client-certificate <file>', 'client certificate'),
    (file) => ({ userEntry: { 'client-certificate': file } }),
  ],
  clientKey: [anyText('--client-key <file>', 'its key'), (file) => ({ userEntry: { 'client-key': file } })],
  token: [anyText('--token <token>', 'bearer token'), (token) => ({ userEntry: { token } })],
  as: [anyText('--as <user>', 'user to impersonate'), (as) => ({ userEntry: { as } })],
  asUid: [anyText('--as-uid <uid>', 'uid to impersonate'), (uid) => ({ userEntry: { 'as-uid': uid } })],
} as const satisfies Readonly<
  Record<string, readonly [CommandOption<string | undefined>, (given: string) => Partial<KubeconfigOverrides>]>
>;

type Overriding = typeof overriding;

/** A day stands for no limit, because no response takes longer. */
const noLimitMilliseconds = 86_400_000;

/** A duration in milliseconds. As in kubectl, a plain number means seconds, and 0 means no limit. */
const timeout = optionKind((given) =>
  /^0(ms|s|m|h)?$/.test(given) ? value(noLimitMilliseconds) : parseDuration(/^\d+$/.test(given) ? `${given}s` : given),
);

const overridingOptions = Object.fromEntries(
  Object.entries(overriding).map(([field, [option]]) => [field, option]),
) as { readonly [Field in keyof Overriding]: Overriding[Field][0] };

/** The options of every command that connects to the API server. */
export const connectionOptions = {
  namespace: oneNamespace(
    '-n, --namespace <namespace>',
    'namespace to work in (default: the namespace of the context)',
  ),
  kubeconfig: anyText(
    '--kubeconfig <file>',
    'kubeconfig file (default: KUBECONFIG, ~/.kube/config, or the ServiceAccount of the pod)',
  ),
  ...overridingOptions,
  asGroup: severalTexts('--as-group <group>', 'group to impersonate; may be given more than once'),
  insecureSkipTlsVerify: toggle(
    '--insecure-skip-tls-verify',
    'do not verify the certificate of the API server, which makes the connection insecure',
  ),
  requestTimeout: timeout(
    '--request-timeout <duration>',
    'how long to wait for one response of the API server, such as 5s; 0 for no limit',
    '10s',
  ),
};

type Given = Values<typeof connectionOptions>;

/** Collects the options that override values of the kubeconfig. */
export function overridesOf(given: Given): KubeconfigOverrides {
  const parts = Object.entries(overriding).map(([field, [, apply]]): Partial<KubeconfigOverrides> => {
    const text = given[field as keyof Overriding];
    return text === undefined ? {} : apply(text);
  });
  const groups = given.asGroup === undefined ? {} : { 'as-groups': given.asGroup };
  const insecure = given.insecureSkipTlsVerify ? { 'insecure-skip-tls-verify': true } : {};
  return {
    ...Object.assign({}, ...parts),
    clusterEntry: Object.assign({}, ...parts.map(({ clusterEntry }) => clusterEntry), insecure),
    userEntry: Object.assign({}, ...parts.map(({ userEntry }) => userEntry), groups),
  };
}
