#!/usr/bin/env node
import { explainFailure, UsageError } from './failure.ts';
import { parseOptions } from './options/options.ts';
import { run } from './program.ts';

const argv = process.argv.slice(2);
// The controller takes only flags, so a word is a command of the CLI. One image serves as the controller and as the
// CLI, for example in a Job.
const isCommand = argv[0] !== undefined && !argv[0].startsWith('-');
const parsed = isCommand ? ({ kind: 'command' } as const) : parseOptions(argv);
switch (parsed.kind) {
  case 'command': {
    const [{ runCli }, { realHost }] = await Promise.all([import('./cli/run.ts'), import('./cli/host.ts')]);
    process.exitCode = await runCli(argv, realHost());
    break;
  }
  case 'help':
  case 'version':
    process.stdout.write(`${parsed.text}\n`);
    break;
  case 'usage-error':
    process.stderr.write(`moco-rollout: ${parsed.message}\n`);
    process.exitCode = 2;
    break;
  case 'options':
    try {
      await run(parsed.options);
    } catch (error) {
      process.stderr.write(`moco-rollout: ${explainFailure(error)}\n`);
      process.exitCode = error instanceof UsageError ? 2 : 1;
    }
    break;
}
