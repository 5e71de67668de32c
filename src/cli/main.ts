#!/usr/bin/env node
import { realHost } from './host.ts';
import { runCli } from './run.ts';

// There is no top-level await here, because a single executable needs a CommonJS bundle.
void main();

async function main(): Promise<void> {
  process.exitCode = await runCli(process.argv.slice(2), realHost());
}
