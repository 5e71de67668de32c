import { execFile } from 'node:child_process';
import { verdictOf } from './verdict.ts';

// Asks the registry for advisories against what the program is made of. Ends with 1 where there is one, and with 3 where
// nobody has answered: that is no advisory, and no proof that there is none.

const exitCodes = { clean: 0, advised: 1, unknown: 3 } as const;

const text = await new Promise<string>((resolve) => {
  execFile('npm', ['audit', '--omit=dev', '--json'], (_error, out) => resolve(out));
});
const { kind, lines } = verdictOf(text);
for (const line of lines) (kind === 'clean' ? console.log : console.error)(line);
process.exitCode = exitCodes[kind];
