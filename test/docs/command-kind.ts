import type { DocumentedCommand } from './markdown.ts';

/**
 * How a command of a document is known to do what the document says:
 *
 * - `make`: its target is there, and whatever it starts is; what it does is what the tests of that do.
 * - `script`: the program is there and knows the flags.
 * - `bundle`: it is how the image starts the bundle.
 * - `plugin`: the command line understands it, and a cluster answers.
 * - `plugin-file`: it takes a file by the name under which `hack/plugin` makes it.
 * - `kubectl`: it is run, against a real API server.
 * - `kubectl-node`: kubectl knows the flags; to run it takes a kubelet, which no test has.
 * - `helm`: it is run, against a real API server.
 */
export type CommandKind =
  | 'make'
  | 'script'
  | 'bundle'
  | 'plugin'
  | 'plugin-file'
  | 'kubectl'
  | 'kubectl-node'
  | 'helm'
  | 'unknown';

const patterns: readonly (readonly [RegExp, CommandKind])[] = [
  [/^(?:[A-Z]+=\S+ )*make [a-z-]+$/, 'make'],
  [/^(?:node|hack\/node\.sh) hack\/\S+\.ts( |$)/, 'script'],
  [/^node (?:--\S+ )+dist\/main\.js$/, 'bundle'],
  [/^(?:install dist\/plugin\/|kubectl krew )/, 'plugin-file'],
  [/^kubectl moco-rollout( |$)/, 'plugin'],
  [/^kubectl (?:-n \S+ )?(?:logs|exec) /, 'kubectl-node'],
  [/^kubectl /, 'kubectl'],
  [/^helm /, 'helm'],
  [/^grep /, 'kubectl'],
];

/** Of one command, without pipes. */
export const kindOf = (command: string): CommandKind =>
  patterns.find(([pattern]) => pattern.test(command))?.[1] ?? 'unknown';

/** The commands that a pipe or a chain is made of. */
export const partsOf = (command: string): readonly string[] => command.split(/ (?:\||&&) /);

/** Written in documents for what a reader has. */
export const placeholders = {
  NAMESPACE: 'default',
  'MOCO-NAMESPACE': 'default',
  NAME: 'test',
  POD: 'moco-test-0',
} as const;

/** With the names of a cluster `test` in the namespace `default`. */
export function filledIn(command: string): string {
  return command.replaceAll(
    /\b(?:MOCO-NAMESPACE|NAMESPACE|NAME|POD)\b/g,
    (name) => placeholders[name as keyof typeof placeholders],
  );
}

/**
 * Whether a test in `sources` takes the commands under that heading of that document, and runs them: by
 * `commandsUnder(heading, document)` or what is made of it, both as literals.
 */
export function isRunUnderItsHeading({ document, heading }: DocumentedCommand, sources: readonly string[]): boolean {
  const name = document.slice(document.lastIndexOf('/') + 1);
  return sources.some(
    (source) =>
      source.includes('commandsUnder(') &&
      [`'${name}'`, `'../${name}'`].some((text) => source.includes(text)) &&
      [`('${heading}'`, `'${heading}',\n`].some((text) => source.includes(text)),
  );
}
