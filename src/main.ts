#!/usr/bin/env node
import { explainFailure, UsageError } from './failure.ts';
import { parseOptions } from './options.ts';
import { run } from './program.ts';

const parsed = parseOptions(process.argv.slice(2));
switch (parsed.kind) {
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
