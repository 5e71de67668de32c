import { type Host, realHost } from '../../src/cli/host.ts';
import { runCli } from '../../src/cli/run.ts';
import { annotationOn, demoteAnnotation } from '../../src/moco/names.ts';
import type { AuditEvent } from '../../test/support/control-plane/audit-log.ts';

// Shows a rollout with the plugin's own live view.

/** The MySQLCluster of a demo. */
export const place = { namespace: 'demo', name: 'test' };

/**
 * Runs `change`, which begins a rollout, and shows the rollout with the command line. Resolves once the end has been
 * shown.
 */
export async function showRollout(kubeconfig: string, change: () => Promise<unknown>): Promise<void> {
  const show = showStatus(kubeconfig);
  try {
    await show.shown;
    await change();
    await complete(kubeconfig);
    await show.completed();
  } finally {
    await show.end();
  }
}

/** Resolves once the command line reports that the rollout is complete. */
export async function complete(kubeconfig: string): Promise<void> {
  const status = await cli(kubeconfig, ['wait', place.name], { out: () => undefined, err: () => undefined });
  if (status !== 0) throw new Error(`Expected the rollout to complete, but \`wait\` ended with exit status ${status}`);
}

/** The controller's steps since this time, such as `evict moco-test-2, demote moco-test-0`. */
export function stepsSince(audit: readonly AuditEvent[], wallMilliseconds: number): string {
  return audit
    .filter(({ objectRef }) => objectRef?.namespace === place.namespace)
    .filter(({ requestReceivedTimestamp: at }) => Date.parse(at) >= wallMilliseconds)
    .flatMap(stepOf)
    .join(', ');
}

/** The controller's requests that replace a member or move the primary. */
function stepOf({ user, verb, objectRef, requestObject }: AuditEvent): readonly string[] {
  if (!user.username.endsWith(':moco-rollout') || objectRef?.resource !== 'pods') return [];
  const { name, subresource } = objectRef;
  if (verb === 'create' && subresource === 'eviction') return [`evict ${name}`];
  if (verb === 'delete') return [`delete ${name}`];
  const demotes = JSON.stringify(requestObject ?? null).includes(`"${demoteAnnotation}":"${annotationOn}"`);
  return demotes ? [`demote ${name}`] : [];
}

interface LiveView {
  /** Resolves once the view has shown something. */
  readonly shown: Promise<void>;
  /** Resolves once the view shows that all members are updated. */
  completed(): Promise<void>;
  end(): Promise<unknown>;
}

/** The live view of the command line. */
function showStatus(kubeconfig: string): LiveView {
  const { promise: shown, resolve } = Promise.withResolvers<void>();
  let last = '';
  let drawn = (): void => undefined;
  let interrupt = (): void => undefined;
  const ended = cli(kubeconfig, ['status', place.name, '--watch'], {
    out: (text) => {
      process.stdout.write(text);
      last = text;
      resolve();
      drawn();
    },
    onInterrupt: (callback) => {
      interrupt = callback;
      return () => undefined;
    },
  });
  const end = async (): Promise<void> => {
    interrupt();
    await ended;
  };
  // `wait` may return before the view has drawn its last frame.
  const completed = async (): Promise<void> => {
    const upToDate = new Promise<void>((done) => {
      drawn = () => last.includes('UpToDate') && done();
      drawn();
    });
    await Promise.race([upToDate, ended]);
  };
  return { shown: Promise.race([shown, ended.then(() => undefined)]), completed, end };
}

/** Runs the command line in this process. Resolves to its exit status. */
function cli(kubeconfig: string, argv: readonly string[], host: Partial<Host>): Promise<number> {
  const flags = ['--namespace', place.namespace, '--kubeconfig', kubeconfig];
  return runCli([...argv, ...flags], { ...realHost(), ...host });
}
