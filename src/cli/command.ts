import type { Host } from './host.ts';
import type { Given, Session } from './session.ts';

/** An option of one command, as commander writes them: `--for <duration>`. */
export interface CommandOption {
  readonly flags: string;
  readonly description: string;
  readonly default?: string;
  /** What may stand there, for completion. */
  readonly values?: readonly string[];
}

/** What an argument is, for completion. */
export type ArgumentKind = 'cluster' | 'pod' | 'rule' | 'none';

interface Described {
  readonly name: string;
  /** As commander writes them: `[NAME...]`. */
  readonly arguments: string;
  readonly completes: readonly ArgumentKind[];
  readonly summary: string;
  /** Below the summary in its own help. */
  readonly help?: string;
  readonly options?: readonly CommandOption[];
}

/** Asks the API server. Resolves to the exit status. */
export interface ClusterCommand extends Described {
  readonly connects: true;
  readonly run: (session: Session, names: readonly string[]) => Promise<number>;
}

/** Knows the answer by itself. */
export interface LocalCommand extends Described {
  readonly connects: false;
  readonly run: (host: Host, names: readonly string[], given: Given) => number | Promise<number>;
}

export type CliCommand = ClusterCommand | LocalCommand;

/** What every command that asks the API server takes. */
export const connectionOptions: readonly CommandOption[] = [
  { flags: '-n, --namespace <namespace>', description: 'namespace to work in; without it, the one of the context' },
  { flags: '-A, --all-namespaces', description: 'work in every namespace' },
  { flags: '--context <context>', description: 'context of the kubeconfig' },
  {
    flags: '--kubeconfig <file>',
    description: 'kubeconfig file; without it KUBECONFIG, ~/.kube/config, or the pod this runs in',
  },
  {
    flags: '--request-timeout <duration>',
    description: 'how long the API server has for one answer, such as 5s',
    default: '10s',
  },
];
