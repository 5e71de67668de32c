import type { DocumentedCommand } from './markdown.ts';

/**
 * How a command of a document is tested:
 *
 * - `make`: the target exists, and so does every program that it starts.
 * - `script`: the program exists and knows the flags.
 * - `shell-script`: the script exists and knows the variables.
 * - `bundle`: the image starts the bundle with the same flags.
 * - `plugin`: the command line accepts it, and a cluster answers.
 * - `plugin-file`: `hack/plugin` makes a file with that name.
 * - `kubectl`: it runs against a real API server.
 * - `kubectl-node`: kubectl knows the flags. Running it needs a kubelet, which the control plane of the tests has not.
 * - `helm`: it runs against a real API server.
 * - `docker`: it builds this directory, with the version that the manifests have. No test has docker.
 */
export type CommandKind =
  | 'make'
  | 'script'
  | 'shell-script'
  | 'bundle'
  | 'plugin'
  | 'plugin-file'
  | 'kubectl'
  | 'kubectl-node'
  | 'helm'
  | 'docker'
  | 'unknown';

const patterns: readonly (readonly [RegExp, CommandKind])[] = [
  [/^(?:[A-Z]+=\S+ )*make [a-z-]+$/, 'make'],
  [/^(?:node|hack\/node\.sh) (?:hack|test)\/\S+\.ts( |$)/, 'script'],
  [/^(?:[A-Z_]+=\S+ )*hack\/\S+\.sh$/, 'shell-script'],
  [/^node (?:--\S+ )+dist\/main\.js$/, 'bundle'],
  [/^(?:install dist\/plugin\/|kubectl krew )/, 'plugin-file'],
  [/^kubectl moco-rollout( |$)/, 'plugin'],
  [/^kubectl (?:-n \S+ )?(?:logs|exec) /, 'kubectl-node'],
  [/^kubectl /, 'kubectl'],
  [/^helm /, 'helm'],
  [/^docker (?:build|push) /, 'docker'],
  [/^grep /, 'kubectl'],
];

/** The kind of one command without pipes. */
export const kindOf = (command: string): CommandKind =>
  patterns.find(([pattern]) => pattern.test(command))?.[1] ?? 'unknown';

/** The commands of a pipe or a chain. */
export const partsOf = (command: string): readonly string[] => command.split(/ (?:\||&&) /);

/** The placeholders of the documents, and what the tests put there. */
export const placeholders = {
  NAMESPACE: 'default',
  'MOCO-NAMESPACE': 'default',
  NAME: 'test',
  POD: 'moco-test-0',
  IMAGE: 'moco-rollout',
} as const;

/** The command for a cluster `test` in the namespace `default`. */
export function filledIn(command: string): string {
  return command.replaceAll(
    /\b(?:MOCO-NAMESPACE|NAMESPACE|NAME|POD|IMAGE)\b/g,
    (name) => placeholders[name as keyof typeof placeholders],
  );
}

/** The same where no kubelet runs: what waits for pods of a Deployment would never end. */
export const withoutWaiting = (command: string): string => filledIn(command).replace(' --wait', '');

/** Whether a test in `sources` runs the commands under that heading, by `commandsUnder(heading, document)` with literals. */
export function isRunUnderItsHeading({ document, heading }: DocumentedCommand, sources: readonly string[]): boolean {
  const name = document.slice(document.lastIndexOf('/') + 1);
  return sources.some(
    (source) =>
      source.includes('commandsUnder(') &&
      [`'${name}'`, `'../${name}'`].some((text) => source.includes(text)) &&
      [`('${heading}'`, `'${heading}',\n`].some((text) => source.includes(text)),
  );
}
